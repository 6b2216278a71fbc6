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
  /** Adds what other replicas observed of one rate, likewise. */
  heard(operation: string, rate: Rate, others: Sample): CircuitState | undefined
  /** What this process itself has observed of the operations that it knows. */
  own(): ReadonlyMap<string, Readonly<Record<Rate, Sample>>>
  state(operation: string): CircuitState
  /** The failures in a row that speak against v2. It costs less than the whole state. */
  failures(operation: string): Sample
  isOpen(operation: string): boolean
  /** True if answers can close it; otherwise only a person can. */
  canClose(operation: string): boolean
  /** The states of all operations that were counted. */
  all(): ReadonlyMap<string, CircuitState>
  /** The open ones: when and why each opened. It costs less than all states. */
  openings(): ReadonlyMap<string, Opening>
  /** Why it opened, in one line; undefined if it is not open. */
  whyOpen(operation: string): string | undefined
  /** Closes the open circuits of the operations that are meant, and drops their counts. Returns their operations. */
  close(isMeant: (operation: string) => boolean): readonly string[]
  /** Opens a circuit that is open elsewhere or was open before a restart, for the reason that it has there. */
  reopen(operation: string, reason: string, at?: number): void
}

/** The time, in milliseconds since 1970, and the reason of an opening. */
export interface Opening {
  readonly at: number
  readonly reason: string
}

/** The two rates that a circuit watches. */
export type Rate = 'errors' | 'mismatches'

interface Watched {
  readonly errors: RateWatch
  readonly mismatches: RateWatch
  opened: Opening | undefined
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
  const observe = (operation: string, rate: Rate, seen: boolean | Sample) => {
    const watched = watchedOf(operation)
    const probed = isProbed(operation)
    if (watched.opened && !probed) return undefined
    if (typeof seen === 'boolean') watched[rate].observe(seen)
    else watched[rate].heard(seen)
    if (!turn(watched, rate, now())) return undefined
    return stateOf(watched, probed)
  }
  return {
    answered: (operation, failed) => observe(operation, 'errors', failed),
    compared: (operation, differed) => observe(operation, 'mismatches', differed),
    heard: observe,
    own: () =>
      new Map(
        Array.from(known, ([operation, { errors, mismatches }]) => [operation, { errors: errors.own(), mismatches: mismatches.own() }]),
      ),
    state: (operation) => stateOf(known.get(operation) ?? newWatched(), isProbed(operation)),
    failures: (operation) => known.get(operation)?.errors.run() ?? { n: 0, bad: 0 },
    isOpen: (operation) => known.get(operation)?.opened !== undefined,
    all: () => new Map(Array.from(known, ([operation, watched]) => [operation, stateOf(watched, isProbed(operation))] as const)),
    canClose: isProbed,
    openings: () => new Map([...known].flatMap(([operation, { opened }]) => (opened ? [[operation, opened] as const] : []))),
    whyOpen: (operation) => known.get(operation)?.opened?.reason,
    close(isMeant) {
      const open = [...known].flatMap(([operation, { opened }]) => (opened && isMeant(operation) ? operation : []))
      for (const operation of open) known.delete(operation)
      return open
    },
    reopen(operation, reason, at = now()) {
      const watched = watchedOf(operation)
      if (!watched.opened) restart(watched)
      watched.opened = { at, reason }
    },
  }
}

/** Opens or closes the circuit if the observations prove that. Returns true if it turned. */
function turn(watched: Watched, rate: Rate, now: number): boolean {
  const { errors, mismatches, opened } = watched
  if (!opened && watched[rate].isBeyond()) {
    watched.opened = { at: now, reason: describeExcess(rate, watched[rate].state()) }
    restart(watched)
    return true
  }
  if (!opened || !errors.isWithin() || !mismatches.isWithin()) return false
  watched.opened = undefined
  return true
}

/** Only what is seen from now on can prove that v2 was mended. */
function restart({ errors, mismatches }: Watched): void {
  errors.restart()
  mismatches.restart()
}
