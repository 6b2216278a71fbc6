import type { Verdict } from '../judge/verdict.ts'

/** What was tried in one way: a mode, a dialect, always or once. */
export interface Tally {
  readonly name: string
  /** The share of visible ones that must be found, 0–1. */
  readonly bound: number
  /** Cases that there are, if only a sample of them is tried. */
  readonly all: number | undefined
  /** Invisible ones that may be flagged. */
  readonly mayFlag: number
  found: number
  silent: number
  /** Other spellings of the same value, which are not scored. */
  respelled: number
  /** Sentences: what was missed, found elsewhere, or flagged though nobody could see it. */
  readonly missed: string[]
  readonly misplaced: string[]
  readonly flagged: string[]
  /** What could not be scored, and why. */
  readonly notes: string[]
}

export function createTally(name: string, bound: number, all?: number): Tally {
  return {
    name,
    bound,
    all,
    mayFlag: 0,
    found: 0,
    silent: 0,
    respelled: 0,
    missed: [],
    misplaced: [],
    flagged: [],
    notes: [],
  }
}

/** Counts a verdict; `what` describes the case. */
export function count(tally: Tally, verdict: Verdict, what: string): void {
  if (verdict.is === 'found' || verdict.is === 'silent') tally[verdict.is] += 1
  else tally[verdict.is].push(`${what}: ${verdict.reason}`)
}

/**
 * Tells whether enough was found, all of it in its place, and nothing else was flagged. A sample may miss more by three standard errors,
 * because it may hold more of the few that are missed.
 */
export function holds(tally: Tally): boolean {
  const { bound, all, found, misplaced, flagged, mayFlag } = tally
  const visible = visibleIn(tally)
  const allowed = (1 - bound) * visible
  const chance = all === undefined || triedIn(tally) === all ? 0 : 3 * Math.sqrt(allowed)
  return visible - found <= allowed + chance && misplaced.length === 0 && flagged.length <= mayFlag
}

/** Returns one line with the figures, and one for each case that went wrong. */
export function linesOf(tally: Tally): readonly string[] {
  const { name, bound, all, found, silent, respelled, missed, misplaced, flagged, notes } = tally
  const visible = visibleIn(tally)
  const share = visible === 0 ? '' : `found ${found} of ${visible} = ${percent(found / visible)} (at least ${percent(bound)}), `
  const unscored = respelled === 0 ? '' : `, ${respelled} respelled not scored`
  const rest = `${misplaced.length} found elsewhere, ${flagged.length} of ${silent + flagged.length} invisible ones flagged${unscored}`
  return [
    `${holds(tally) ? 'ok  ' : 'FAIL'} ${name}: ${share}${rest}; ${triedIn(tally)}${all === undefined ? '' : ` of ${all}`} cases`,
    ...missed.map((what) => `     missed     ${what}`),
    ...misplaced.map((what) => `     elsewhere  ${what}`),
    ...flagged.map((what) => `     flagged    ${what}`),
    ...notes.map((what) => `     note       ${what}`),
  ]
}

function triedIn(tally: Tally): number {
  return visibleIn(tally) + tally.silent + tally.flagged.length + tally.respelled
}

function visibleIn({ found, missed, misplaced }: Tally): number {
  return found + missed.length + misplaced.length
}

function percent(share: number): string {
  return `${(Math.floor(share * 100_000) / 1000).toString()} %`
}
