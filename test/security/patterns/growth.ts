import { grown, type Hostile, hostileTexts } from './hostile.ts'
import { type Program, parsePattern, programOf } from './program.ts'
import { search } from './search.ts'

/** A text for which a pattern needs too many steps. */
export interface Growth {
  readonly text: Hostile
  /** The steps for each length, each twice the one before; the last count is too high. */
  readonly steps: readonly number[]
}

/** How often the pump is repeated in each text. */
const LENGTHS = [32, 64, 128]

/** A number of steps that is always allowed for the shortest text; exponential growth exceeds it. */
const FIRST = 100_000

/** Twice the text may take slightly more than twice the steps. */
const TWICE = 2.3

/**
 * Returns the first hostile text on which the steps of a pattern (`/a+/g`) grow faster than the text; undefined if there is none.
 * Tries all hostile texts, or one of `each`.
 */
export function growthOf(literal: string, each = 1): Growth | undefined {
  const pattern = parsePattern(literal)
  const program = programOf(pattern)
  for (const text of hostileTexts(pattern).filter((_, nth) => nth % each === 0)) {
    const steps: number[] = []
    for (const length of LENGTHS) {
      // A bounded repetition may cost one step for each of its copies, once.
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
