import { cleanNeeded, count, isWithin, percent, type Sample, upperBound } from './evidence.ts'

/**
 * The mixture that bets against "at most this share is wrong": rates above it, up to "always wrong". Whatever the share, the first point
 * finds a v2 that fails always within a few answers, the last one a v2 that fails twice as often as allowed. A rate that is less than
 * half above the allowed one is not found.
 */
const POINTS: readonly { readonly weight: number; readonly rate: (allowed: number) => number }[] = [
  { weight: 0.4, rate: () => 1 },
  { weight: 0.2, rate: (allowed) => (1 + allowed) / 2 },
  { weight: 0.2, rate: Math.sqrt },
  { weight: 0.2, rate: (allowed) => (2 * allowed) / (1 + allowed) },
]

/**
 * Returns the odds of the mixture against the hypothesis "at most `allowed` is wrong": the likelihood of the observations under the
 * mixture, divided by that under the hypothesis. Under a rate of at most `allowed` each factor has a mean of 1 at most.
 * By Ville's inequality the odds of observations from a fixed start therefore ever reach k with probability 1/k at most.
 * It is the mirror image of the verdict's bound (`upperBound`).
 */
export function oddsOfExcess({ n, bad }: Sample, allowed: number): number {
  return POINTS.reduce((sum, { weight, rate }) => {
    const q = rate(allowed)
    const clean = n === bad ? 0 : (n - bad) * Math.log((1 - q) / (1 - allowed))
    return sum + weight * Math.exp(bad * Math.log(q / allowed) + clean)
  }, 0)
}

/** Returns the highest share that the odds exclude: at least this share is wrong. 0 if they exclude none. */
export function lowerBound(seen: Sample, odds: number): number {
  let low = 0
  let high = 1
  // The odds fall as the share rises, because every point of the mixture comes closer to it.
  for (let step = 0; step < 60 && high - low > 1e-9; step++) {
    const middle = (low + high) / 2
    if (oddsOfExcess(seen, middle) >= odds) low = middle
    else high = middle
  }
  return low
}

/** Returns how many more bad observations in a row bring the odds against `allowed` to `odds`. */
export function badNeeded({ n, bad }: Sample, allowed: number, odds: number): number {
  let more = 0
  while (oddsOfExcess({ n: n + more, bad: bad + more }, allowed) < odds) more += 1
  return more
}

/** What is known of a rate. */
interface RateState extends Sample {
  readonly allowed: number
  /** Upper end of the 95 % confidence sequence for the share of bad ones among these, 0–1. */
  readonly atMost: number
  /** Clean ones that are still needed to prove that the rate is within. */
  readonly cleanNeeded: number
  /** The run that speaks against v2, if there is one. */
  readonly run?: RunState
}

interface RunState extends Sample {
  /** Share of bad ones that this run proves, 0–1. */
  readonly atLeast: number
  /** Bad ones in a row that are still needed to prove the excess. */
  readonly badNeeded: number
}

interface Run extends Sample {
  /** It holds observations of other replicas. */
  readonly isShared: boolean
}

const NONE: Sample = { n: 0, bad: 0 }
const NOTHING: Run = { ...NONE, isShared: false }

/** The part of the wrong proofs that a run without the others may make, if there are others. */
const ALONE = 0.1

export type RateWatch = ReturnType<typeof createRateWatch>

/**
 * Watches one rate of an operation: the failures among its answers, or the differences among its comparisons.
 * Counts in two ways, because a rate changes when v2 is changed or breaks.
 * - The run speaks against v2. It begins with a bad observation and ends as soon as clean ones make up for it (odds of 1 or less).
 *   An hour of clean answers therefore excuses nothing. At most one run begins with each observation, and each proves an excess wrongly
 *   with probability 1/odds at most: at the allowed rate, at most one in `odds` observations does.
 *   (A CUSUM of e-processes: J. Shin, A. Ramdas, A. Rinaldo, "E-detectors", New Engl. J. Stat. Data Sci. 2 (2023) 229–260.)
 * - The rest speaks for v2. It begins anew when the share of bad ones in it reaches the allowed one.
 *
 * In a fleet, what others observed joins a run that an own observation began, so still at most one run begins with each observation.
 * A second run without the others finds what only this replica meets (docs/facts/evidence.md#11-circuits-of-a-fleet).
 *
 * `allowed` is the maximum share of bad ones, 0–1, and `odds` the odds against it that prove an excess.
 */
