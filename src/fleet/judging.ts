import { z } from 'zod'
import type { Client } from '../migrate/clients.ts'
import type { ChangedPlaces, Noise } from '../migrate/compare/judge.ts'
import type { RedactionKey } from '../migrate/compare/redact.ts'
import { type CutoverVerdict, createReadinessMemory, type ReadinessNote } from '../migrate/evidence/cutover.ts'
import { askedOf } from '../migrate/evidence/kinds.ts'
import type { Migration } from '../migrate/migration.ts'
import type { Notes } from '../migrate/modes/journal.ts'
import type { NamedWrite, OwnWrites, RecentWrites } from '../migrate/modes/serve.ts'
import type { V1Habit, V1Refusals } from '../migrate/observe/observe.ts'
import type { Operation } from '../tables/operation.ts'
import { type FleetClocks, type FleetReading, type Part, reading, readText } from './exchange.ts'
import type { Fleet, Leader } from './fleet.ts'
import type { FleetEvidence } from './report.ts'
import type { LogItem, StoreChange } from './store/store.ts'

/** Batches of double reads that the store keeps. A replica that begins reads them all, and knows what the others have learnt. */
const KEPT = 1000

/** Double reads of one replica that wait while the store does not answer. Later ones find the same members. */
const WAITING = 1000

const learntSchema = z.array(z.object({ operation: z.string(), alone: z.array(z.string()), stamped: z.array(z.string()) }))

/** Returns a part whose news all other replicas take, and a function that adds to them. `name` is that of the log in the store. */
function sharedLog<T>(
  name: string,
  schema: z.ZodType<readonly T[]>,
  take: (item: T) => void,
  { id, soon }: Pick<Fleet, 'id' | 'soon'>,
): { readonly part: Part; add(item: T): void; isFull(): boolean } {
  const waiting: T[] = []
  const log = reading('log', name, (items) => {
    for (const { replica, text } of items) if (replica !== id) for (const item of readText(schema, text) ?? []) take(item)
  })
  const part: Part = {
    changes() {
      const news = waiting.splice(0)
      return news.length > 0 ? [{ kind: 'log', name, text: JSON.stringify(news), items: KEPT }] : []
    },
    readings: () => [log],
  }
  const add = (item: T) => {
    waiting.push(item)
    soon()
  }
  return { part, add, isFull: () => waiting.length >= WAITING }
}

interface Learnt extends ChangedPlaces {
  readonly operation: string
}

/** Shares which members of v1 change by themselves. Each replica hears of every double read, and judges all of them together. */
export function createSharedNoise(noise: Pick<Noise, 'heard' | 'onLearn'>, fleet: Pick<Fleet, 'id' | 'soon'>): Part {
  const shared = sharedLog<Learnt>('noise', learntSchema, ({ operation, ...places }) => noise.heard(operation, places), fleet)
  noise.onLearn((operation, places) => {
    if (!shared.isFull()) shared.add({ operation, ...places })
  })
  return shared.part
}

const habitsSchema = z.array(z.object({ key: z.string(), status: z.number() }))

/** Shares which writes v1 refuses by itself: one replica gave them to v1, and another one gives the next of their kind to v2. */
export function createSharedRefusals(refusals: Pick<V1Refusals, 'learn' | 'onNews'>, fleet: Pick<Fleet, 'id' | 'soon'>): Part {
  const shared = sharedLog<V1Habit>('refusals', habitsSchema, refusals.learn, fleet)
  refusals.onNews((habit) => {
    // What finds no room is unknown to others, unless it takes something back.
    if (!shared.isFull() || habit.status === 0) shared.add(habit)
  })
  return shared.part
}

const REDACTION_KEY = 'redaction'

/** Gives all replicas the key of the first one, so that one text has one hash in the records of all. */
export function createSharedRedactionKey(key: RedactionKey): Part {
  let isTold = false
  const shared = reading('texts', REDACTION_KEY, ({ key: first }) => {
    if (first === undefined) isTold = false
    else key.share(first)
  })
  return {
    changes() {
      if (isTold) return []
      isTold = true
      return [{ kind: 'mark', name: REDACTION_KEY, field: 'key', text: key.text() }]
    },
    readings: () => [shared],
  }
}

