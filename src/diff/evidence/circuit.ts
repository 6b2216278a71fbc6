import type { Sample } from './bound.ts'
import { describeCircuit, describeExcess } from './circuit-text.ts'
import { createRateWatch, type RateState, type RateWatch } from './rate-watch.ts'

export interface CircuitSettings {
  /** Maximum shares of failed answers and of comparisons that differ, 0–1. */
  readonly errors: number
  readonly mismatches: number
  /** Odds that prove an excess: at the allowed rates, at most one observation in this many opens a circuit. */
  readonly odds: number
}

export const CIRCUIT: CircuitSettings = { errors: 0.05, mismatches: 0.01, odds: 10_000 }

/**
 * `open`: v2 must not serve this operation (share 0). `closed`: both rates are proven to be within their limits. `inconclusive`: too little
 * is known; never a pass.
 */
export interface CircuitState {
  readonly state: 'closed' | 'open' | 'inconclusive'
  /** What is known, in one line. */
  readonly reason: string
  /** When the circuit opened, in milliseconds since 1970. */
  readonly openedAt?: number
  /** Answers of v2, and those that failed. */
  readonly errors: RateState
  /** Comparisons, and those that differed, for good or once. */
  readonly mismatches: RateState
}

export interface Circuit {
  /** Counts one answer of v2. Returns the state if this answer opened or closed the circuit. */
  answered(operation: string, failed: boolean): CircuitState | undefined
  /** Counts one comparison of an answer of v2, likewise. */
  compared(operation: string, differed: boolean): CircuitState | undefined
  state(operation: string): CircuitState
  /** The failures in a row that speak against v2. It costs less than the whole state. */
  failures(operation: string): Sample
  isOpen(operation: string): boolean
  /** True if answers can close it; otherwise only a person can. */
  canClose(operation: string): boolean
  /** The states of all operations that were counted. */
  all(): ReadonlyMap<string, CircuitState>
  /** Why it opened, in one line; undefined if it is not open. */
  whyOpen(operation: string): string | undefined
  /** Closes the open circuits of the operations that are meant, and drops their counts. Returns their operations. */
  close(isMeant: (operation: string) => boolean): readonly string[]
  /** Opens a circuit that was open before a restart, for the reason that it had then. */
  reopen(operation: string, reason: string): void
}

interface Watched {
  readonly errors: RateWatch
  readonly mismatches: RateWatch
  /** The time and the reason of the opening. */
  opened: { readonly at: number; readonly reason: string } | undefined
}

/**
 * Opens when the errors or the mismatches of an operation are proven to exceed their limit. An open circuit ignores further answers, unless
 * `isProbed` says that the operator lets answers close it: it then closes when both rates are proven to be within their limits again.
 * `now` returns milliseconds since 1970.
 */
export function createCircuit(now: () => number, isProbed: (operation: string) => boolean, settings: CircuitSettings = CIRCUIT): Circuit {
  const known = new Map<string, Watched>()
  const newWatched = (): Watched => ({
    errors: createRateWatch({ allowed: settings.errors, odds: settings.odds }),
    mismatches: createRateWatch({ allowed: settings.mismatches, odds: settings.odds }),
    opened: undefined,
  })
  const watchedOf = (operation: string) => {
    const watched = known.get(operation) ?? newWatched()
    known.set(operation, watched)
    return watched
  }
  const stateOf = ({ errors, mismatches, opened }: Watched, probed: boolean): CircuitState => {
    const state = opened ? 'open' : errors.isWithin() && mismatches.isWithin() ? 'closed' : 'inconclusive'
    const rates = { errors: errors.state(), mismatches: mismatches.state() }
    const reason = describeCircuit({ state, ...rates, opened: opened?.reason, probed })
    return { state, reason, ...(opened && { openedAt: opened.at }), ...rates }
  }
  const observe = (operation: string, rate: 'errors' | 'mismatches', isBad: boolean) => {
    const watched = watchedOf(operation)
    const probed = isProbed(operation)
    if (watched.opened && !probed) return undefined
    watched[rate].observe(isBad)
    if (!turn(watched, rate, now())) return undefined
    return stateOf(watched, probed)
  }
  return {
    answered: (operation, failed) => observe(operation, 'errors', failed),
    compared: (operation, differed) => observe(operation, 'mismatches', differed),
    state: (operation) => stateOf(known.get(operation) ?? newWatched(), isProbed(operation)),
    failures: (operation) => known.get(operation)?.errors.run() ?? { n: 0, bad: 0 },
    isOpen: (operation) => known.get(operation)?.opened !== undefined,
    all: () => new Map(Array.from(known, ([operation, watched]) => [operation, stateOf(watched, isProbed(operation))] as const)),
    canClose: isProbed,
    whyOpen: (operation) => known.get(operation)?.opened?.reason,
    close(isMeant) {
      const open = [...known].flatMap(([operation, { opened }]) => (opened && isMeant(operation) ? operation : []))
      for (const operation of open) known.delete(operation)
      return open
    },
    reopen(operation, reason) {
      watchedOf(operation).opened = { at: now(), reason }
    },
  }
}

/** Opens or closes the circuit if the observations prove that. Returns true if it turned. */
function turn(watched: Watched, rate: 'errors' | 'mismatches', now: number): boolean {
  const { errors, mismatches, opened } = watched
  if (!opened && watched[rate].isBeyond()) {
    watched.opened = { at: now, reason: describeExcess(rate, watched[rate].state()) }
    // Only what is seen from now on can prove that v2 was mended.
    errors.restart()
    mismatches.restart()
    return true
  }
  if (!opened || !errors.isWithin() || !mismatches.isWithin()) return false
  watched.opened = undefined
  return true
}