export function createRateWatch({ allowed, odds }: { readonly allowed: number; readonly odds: number }) {
  /** The run of all replicas, and the run without the others. They are one as long as nothing of the others is in it. */
  let all = NOTHING
  let alone = NOTHING
  const seen = { ...NONE }
  const own = { ...NONE }
  const see = ({ n, bad }: Sample) => {
    seen.n += n
    seen.bad += bad
    if (bad > 0 && seen.bad >= allowed * seen.n) Object.assign(seen, NONE)
  }
  const grown = (run: Run, more: Sample, isShared = run.isShared): Run => {
    const next = { n: run.n + more.n, bad: run.bad + more.bad, isShared }
    return oddsOfExcess(next, allowed) <= 1 ? NOTHING : next
  }
  const neededOf = (run: Run) => (run !== all ? odds / ALONE : run.isShared ? odds / (1 - ALONE) : odds)
  const proves = (run: Run) => run.n > 0 && oddsOfExcess(run, allowed) >= neededOf(run)
  /** The run that tells most. */
  const told = () => (all.n === 0 || (proves(alone) && !proves(all)) ? alone : all)
  return {
    observe(isBad: boolean) {
      own.n += 1
      // Most observations are clean, and no run is there: they are only counted.
      if (!isBad && all.n === 0 && alone.n === 0) {
        seen.n += 1
        return
      }
      const one = isBad ? BAD : CLEAN
      own.bad += one.bad
      see(one)
      const wasOne = alone === all
      if (isBad || all.n > 0) all = grown(all, one)
      if (wasOne) alone = all
      else if (isBad || alone.n > 0) alone = grown(alone, one)
    },
    /** Adds what other replicas observed in a time of which all is known. Its order does not matter. */
    heard(others: Sample) {
      see(others)
      if (all.n > 0) all = grown(all, others, true)
    },
    /** True if the observations prove that the rate is above the allowed one. */
    isBeyond: () => proves(all) || proves(alone),
    /** True if they prove, at 95 %, that it is below. */
    isWithin: () => isWithin(seen, allowed),
    /** The run that speaks against v2; without observations if there is none. */
    run: told,
    state(): RateState {
      const run = told()
      const needed = neededOf(run)
      const shown = { n: run.n, bad: run.bad, atLeast: lowerBound(run, needed), badNeeded: badNeeded(run, allowed, needed) }
      return { ...seen, allowed, atMost: upperBound(seen), cleanNeeded: cleanNeeded(seen, allowed), ...(run.n > 0 && { run: shown }) }
    },
    /** What this process observed, since the watch was made. */
    own: (): Sample => ({ ...own }),
    /** Drops the counts. */
    restart() {
      all = NOTHING
      alone = NOTHING
      Object.assign(seen, NONE)
    },
  }
}

const CLEAN: Sample = { n: 1, bad: 0 }
const BAD: Sample = { n: 1, bad: 1 }

const WORDS = {
  errors: { all: 'answers', bad: 'failed' },
  mismatches: { all: 'comparisons', bad: 'differed' },
} as const

type SaidRate = keyof typeof WORDS

/** `mismatches: 3 of the last 3 comparisons differed, so at least 3.68 % do; 1 % is allowed`. */
function describeExcess(rate: SaidRate, { run, allowed }: RateState): string {
  const { all, bad } = WORDS[rate]
  return `${rate}: ${count(run?.bad ?? 0)} of the last ${count(run?.n ?? 0)} ${all} ${bad}, so at least ${percent(run?.atLeast ?? 0)} do; ${percent(allowed)} is allowed`
}

interface Known {
  readonly state: 'closed' | 'open' | 'inconclusive'
  readonly errors: RateState
  readonly mismatches: RateState
  /** Why the circuit opened. */
  readonly opened: string | undefined
  /** True if answers may close an open circuit. */
  readonly probed: boolean
}

/** `errors: 4 of … is allowed, open since 2027-03-01T12:00:00.000Z for rollout iam`. `readOpening` reads it again. */
export function describeOpening({ at, reason, owner }: Opening): string {
  return `${reason}, open since ${new Date(at).toISOString()}${owner === undefined ? '' : ` for ${owner}`}`
}