interface SharedWritesParts {
  readonly ownWrites: Pick<OwnWrites, 'begin' | 'noteMany'>
  readonly recentWrites: Pick<RecentWrites, 'beginElsewhere' | 'noteMany' | 'own'>
  readonly operations: readonly Operation[]
  readonly fleet: Pick<Fleet, 'id' | 'hear'>
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
}

const WRITES_LOG = 'writes'

/** Batches of writes that the store keeps, and the time after which it forgets them all. */
const WRITES_KEPT = 1000
const KEPT_MS = 60_000

/** Milliseconds for which a comparison waits for the others. */
const REPORT_MS = 2000

const writtenSchema = z.object({
  begun: z.array(
    z.object({
      number: z.number(),
      operation: z.string(),
      params: z.record(z.string(), z.string()),
      uids: z.array(z.string()).optional(),
      caller: z.string(),
    }),
  ),
  /** Numbers of writes that have ended. */
  ended: z.array(z.number()),
  /** There were more. */
  isCut: z.boolean(),
})

type WrittenByReplica = z.infer<typeof writtenSchema>

/** Writes of others that are under way here, by replica and number. */
type UnderWay = Map<string, { readonly end: () => void; readonly at: number }>

/** Shares the writes of the last minute, so that what one replica wrote excuses a difference that another one meets. */
export function createSharedWrites({ ownWrites, recentWrites, operations, fleet, ticks }: SharedWritesParts) {
  const known = new Map(operations.map((operation) => [operation.id, operation]))
  const underWay: UnderWay = new Map()
  let next = 0
  let active: readonly NamedWrite[] = []
  const begin = (replica: string, { number, operation: id, params, uids, caller }: WrittenByReplica['begun'][0]) => {
    const operation = known.get(id)
    if (!operation) return
    const ends = [recentWrites.beginElsewhere(operation, params, uids), ownWrites.begin(caller)]
    underWay.set(`${replica} ${number}`, { at: ticks(), end: () => void ends.map((end) => end()) })
  }
  const end = (key: string) => {
    underWay.get(key)?.end()
    underWay.delete(key)
  }
  const take = ({ replica, text }: LogItem) => {
    const written = replica === fleet.id ? undefined : readText(writtenSchema, text)
    if (!written) return
    if (written.isCut) for (const writes of [recentWrites, ownWrites]) writes.noteMany()
    for (const one of written.begun) begin(replica, one)
    for (const number of written.ended) end(`${replica} ${number}`)
  }
  const log = reading('log', WRITES_LOG, (items) => items.forEach(take))
  return {
    changes(): readonly StoreChange[] {
      // The replica may have died before it told the end.
      for (const [key, { at }] of underWay) if (ticks() - at > KEPT_MS) end(key)
      const own = recentWrites.own(next)
      next = own.next
      const told = [...active, ...own.writes]
      active = told.filter((write) => write.active)
      const ended = told.filter((write) => !write.active).map(({ number }) => number)
      if (own.writes.length + ended.length === 0 && !own.isCut) return []
      const written: WrittenByReplica = { begun: own.writes.map(textOf), ended, isCut: own.isCut }
      return [{ kind: 'log', name: WRITES_LOG, text: JSON.stringify(written), items: WRITES_KEPT, keepMs: KEPT_MS }]
    },
    readings: (): readonly FleetReading[] => [log],
    /** Resolves when this replica knows the writes of all others up to now: true, or false if it cannot know them in time. */
    told: shared(() => fleet.hear(REPORT_MS)),
  }
}

function textOf({ number, operation, params, uids, caller }: NamedWrite): WrittenByReplica['begun'][0] {
  return { number, operation: operation.id, params, caller, ...(uids && { uids: [...uids] }) }
}

/** Asks once for all who wait at the same time. A question that was asked before a call does not answer it. */
function shared(ask: () => Promise<boolean>): () => Promise<boolean> {
  let running: Promise<boolean> | undefined
  let queued: Promise<boolean> | undefined
  const run = () => {
    queued = undefined
    running = ask().finally(() => {
      if (!queued) running = undefined
    })
    return running
  }
  return () => {
    if (!running) return run()
    queued ??= running.then(run, run)
    return queued
  }
}

