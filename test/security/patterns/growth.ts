import { grown, type Hostile, hostileTexts } from './hostile.ts'
import { type Program, parsePattern, programOf } from './program.ts'
import { search } from './search.ts'

/** A text that a pattern needs too many steps for. */
export interface Growth {
  readonly text: Hostile
  /** Steps for each length that was tried, each twice the one before; the last ones were too many. */
  readonly steps: readonly number[]
}

/** How often the pump stands in the texts that are tried. */
const LENGTHS = [32, 64, 128]

/** Steps that are never too many for the shortest text; what grows exponentially takes more. */
const FIRST = 100_000

/** Twice the text may take a little more than twice the steps. */
const TWICE = 2.3

/** The first hostile text found on which the steps of a pattern (`/a+/g`) grow faster than the text; undefined when there is none. */
export function growthOf(literal: string): Growth | undefined {
  const pattern = parsePattern(literal)
  const program = programOf(pattern)
  for (const text of hostileTexts(pattern)) {
    const steps: number[] = []
    for (const length of LENGTHS) {
      // A repetition with a bound that is met may cost as many steps as it has copies, once.
      const most = steps.length === 0 ? FIRST : TWICE * steps.at(-1)! + sizeOf(program)
      const found = search(program, grown(text, length), pattern.ast.flags.sticky, most)
      steps.push(found.steps)
      if (found.stopped) return { text, steps }
    }
  }
  return undefined
}

function sizeOf(program: Program): number {
  return program.reduce((size, step) => size + (step.kind === 'look' ? sizeOf(step.inner) : 1), 0)
}
