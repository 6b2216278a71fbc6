import { z } from 'zod'
import { COLLAPSE, WEIGHTS } from '../../migrate/evidence/evidence.ts'
import { UNCOMPARED } from '../../migrate/evidence/standing.ts'
import { type KnownFigure, knownFigure, type RecordedCounts, type StepNews, type StepTotals } from '../../migrate/rollout/evidence.ts'
import type { RolloutState } from '../../migrate/rollout/plan.ts'
import type { Rollouts } from '../../migrate/rollout/rollouts.ts'
import type { ReplicaState, RolloutRun } from '../../migrate/rollout/run.ts'
import { fieldOf, hashOf } from '../evidence.ts'
import { type FleetReading, reading, readText } from '../exchange.ts'
import type { Store, StoreChange, Sums } from '../store/store.ts'
import type { RolloutDocument, RolloutDocuments } from './documents.ts'

/** Milliseconds between two readings: these sums are large, and are read anew before a share grows. */
const READ_EVERY_MS = 5000

/**
 * What all replicas know of v2's answers, as far as rollouts look at it. `name` returns the name of the sums of the present epoch, and `ticks`
 * the milliseconds of a monotonic clock.
 */
export function createKnownEvidence(store: Pick<Store, 'read'>, name: () => string, ticks: () => number) {
  let current = ''
  let sums: Sums = {}
  let read = reading('sums', current, () => {})
  let readAt = Number.NEGATIVE_INFINITY
  const follow = () => {
    if (name() === current) return
    current = name()
    sums = {}
    readAt = Number.NEGATIVE_INFINITY
    read = reading('sums', current, (found) => {
      sums = found
    })
  }
  return {
    readings(isLeader: boolean): readonly FleetReading[] {
      follow()
      if (!isLeader || ticks() - readAt < READ_EVERY_MS) return []
      readAt = ticks()
      return [read]
    },
    /** Reads it now. Rejects as `Store.read` does. */
    async read() {
      follow()
      const [found] = await store.read([read.read])
      read.take(found)
    },
    of(operation: string): KnownFigure | undefined {
      const figure = (name: string) => sums[fieldOf(name, operation)] ?? 0
      const uncompared = Object.fromEntries(Object.keys(UNCOMPARED).map((why) => [why, figure(`uncompared.${why}`)]))
      return knownFigure({ n: figure('n'), bad: figure('bad'), uncompared })
    },
  }
}

/** Milliseconds in which a caller counts once in a step. Its side follows from its hash, so that it keeps it for longer. */
const CALLER_MS = 7 * 24 * 3_600_000

/** Returns the name of the sums of a step. Another step, and another life of the rollout, has other sums. */
export function stepKey(name: string, { life }: Pick<RolloutDocument, 'life'>, { runsBegun, stepsBegun }: RolloutState): string {
  return `rollout:${name}:${life}:${runsBegun}.${stepsBegun}`
}

/** Returns what a replica has counted as changes of the store. An observation and a caller that two replicas saw count once. */
function changesOf(key: string, news: StepNews): readonly StoreChange[] {
  const sums: Record<string, number> = {}
  const add = (field: string, count: number) => {
    if (count > 0) sums[field] = (sums[field] ?? 0) + count
  }
  for (const [operation, count] of news.requests) add(`${operation}|requests`, count)
  for (const [operation, { n, bad }] of news.comparisons) {
    add(`${operation}|comparisons`, n)
    add(`${operation}|differed`, bad)
  }
  add('sided|got', news.sides.got)
  add('sided|other', news.sides.other)
  const observations = news.observations.map(({ operation, caller, shape, outcome, at }): StoreChange => {
    const first = { [`${operation}|n`]: 1, ...(WEIGHTS[outcome] === 'bad' && { [`${operation}|bad`]: 1 }) }
    const pair = hashOf([operation, caller, shape].join('\n'))
    return { kind: 'claim', key: `${key}:${pair}`, at, ms: COLLAPSE.windowMs, name: key, first, again: {} }
  })
  const callers = news.callers.map(({ caller, got, at }): StoreChange => {
    const first = { 'callers|n': 1, ...(got && { 'callers|got': 1 }) }
    return { kind: 'claim', key: `${key}:caller:${caller}`, at, ms: CALLER_MS, name: key, first, again: {} }
  })
  return [...(Object.keys(sums).length > 0 ? [{ kind: 'add', name: key, sums } as const] : []), ...observations, ...callers]
}

/** Returns what was counted before the store knew the step: records were read back. */
export function changesOfCounts(key: string, counts: RecordedCounts): readonly StoreChange[] {
  const sums = Object.entries(counts).flatMap(([operation, { requests, observations, comparisons }]) => [
    [`${operation}|requests`, requests] as const,
    [`${operation}|n`, observations.n] as const,
    [`${operation}|bad`, observations.bad] as const,
    [`${operation}|comparisons`, comparisons.n] as const,
    [`${operation}|differed`, comparisons.bad] as const,
  ])
  return sums.length === 0 ? [] : [{ kind: 'add', name: key, sums: Object.fromEntries(sums) }]
}