/** Shares what the replicas of a fleet need to judge differences alike: noise, writes, and the key of hashes. */
export function shareJudging({ journal, modes }: Migration, fleet: Fleet, { ticks }: FleetClocks): void {
  const { judging, operations, redaction } = journal
  const writes = createSharedWrites({ ...modes.history, operations, fleet, ticks })
  judging.others.askBy(writes.told)
  fleet.add(createSharedNoise(judging.noise, fleet))
  fleet.add(createSharedRefusals(judging.refusals, fleet))
  fleet.add(createSharedRedactionKey(redaction.key))
  fleet.add(writes)
}

interface ReadinessSources {
  readonly leader: Pick<Leader, 'isSelf'>
  /** Judges what all replicas have seen until now; undefined if some of it is missing. */
  readonly judge: () => Promise<CutoverVerdict | undefined>
  readonly note: Notes['note']
  /** Milliseconds since 1970, and those of a monotonic clock. */
  readonly now: () => number
  readonly ticks: () => number
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds between two looks. Each asks all replicas. */
const LOOK_EVERY_MS = 10_000

/** What was said last of each operation, and of everything together, whose field is `(all)`. */
const READINESS_DOCUMENT = 'readiness'
const WHOLE = '(all)'

const saidSchema = z.object({ what: z.enum(['ready', 'not-ready']), at: z.string(), to: z.string() })

/** Notes once for the fleet what becomes ready to move, or stops being so. */
export function createReadinessPart({ leader, judge, note, now, ticks, failed }: ReadinessSources) {
  const memory = createReadinessMemory()
  const said: StoreChange[] = []
  let lookedAt = Number.NEGATIVE_INFINITY
  let isKnown = false
  const texts = reading('texts', READINESS_DOCUMENT, (found) => {
    isKnown = true
    for (const [field, text] of Object.entries(found)) {
      const last = readText(saidSchema, text)
      if (last) memory.recall({ kind: 'note', text: '', ...last, ...(field !== WHOLE && { operation: field }) })
    }
  })
  const say = (one: ReadinessNote) => {
    const { what, operation = WHOLE, to = what } = one
    // The store gets it with the note, in one batch: whoever decides next has both or none.
    const text = JSON.stringify({ what, at: new Date(now()).toISOString(), to })
    said.push({ kind: 'write', name: READINESS_DOCUMENT, field: operation, text })
    note(one)
  }
  const lookNow = async () => {
    const verdict = await judge()
    if (verdict && leader.isSelf()) for (const one of memory.news(verdict, now())) say(one)
  }
  return {
    changes: (): readonly StoreChange[] => said.splice(0),
    readings: (): readonly FleetReading[] => [texts],
    /** Judges, as the replica that decides. Call it often: it does nothing if the last look is not long ago. */
    look() {
      if (!isKnown || !leader.isSelf() || ticks() - lookedAt < LOOK_EVERY_MS) return
      lookedAt = ticks()
      lookNow().catch(failed)
    },
  }
}

/**
 * Judges readiness for all replicas, on what all of them have seen. `clients` tells those of all replicas, and what is missing among them, in
 * sentences.
 */
export function shareReadiness(
  { judge, note }: Migration,
  leader: Leader,
  evidence: FleetEvidence,
  clients: () => Promise<{ readonly answer: readonly Client[]; readonly problems: readonly string[] }>,
  { now, ticks }: FleetClocks,
  failed: (error: unknown) => void,
) {
  const judgeAll = async () => {
    const counted = await evidence.counted()
    if (counted.fleet === undefined || counted.fleet.problems.length > 0) return undefined
    const verdict = judge(counted)
    if (!verdict.ready) return verdict
    // The clients are many, so that they are only read if all depends on them.
    const { answer, problems } = await clients()
    return problems.length > 0 ? undefined : judge({ ...counted, asked: askedOf(answer) })
  }
  return createReadinessPart({ leader, judge: judgeAll, note, now, ticks, failed })
}
