import type { Program } from './program.ts'

/** The result of a search and its cost. */
export interface Search {
  /** The start and the end of each match. */
  readonly matches: readonly (readonly [start: number, end: number])[]
  readonly steps: number
  /** True if it stopped after `most` steps. */
  readonly stopped: boolean
}

/**
 * Finds every match of the text from left to right, as `matchAll` does: it tries each index in turn, and there each way through the
 * program until one ends. V8 does the same, so the steps grow as its time does.
 * @param sticky whether a match must begin where the last one ended
 * @param most steps after which the search stops
 */
export function search(program: Program, text: string, sticky: boolean, most = Number.POSITIVE_INFINITY): Search {
  const matches: [number, number][] = []
  const count = { steps: 0, most }
  for (let at = 0; at <= text.length && count.steps < most; ) {
    const end = run(program, text, at, count)
    if (end !== undefined) matches.push([at, end])
    else if (sticky) break
    at = end === undefined || end === at ? at + 1 : end
  }
  return { matches, steps: count.steps, stopped: count.steps >= most }
}

/** An untried way, and the beginnings of the repetitions around it. */
interface Way {
  readonly step: number
  readonly at: number
  readonly began: Began | undefined
}

/** The beginnings of the current repetitions, innermost first. */
interface Began {
  readonly at: number
  readonly outer: Began | undefined
}

interface Count {
  steps: number
  readonly most: number
}

/** Returns the end of the match that begins at `start`; undefined if there is none. */
function run(program: Program, text: string, start: number, count: Count): number | undefined {
  const ways: Way[] = [{ step: 0, at: start, began: undefined }]
  for (let way = ways.pop(); way !== undefined; way = ways.pop()) {
    const end = follow(program, text, way, ways, count)
    if (end !== undefined) return end
  }
  return undefined
}

/** Follows one way to its end or to a dead end. */
function follow(program: Program, text: string, way: Way, ways: Way[], count: Count): number | undefined {
  let { step, at, began } = way
  for (;;) {
    if (++count.steps > count.most) return undefined
    const now = program[step++]!
    switch (now.kind) {
      case 'leaf': {
        const read = now.back ? at - 1 : at
        if (read < 0 || read >= text.length || !now.takes(text.charCodeAt(read))) return undefined
        at = now.back ? read : at + 1
        break
      }
      case 'edge':
        if (!now.holds(text, at)) return undefined
        break
      case 'look':
        if ((run(now.inner, text, at, count) === undefined) !== now.negate) return undefined
        break
      case 'fork':
        ways.push({ step: now.second, at, began })
        step = now.first
        break
      case 'jump':
        step = now.to
        break
      case 'enter':
        began = { at, outer: began }
        break
      case 'moved':
        if (began?.at === at) return undefined
        began = began?.outer
        break
      case 'end':
        return at
    }
  }
}