/** Returns what all replicas together have counted. */
function totalsOf(sums: Sums): StepTotals {
  const of = (field: string) => sums[field] ?? 0
  const operations = new Set(Object.keys(sums).map((field) => field.slice(0, field.indexOf('|'))))
  const counts = [...operations]
    .filter((operation) => operation !== 'sided' && operation !== 'callers')
    .map((operation) => {
      const observations = { n: of(`${operation}|n`), bad: of(`${operation}|bad`) }
      const comparisons = { n: of(`${operation}|comparisons`), bad: of(`${operation}|differed`) }
      return [operation, { requests: of(`${operation}|requests`), observations, comparisons }] as const
    })
  const sides = { got: of('sided|got'), other: of('sided|other') }
  return { counts: Object.fromEntries(counts), callers: of('callers|n'), got: of('callers|got'), sides }
}

/** Milliseconds between two tellings of what lasts. */
const AGAIN_MS = 5000

/** Milliseconds after which a replica that repeats nothing has died, or is well again and cut off. */
const STALE_MS = 30_000

const replicaStateSchema = z.object({
  unjudged: z.object({ requests: z.number(), ms: z.number() }).optional(),
  unwritten: z.string().optional(),
  opened: z.record(z.string(), z.string()).optional(),
})

/** What is wrong at each replica in one step. */
function createReplicaStates(key: string, id: string, ticks: () => number) {
  const name = `${key}:plights`
  const heard = new Map<string, { readonly text: string; readonly state: ReplicaState; readonly at: number }>()
  let told = { text: '', at: Number.NEGATIVE_INFINITY }
  return {
    /** Tells the others what is wrong here. */
    changes(own: ReplicaState | undefined): readonly StoreChange[] {
      const text = own ? JSON.stringify(own) : ''
      const isSame = (text === '') === (told.text === '')
      if (text === told.text || (isSame && ticks() - told.at < AGAIN_MS)) return []
      told = { text, at: ticks() }
      return [{ kind: 'write', name, field: id, text }]
    },
    reading: reading('texts', name, (texts) => {
      for (const [replica, text] of Object.entries(texts)) {
        if (replica === id || heard.get(replica)?.text === text) continue
        heard.set(replica, { text, state: readReplicaState(text), at: ticks() })
      }
    }),
    /** What is wrong at the other replicas. */
    others(): readonly ReplicaState[] {
      return [...heard.values()].flatMap(({ state, at }): readonly ReplicaState[] => {
        if (ticks() - at < STALE_MS) return [state]
        // That it took the share to 0 holds until the fleet did too.
        return state.opened ? [{ opened: state.opened }] : []
      })
    },
  }
}

function readReplicaState(text: string): ReplicaState {
  return (readText(replicaStateSchema, text) ?? {}) as ReplicaState
}

interface Counted {
  readonly key: string
  readonly states: ReturnType<typeof createReplicaStates>
  readonly reading: FleetReading
  readAt: number
}

/** Milliseconds between two readings of a replica that does not decide: it only shows them. */
const SHOWN_MS = 5000

/** What all replicas have counted in the present step of each rollout. `id` is this replica, and `ticks` a monotonic clock. */
export function createSharedSteps(
  id: string,
  rollouts: Pick<Rollouts, 'runs'>,
  documents: Pick<RolloutDocuments, 'followed'>,
  ticks: () => number,
) {
  const counted = new WeakMap<RolloutRun, Counted>()
  const countedOf = (run: RolloutRun): Counted | undefined => {
    const followed = documents.followed(run.plan.name)
    if (!followed) return undefined
    const key = stepKey(run.plan.name, followed, run.state())
    const known = counted.get(run)
    if (known?.key === key) return known
    const read = reading('sums', key, (sums) => {
      if (counted.get(run)?.key === key) run.shared()?.evidence.hear(totalsOf(sums))
    })
    const made = { key, states: createReplicaStates(key, id, ticks), reading: read, readAt: Number.NEGATIVE_INFINITY }
    counted.set(run, made)
    return made
  }
  const all = () => [...rollouts.runs().values()]
  return {
    changes: (): readonly StoreChange[] =>
      all().flatMap((run) => {
        const one = countedOf(run)
        const news = run.shared()?.news.take()
        return one && news ? [...changesOf(one.key, news), ...one.states.changes(run.replicaState())] : []
      }),
    readings: (isLeader: boolean): readonly FleetReading[] =>
      all().flatMap((run) => {
        const one = countedOf(run)
        if (!one || (!isLeader && ticks() - one.readAt < SHOWN_MS)) return []
        one.readAt = ticks()
        return [one.reading, one.states.reading]
      }),
    /** Reads the step of one rollout now. Rejects as `Store.read` does. */
    async read(store: Pick<Store, 'read'>, run: RolloutRun) {
      const one = countedOf(run)
      if (!one) return
      const [found] = await store.read([one.reading.read])
      one.reading.take(found)
    },
    /** What is wrong at any replica. */
    states(run: RolloutRun): readonly ReplicaState[] {
      const own = run.replicaState()
      return [...(own ? [own] : []), ...(countedOf(run)?.states.others() ?? [])]
    },
    /** Observations and callers that the store does not have yet. */
    waiting: () => all().reduce((sum, run) => sum + (run.shared()?.news.waiting() ?? 0), 0),
  }
}