/** What `describeCircuit` says after that. */
const ENDING = /\. (?:Only a person can close it|Since then: .*)$/s
const OPENING = /^(?<reason>.*), open since (?<since>\d{4}-\d\d-\d\dT[\d:.]+Z)(?: for (?<owner>.*))?$/s

/** Reads what records, caches and other replicas tell of an opening. Older versions told no more than the reason; it then opened at `at`. */
export function readOpening(text: string, at: number): Opening {
  const told = text.replace(ENDING, '')
  const { reason = told, since, owner } = OPENING.exec(told)?.groups ?? {}
  return { at: since === undefined ? at : Date.parse(since), reason, ...(owner !== undefined && { owner }) }
}

/** Says in one line what is known of an operation, and what is lacking for more. */
export function describeCircuit({ state, errors, mismatches, opened, probed }: Known): string {
  const seen = `${counted('errors', errors)}; ${counted('mismatches', mismatches)}`
  if (opened !== undefined) return probed ? `${opened}. Since then: ${seen}` : `${opened}. Only a person can close it`
  if (state === 'closed') return seen
  return `INCONCLUSIVE: ${seen}${suspicion('errors', errors)}${suspicion('mismatches', mismatches)}`
}

/** `0 of 40 answers failed, at most 8.2 % do (allowed: 5 %, after 25 more clean ones)`. */
function counted(rate: SaidRate, { n, bad, atMost, allowed, cleanNeeded }: RateState): string {
  const more = cleanNeeded > 0 ? `, after ${count(cleanNeeded)} more clean ones` : ''
  return `${count(bad)} of ${count(n)} ${WORDS[rate].all} ${WORDS[rate].bad}, at most ${percent(atMost)} do (allowed: ${percent(allowed)}${more})`
}

/** `; 2 of the last 3 comparisons differed, 1 more in a row opens the circuit`. */
function suspicion(rate: SaidRate, { run }: RateState): string {
  if (!run) return ''
  const { all, bad } = WORDS[rate]
  return `; ${count(run.bad)} of the last ${count(run.n)} ${all} ${bad}, ${count(run.badNeeded)} more in a row open${run.badNeeded === 1 ? 's' : ''} the circuit`
}

/**
 * Maximum shares of failed answers and of comparisons that differ, 0–1, and the odds that prove an excess: at the allowed rates, at most one
 * observation in this many opens a circuit.
 */
export const CIRCUIT = { errors: 0.05, mismatches: 0.01, odds: 10_000 } as const

/**
 * `open`: v2 must not serve this operation (share 0). `closed`: both rates are proven to be within their limits. `inconclusive`: too little
 * is known; never a pass.
 */
export interface CircuitState {
  readonly state: 'closed' | 'open' | 'inconclusive'
  /** What is known, in one line. */
  readonly reason: string
  /** When the circuit opened, in milliseconds since 1970, and what had given v2 the operation then. */
  readonly openedAt?: number
  readonly owner?: string
  /** Answers of v2, and those that failed. */
  readonly errors: RateState
  /** Comparisons, and those that differed, for good or once. */
  readonly mismatches: RateState
}

export interface Opening {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly reason: string
  /** What had given v2 the operation then: `rollout iam`. Older versions did not tell it. */
  readonly owner?: string | undefined
}

/** The two rates that a circuit watches. */
export type Rate = 'errors' | 'mismatches'

interface Watched {
  readonly errors: RateWatch
  readonly mismatches: RateWatch
  opened: Opening | undefined
}

export type Circuit = ReturnType<typeof createCircuit>

/**
 * Opens when the errors or the mismatches of an operation are proven to exceed their limit. An open circuit ignores further answers, unless
 * `isProbed` says that the operator lets answers close it: it then closes when both rates are proven to be within their limits again.
 * `now` returns milliseconds since 1970, and `ownerOf` what gives v2 an operation.
 */
