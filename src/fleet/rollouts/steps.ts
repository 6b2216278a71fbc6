import { createHash } from 'node:crypto'
import { COLLAPSE, WEIGHTS } from '../../migrate/evidence/evidence.ts'
import { UNCOMPARED } from '../../migrate/evidence/standing.ts'
import type { Actor } from '../../migrate/records/record.ts'
import type { RecordedCounts } from '../../migrate/rollout/evidence.ts'
import type { RolloutState } from '../../migrate/rollout/plan.ts'
import type { RolloutRun, Rollouts } from '../../migrate/rollout/rollouts.ts'
import {
  type KnownFigure,
  knownFigure,
  type Plight,
  type RolloutCommand,
  type StepNews,
  type StepTotals,
} from '../../migrate/rollout/run.ts'
import { fieldOf } from '../evidence.ts'
import { type FleetReading, reading } from '../exchange.ts'
import type { Fleet } from '../fleet.ts'
import type { Document, Store, StoreChange, Sums } from '../store/store.ts'
import {
  createPlights,
  type Plights,
  type Published,
  type RolloutDocument,
  type RolloutDocuments,
  type RolloutPublisher,
  rolloutName,
  sharedOf,
} from './documents.ts'

/** What all replicas know of v2's answers, as far as rollouts look at it. */
export interface KnownEvidence {
  readings(isLeader: boolean): readonly FleetReading[]
  /** Reads it now. Rejects as `Store.read` does. */
  read(): Promise<void>
  of(operation: string): KnownFigure | undefined
}

interface KnownSources {
  readonly store: Pick<Store, 'read'>
  /** The name of the sums of the present epoch. */
  readonly name: () => string
  readonly ticks: () => number
}

/** Milliseconds between two readings: these sums are large, and are read anew before a share grows. */
const READ_EVERY_MS = 5000

export function createKnownEvidence({ store, name, ticks }: KnownSources): KnownEvidence {
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
    readings(isLeader) {
      follow()
      if (!isLeader || ticks() - readAt < READ_EVERY_MS) return []
      readAt = ticks()
      return [read]
    },
    async read() {
      follow()
      const [found] = await store.read([read.read])
      read.take(found)
    },
    of(operation) {
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
export function changesOf(key: string, news: StepNews): readonly StoreChange[] {
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
    return { kind: 'claim', key: `${key}:${hashOf(operation, caller, shape)}`, at, ms: COLLAPSE.windowMs, name: key, first, again: {} }
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
export function totalsOf(sums: Sums): StepTotals {
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

/** 128 bits: two observations of one step never share them. */
function hashOf(...parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 22)
}

/** What all replicas have counted in the present step of each rollout. */
export interface SharedSteps {
  changes(): readonly StoreChange[]
  readings(isLeader: boolean): readonly FleetReading[]
  /** Reads the step of one rollout now. Rejects as `Store.read` does. */
  read(store: Pick<Store, 'read'>, run: RolloutRun): Promise<void>
  /** What is wrong at any replica. */
  plights(run: RolloutRun): readonly Plight[]
  /** Observations and callers that the store does not have yet. */
  waiting(): number
}

interface StepsSources {
  /** This replica. */
  readonly id: string
  readonly rollouts: Pick<Rollouts, 'runs'>
  readonly documents: Pick<RolloutDocuments, 'followed'>
  readonly ticks: () => number
}

interface Counted {
  readonly key: string
  readonly plights: Plights
  readonly reading: FleetReading
  readAt: number
}

/** Milliseconds between two readings of a replica that does not decide: it only shows them. */
const SHOWN_MS = 5000

export function createSharedSteps({ id, rollouts, documents, ticks }: StepsSources): SharedSteps {
  const counted = new WeakMap<RolloutRun, Counted>()
  const countedOf = (run: RolloutRun): Counted | undefined => {
    const followed = documents.followed(run.plan.name)
    if (!followed) return undefined
    const key = stepKey(run.plan.name, followed, run.state())
    const known = counted.get(run)
    if (known?.key === key) return known
    const read = reading('sums', key, (sums) => {
      if (counted.get(run)?.key === key) run.shared?.step()?.evidence.hear(totalsOf(sums))
    })
    const made = { key, plights: createPlights(key, id, ticks), reading: read, readAt: Number.NEGATIVE_INFINITY }
    counted.set(run, made)
    return made
  }
  const all = () => [...rollouts.runs().values()]
  return {
    changes: () =>
      all().flatMap((run) => {
        const one = countedOf(run)
        const news = run.shared?.step()?.news.take()
        return one && news ? [...changesOf(one.key, news), ...one.plights.changes(run.shared?.plight())] : []
      }),
    readings: (isLeader) =>
      all().flatMap((run) => {
        const one = countedOf(run)
        if (!one || (!isLeader && ticks() - one.readAt < SHOWN_MS)) return []
        one.readAt = ticks()
        return [one.reading, one.plights.reading]
      }),
    async read(store, run) {
      const one = countedOf(run)
      if (!one) return
      const [found] = await store.read([one.reading.read])
      one.reading.take(found)
    },
    plights(run) {
      const own = run.shared?.plight()
      return [...(own ? [own] : []), ...(countedOf(run)?.plights.others() ?? [])]
    },
    waiting: () => all().reduce((sum, { shared }) => sum + (shared?.step()?.news.waiting() ?? 0), 0),
  }
}

/** Why a command was not obeyed: it makes no sense, somebody moved the rollout meanwhile, or the store does not answer. */
export interface SteerProblem {
  readonly kind: 'senseless' | 'moved' | 'down'
  /** One sentence. */
  readonly text: string
}

export interface FleetSteering {
  /** Gives a command that holds for all replicas. Resolves when each of them that lives has obeyed, or after a second. */
  steer(name: string, command: RolloutCommand, by: Actor): Promise<SteerProblem | undefined>
}

interface SteeringSources {
  readonly fleet: Pick<Fleet, 'store' | 'urgent' | 'settle'>
  readonly rollouts: Pick<Rollouts, 'runs'>
  readonly documents: RolloutDocuments
  readonly publisher: RolloutPublisher
  readonly known: KnownEvidence
  readonly within: <T>(answer: Promise<T>) => Promise<T | 'down'>
}

/** How often a command is tried anew if only the time of the rollout has been written meanwhile. */
const ATTEMPTS = 5

/** The longest that an answer waits for the other replicas, in milliseconds. */
const OBEYED_MS = 1000

export function createFleetSteering({ fleet, rollouts, documents, publisher, known, within }: SteeringSources): FleetSteering {
  const readNow = async (name: string): Promise<'done' | 'down'> => {
    const found = await within(fleet.store.read([{ kind: 'document', name: rolloutName(name) }]))
    if (found === 'down') return 'down'
    // A run that begins knows what was known before it.
    if ((await within(known.read())) === 'down') return 'down'
    documents.take(name, (found[0]?.value as Document | undefined) ?? { version: 0, text: '' })
    return 'done'
  }
  const attempt = async (run: RolloutRun, command: RolloutCommand, by: Actor): Promise<Published | 'unsure' | SteerProblem> => {
    const { name } = run.plan
    if ((await readNow(name)) === 'down') return 'down'
    if (!documents.followed(name)) return { kind: 'moved', text: `The rollout ${name} has not begun yet; try again in a second.` }
    const proposal = sharedOf(run).command(command, by)
    if (proposal === 'same') return 'done'
    if ('problem' in proposal) return { kind: 'senseless', text: proposal.problem }
    const end = await publisher.move(run, proposal)
    return end === 'down' ? 'unsure' : end
  }
  return {
    async steer(name, command, by) {
      const run = rollouts.runs().get(name)
      if (!run) return { kind: 'senseless', text: `There is no rollout ${JSON.stringify(name)}.` }
      const shared = sharedOf(run)
      const { phase, stepsBegun } = shared.state()
      for (let nth = 1; ; nth += 1) {
        const end = await attempt(run, command, by)
        const isDown = end === 'down' || end === 'unsure'
        if (isDown && command === 'abort') return void shared.abort(by)
        if (isDown) return { kind: 'down', text: end === 'down' ? DOWN : UNSURE }
        if (typeof end === 'object') return end
        if (end === 'done') break
        const now = shared.state()
        const isSame = now.phase === phase && now.stepsBegun === stepsBegun
        if (nth < ATTEMPTS && (isSame || command === 'abort')) continue
        return { kind: 'moved', text: `The rollout ${name} has moved on meanwhile (${now.phase}); read GET /rollouts again.` }
      }
      fleet.urgent()
      await fleet.settle(OBEYED_MS)
      return undefined
    },
  }
}

const DOWN =
  'The store does not answer, so no replica would learn of it: nothing has changed. Abort is possible: it sets the share of this replica to 0 at once, and that of the others when the store answers.'

const UNSURE = 'The store did not answer in time: GET /rollouts tells whether it took the command.'