export function createCircuit(
  now: () => number,
  isProbed: (operation: string) => boolean,
  ownerOf: (operation: string) => string | undefined = () => undefined,
) {
  const known = new Map<string, Watched>()
  const newWatched = (): Watched => ({
    errors: createRateWatch({ allowed: CIRCUIT.errors, odds: CIRCUIT.odds }),
    mismatches: createRateWatch({ allowed: CIRCUIT.mismatches, odds: CIRCUIT.odds }),
    opened: undefined,
  })
  const watchAnew = (operation: string) => {
    const watched = newWatched()
    known.set(operation, watched)
    return watched
  }
  const stateOf = ({ errors, mismatches, opened }: Watched, probed: boolean): CircuitState => {
    const state = opened ? 'open' : errors.isWithin() && mismatches.isWithin() ? 'closed' : 'inconclusive'
    const rates = { errors: errors.state(), mismatches: mismatches.state() }
    const reason = describeCircuit({ state, ...rates, opened: opened && describeOpening(opened), probed })
    const since = opened && { openedAt: opened.at, ...(opened.owner !== undefined && { owner: opened.owner }) }
    return { state, reason, ...since, ...rates }
  }
  const open = (operation: string, opening: Opening) => {
    const watched = known.get(operation) ?? watchAnew(operation)
    if (!watched.opened) restart(watched)
    watched.opened = opening
  }
  return {
    /**
     * Counts one answer of v2, which failed or not, or one comparison, which differed or not; or adds what other replicas observed of the rate.
     * Returns the state if that opened or closed the circuit.
     */
    observe(operation: string, rate: Rate, seen: boolean | Sample): CircuitState | undefined {
      const watched = known.get(operation) ?? watchAnew(operation)
      if (watched.opened && !isProbed(operation)) return undefined
      if (typeof seen === 'boolean') watched[rate].observe(seen)
      else watched[rate].heard(seen)
      // A clean one opens nothing.
      if (seen === false && !watched.opened) return undefined
      if (!turn(watched, rate, () => ({ at: now(), owner: ownerOf(operation) }))) return undefined
      return stateOf(watched, isProbed(operation))
    },
    /** What this process itself has observed of the operations that it knows. */
    own: (): ReadonlyMap<string, Readonly<Record<Rate, Sample>>> =>
      new Map(
        Array.from(known, ([operation, { errors, mismatches }]) => [operation, { errors: errors.own(), mismatches: mismatches.own() }]),
      ),
    state: (operation: string): CircuitState => stateOf(known.get(operation) ?? newWatched(), isProbed(operation)),
    /** The failures in a row that speak against v2. It costs less than the whole state. */
    failures: (operation: string): Sample => known.get(operation)?.errors.run() ?? { n: 0, bad: 0 },
    isOpen: (operation: string) => known.get(operation)?.opened !== undefined,
    /** The states of all operations that were counted. */
    all: (): ReadonlyMap<string, CircuitState> =>
      new Map(Array.from(known, ([operation, watched]) => [operation, stateOf(watched, isProbed(operation))] as const)),
    /** True if answers can close it; otherwise only a person can. */
    canClose: isProbed,
    /** The open ones: when and why each opened. It costs less than all states. */
    openings: (): ReadonlyMap<string, Opening> =>
      new Map([...known].flatMap(([operation, { opened }]) => (opened ? [[operation, opened] as const] : []))),
    /** Why and when it opened and whose share that ended, in one line; undefined if it is not open. */
    whyOpen(operation: string): string | undefined {
      const opened = known.get(operation)?.opened
      return opened && describeOpening(opened)
    },
    /** Closes the open circuits of the operations that are meant, and drops their counts. Returns their operations. */
    close(isMeant: (operation: string) => boolean): readonly string[] {
      const open = [...known].flatMap(([operation, { opened }]) => (opened && isMeant(operation) ? operation : []))
      for (const operation of open) known.delete(operation)
      return open
    },
    /** Opens a circuit because v2 is too slow. */
    slow(operation: string, reason: string) {
      const owner = ownerOf(operation)
      open(operation, { at: now(), reason, owner: owner === undefined ? 'a guardrail' : `the guardrail of ${owner}` })
    },
    /** Opens a circuit that is open elsewhere or was open before a restart, as it is there. */
    reopen: open,
  }
}

/** Opens or closes the circuit if the observations prove that. Returns true if it turned. */
function turn(watched: Watched, rate: Rate, opens: () => Omit<Opening, 'reason'>): boolean {
  const { errors, mismatches, opened } = watched
  if (!opened && watched[rate].isBeyond()) {
    watched.opened = { ...opens(), reason: describeExcess(rate, watched[rate].state()) }
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
