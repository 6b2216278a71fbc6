import { z } from 'zod'
import { many } from '../migrate/evidence/evidence.ts'
import type { Batch, Beat, Kinds, Store, StoreChange, StoreDown, StoreFound, StoreRead } from './store/store.ts'

/** The times that a fleet goes by. */
export interface FleetClocks {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
  /** Calls a function again and again, after so many milliseconds. Returns a function that ends this. */
  readonly repeat: (run: () => void, ms: number) => () => void
}

/** Returns what a promise resolves with, or `late` if that takes longer than `ms` milliseconds. */
export function atMost<T, L>(promise: Promise<T>, late: L, ms: number, { repeat }: Pick<FleetClocks, 'repeat'>): Promise<T | L> {
  return new Promise((resolve, reject) => {
    const end = repeat(() => {
      end()
      resolve(late)
    }, ms)
    promise.then(resolve, reject).finally(end)
  })
}

/** Resolves after `ms` milliseconds. */
export function pause(ms: number, clocks: Pick<FleetClocks, 'repeat'>): Promise<void> {
  return atMost(new Promise<void>(() => {}), undefined, ms, clocks)
}

/** Reads what a replica wrote as JSON; undefined if another version of Crosswalk wrote it in another form. */
export function readText<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** A smaller difference in milliseconds may be no more than the way to the store. */
const AGREE_MS = 5000

type StoreClock = ReturnType<typeof createStoreClock>

/** The time that all replicas of a store agree on, even if the clock of one of them is wrong or steps. */
export function createStoreClock({ now, ticks }: Pick<FleetClocks, 'now' | 'ticks'>) {
  let base: number | undefined
  return {
    /** Milliseconds since 1970 by the clock of the store; by that of this replica until the store has told its time, or if both agree. */
    time() {
      const own = now()
      const shared = base === undefined ? own : base + ticks()
      return Math.abs(shared - own) < AGREE_MS ? own : shared
    },
    /** By how many milliseconds the clock of the store is ahead of that of this replica; undefined until the store has told its time. */
    aheadMs: (): number | undefined => (base === undefined ? undefined : base + ticks() - now()),
    /** Takes the time of the store, in milliseconds since 1970. */
    heard(storeTime: number) {
      base = storeTime - ticks()
    },
  }
}

/** Returns the time of all of what a replica dated by its own clock (RFC 3339), in milliseconds since 1970. */
export function sharedTimeOf(at: string, { time, now }: Pick<StoreClock, 'time'> & Pick<FleetClocks, 'now'>): number {
  return Date.parse(at) + time() - now()
}

type WriteLine = (members: object, text: string) => void

/** Returns a listener that writes a line when the store stops answering, and one when it answers again. */
export function createStoreLog(warn: WriteLine, info: WriteLine): (before: ExchangesState, after: ExchangesState) => void {
  return (before, after) => {
    if (after.problem !== undefined && (before.problem === undefined || before.foreignKey !== after.foreignKey))
      warn({ problem: after.problem }, wentOf(after))
    if (before.problem === undefined || after.problem !== undefined) return
    const silentMs = Math.round((after.heardAt ?? 0) - (before.downSince ?? 0))
    info({ silentMs }, `the store answers again after ${(silentMs / 1000).toFixed(1)} s`)
  }
}

function wentOf({ foreignKey }: ExchangesState): string {
  const why = foreignKey === undefined ? 'does not answer' : `takes nothing, because somebody else wrote the key ${foreignKey}`
  return `the store ${why}: modes and circuits stay as they are here, changes of modes are refused, evidence waits`
}

/** What a replica says of itself in each exchange. */
const beatSchema = z.object({
  /** A name that a person knows: that of the machine or the container. */
  name: z.string(),
  /** Version and entity tag of the modes in force. */
  version: z.number(),
  tag: z.string(),
  /** Version of newer modes in the store, which it cannot read. */
  unread: z.number().optional(),
  /** Hash of what it counts: answers by its mapping tables, of its v2. */
  epoch: z.string(),
  /** Hashes of the addresses of its services; '' if it has none. */
  v2: z.string().optional(),
  v1: z.string().optional(),
  waiting: z.number(),
  dropped: z.number(),
  lost: z.number(),
  /** When the process started, in milliseconds since 1970. */
  since: z.number(),
  /** The newest question that it has heard, and the newest before which everything that had begun is handed over; see `settle`. */
  heard: z.number(),
  asked: z.number(),
})

export type BeatText = z.infer<typeof beatSchema>

/** One process of the fleet, as its last heartbeat tells. */
export interface FleetReplica extends BeatText {
  readonly id: string
  /** True of the replica that answers. */
  readonly isSelf: boolean
  /** Milliseconds since its last heartbeat. */
  readonly seenMs: number
  /** It was heard of lately: `seenMs` is at most `SILENT_MS`. */
  readonly isLive: boolean
}

/** A replica whose heartbeat another version of Crosswalk wrote in another form: nobody knows how it is. */
export type UnreadReplica = Pick<FleetReplica, 'id' | 'seenMs' | 'isLive'>

/** Milliseconds between two heartbeats. */
export const BEAT_MS = 1000

/** Milliseconds without a heartbeat after which a replica counts as silent. */
const SILENT_MS = 3 * BEAT_MS

/** Milliseconds after which a silent replica is no longer listed. Until then nobody can know whether it still serves. */
export const LISTED_MS = 300_000

/** The newest version of the modes that any replica knows of. */
export function newestOf(replicas: readonly Pick<FleetReplica, 'version' | 'unread'>[]): number {
  return Math.max(...replicas.flatMap(({ version, unread = 0 }) => [version, unread]))
}

/** The number of replicas that were heard of lately, those that nobody can read among them. */
export function liveIn(fleet: { replicas(): readonly FleetReplica[]; unread(): readonly UnreadReplica[] }): number {
  return [...fleet.replicas(), ...fleet.unread()].filter(({ isLive }) => isLive).length
}

/** One matter that the replicas share. It learns what others did by what the store holds, and never waits for it. */
export interface Part {
  /**
   * Hands over what is new since the last call. The fleet sends it until the store has it. It is called before each exchange: at most every
   * 100 ms, and when somebody asks about the fleet.
   */
  changes(): readonly StoreChange[]
  /** What it reads in each exchange; small things only. */
  readings(): readonly FleetReading[]
  /** What the store does not have yet. Without it, nothing ever waits. */
  state?(): PartState
  /** Somebody asks about the fleet: the next `changes` brings what is collected less often, too. */
  asked?(): void
  /**
   * The store has lost what it had: it came back empty or older. What must not be lost is handed over again. `batches` is how many of the last
   * ones before this turn are gone; 0 if nobody knows that any is.
   */
  lost?(batches: number): void
}

/** Numbers of observations. */
export interface PartState {
  /** What `changes` has not handed over yet. */
  readonly waiting: number
  /** Clean observations that had no room. */
  readonly dropped: number
  /** Bad observations that had no room: the fleet can no longer be judged. */
  readonly lost: number
  /** Age of the oldest work under way that will bring an observation, in milliseconds; absent if there is none. */
  readonly oldestMs?: number | undefined
}

/** Something to read, and what takes it. */
export interface FleetReading {
  readonly read: StoreRead
  take(found: StoreFound): void
}

/**
 * Reads again only what is newer than what was taken: `reading('texts', 'open:7', (reasons) => …)`. Make it once for each name; it
 * remembers the stamp.
 */
export function reading<K extends keyof Kinds>(kind: K, name: string, take: (value: Kinds[K]) => void): FleetReading {
  let known: number | undefined
  return {
    get read() {
      return { kind, name, ...(known !== undefined && { known }) }
    },
    take(found) {
      if (!found) return
      known = found.stamp
      take(found.value as Kinds[K])
    },
  }
}

/** What a part says that never waits. */
export const NOTHING: PartState = { waiting: 0, dropped: 0, lost: 0 }

/** Returns what all parts say together: the oldest work of any of them counts. */
export function sumOf(states: readonly PartState[]): PartState {
  const add = (sum: PartState, { waiting, dropped, lost, oldestMs }: PartState) => ({
    waiting: sum.waiting + waiting,
    dropped: sum.dropped + dropped,
    lost: sum.lost + lost,
    oldestMs: sum.oldestMs === undefined ? oldestMs : Math.max(sum.oldestMs, oldestMs ?? 0),
  })
  return states.reduce(add, NOTHING)
}

/** The replicas that the store has heard of lately. `heard` is given the time of the store, in milliseconds since 1970. */
export function createHeartbeats(
  store: Pick<Store, 'read'>,
  id: string,
  { ticks }: Pick<FleetClocks, 'ticks'>,
  heard: (storeTime: number) => void,
) {
  let at = Number.NEGATIVE_INFINITY
  /** The text of each was read once: a neighbour may have written many, and long ones. */
  let beats: readonly (Beat & { readonly said: BeatText | undefined })[] = []
  const reading: FleetReading = {
    read: { kind: 'replicas', name: '' },
    take(found) {
      at = ticks()
      if (found) heard(found.stamp / 1000)
      const all = (found?.value as readonly Beat[] | undefined) ?? []
      beats = all.map((beat) => ({ ...beat, said: readText(beatSchema, beat.text) }))
    },
  }
  const seen = ({ replica, agoMs }: Beat): UnreadReplica => {
    const seenMs = agoMs + ticks() - at
    return { id: replica, seenMs, isLive: seenMs <= SILENT_MS }
  }
  const replicas = (): readonly FleetReplica[] =>
    beats.flatMap((beat) => (beat.said ? { ...beat.said, ...seen(beat), isSelf: beat.replica === id } : []))
  const unread = () => beats.filter(({ said }) => !said).map(seen)
  return {
    /** What an exchange reads for it: once a second, because a hundred replicas would read a hundred heartbeats each at every turn. */
    readings: (): readonly FleetReading[] => (ticks() - at >= BEAT_MS ? [reading] : []),
    replicas,
    /** Those of them whose heartbeats cannot be read. */
    unread,
    /** The same, read from the store now. Rejects as `Store.read` does. */
    async read(): Promise<readonly FleetReplica[]> {
      const [found] = await store.read([reading.read])
      reading.take(found)
      return replicas()
    },
  }
}

/** Whether the store has what all replicas know. */
export interface Settled {
  /** What is missing, in sentences that name the replica. Empty if nothing is. */
  readonly problems: readonly string[]
  /** Those of `problems` that end by themselves within seconds: comparisons that are under way. */
  readonly busy: readonly string[]
}

const NAME = 'questions'

/** Milliseconds of silence after which what a replica did matters to no comparison of the present. */
const GONE_MS = 60_000

/** Milliseconds between two looks at the heartbeats. */
const LOOK_MS = 5

/**
 * Asks all replicas to hand over what they know. A question is a number; a heartbeat tells the newest that its replica has heard. `onAsked` is
 * called when somebody asks, here or elsewhere.
 */
export function createQuestions(
  turn: (isUrgent: boolean) => Promise<boolean>,
  onAsked: () => void,
  heartbeats: Pick<ReturnType<typeof createHeartbeats>, 'read' | 'unread'>,
  clocks: Pick<FleetClocks, 'repeat' | 'ticks'>,
) {
  let heard = 0
  let asked = 0
  /** Questions that older work still has to answer. */
  let open: readonly { readonly question: number; readonly at: number }[] = []
  let isAsking = false
  const ask = async (withinMs: number) => {
    isAsking = true
    return (await atMost(turn(true), false, withinMs, clocks)) ? heard : undefined
  }
  const wait = async (question: number, until: number, what: 'asked' | 'heard'): Promise<readonly FleetReplica[]> => {
    for (;;) {
      const replicas = await heartbeats.read()
      if (replicas.every((one) => !one.isLive || one[what] >= question) || clocks.ticks() >= until) return replicas
      await pause(LOOK_MS, clocks)
    }
  }
  return {
    changes(): readonly StoreChange[] {
      if (!isAsking) return []
      isAsking = false
      return [{ kind: 'add', name: NAME, sums: { asked: 1 } }]
    },
    reading: reading('sums', NAME, ({ asked: newest = 0 }) => {
      if (newest === heard) return
      heard = newest
      open = [...open, { question: newest, at: clocks.ticks() }]
      onAsked()
      // What is known by now goes into the next batch, and its heartbeat says so.
      void turn(false)
    }),
    /** What a heartbeat says, if the oldest work under way began `oldestMs` ago. */
    said(oldestMs: number | undefined): { readonly heard: number; readonly asked: number } {
      const began = oldestMs === undefined ? Number.POSITIVE_INFINITY : clocks.ticks() - oldestMs
      asked = open.findLast(({ at }) => at < began)?.question ?? asked
      open = open.filter(({ at }) => at >= began)
      return { heard, asked }
    },
    async settle(withinMs: number): Promise<Settled> {
      const until = clocks.ticks() + withinMs
      const question = await ask(withinMs)
      const replicas = question === undefined ? undefined : await wait(question, until, 'asked').catch(() => undefined)
      if (question === undefined || replicas === undefined) return { problems: [NO_STORE], busy: [] }
      const busy = replicas.filter(({ heard, asked }) => asked < question && heard >= question).map(busyOf)
      return {
        problems: [...busy, ...replicas.flatMap((one) => problemsOf(one, question)), ...heartbeats.unread().map(problemOfUnread)],
        busy,
      }
    },
    async hear(withinMs: number) {
      const until = clocks.ticks() + withinMs
      const question = await ask(withinMs)
      if (question === undefined) return false
      const replicas = await wait(question, until, 'heard').catch(() => [])
      const isGone = ({ seenMs }: UnreadReplica) => seenMs > GONE_MS
      const isTold =
        replicas.length > 0 && replicas.every((one) => one.heard >= question || isGone(one)) && heartbeats.unread().every(isGone)
      return isTold && atMost(turn(false), false, Math.max(0, until - clocks.ticks()), clocks)
    },
  }
}

export const NO_STORE = 'The store does not answer, so nobody knows what the other replicas have seen.'

function problemOfUnread({ id }: UnreadReplica): string {
  return `Replica ${id} runs another version of Crosswalk, whose heartbeat this one cannot read, so nobody knows what it has not handed over.`
}

function busyOf({ id }: FleetReplica): string {
  return `Replica ${id} still compares answers that its clients got before you asked; ask again in some seconds.`
}

function problemsOf({ id, heard, asked, seenMs, waiting, lost }: FleetReplica, question: number): readonly string[] {
  const silent = `Replica ${id} has not handed over what it knows; it was last heard from ${(seenMs / 1000).toFixed(1)} s ago.`
  return [
    ...(asked >= question || heard >= question ? [] : [silent]),
    ...(waiting > 0 ? [`Replica ${id} has not handed over ${many(waiting, 'observation')} yet.`] : []),
    ...(lost > 0 ? [noRoom(id, lost)] : []),
  ]
}

/** Says that a replica has lost bad observations. */
export function noRoom(id: string, lost: number): string {
  return `Replica ${id} had no room for ${many(lost, 'bad observation')} while the store did not answer; begin a new epoch.`
}

/** What became of the exchanges so far. */
export interface ExchangesState {
  /** Why the store does not answer; undefined if it does, and before the first exchange ended. */
  readonly problem: string | undefined
  /** The key in the store that somebody else wrote, if that is why. */
  readonly foreignKey: string | undefined
  /** When the store last answered, or stopped answering, in milliseconds of the monotonic clock. */
  readonly heardAt: number | undefined
  readonly downSince: number | undefined
  /** Milliseconds that its last answer took. */
  readonly tookMs: number | undefined
  readonly succeeded: number
  readonly failed: number
  /** When the last attempt ended. */
  readonly triedAt: number | undefined
}

interface ExchangesParts {
  readonly store: Pick<Store, 'exchange'>
  readonly id: string
  readonly clocks: Pick<FleetClocks, 'ticks'>
  /** Collects what is new. It is sent until the store has it. */
  readonly changes: () => readonly StoreChange[]
  readonly readings: () => readonly FleetReading[]
  /** Is told after each attempt, with the seconds that it took. */
  readonly ended: (before: ExchangesState, after: ExchangesState, seconds: number) => void
  /** The store has lost so many batches that it had confirmed; 0 if it may only have forgotten their number. */
  readonly lost: (batches: number) => void
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds for which the store remembers how many batches of a replica it has applied. */
const COUNTED_MS = 600_000

type Wanted = { isUrgent: boolean; readonly answered: Promise<boolean>; readonly end: (isAnswered: boolean) => void }

/** Sends batches to the store, one at a time, and hands out what they find. */
export function createExchanges({ store, id, clocks, ...parts }: ExchangesParts) {
  let state: ExchangesState = {
    ...{ problem: undefined, foreignKey: undefined, heardAt: undefined, downSince: undefined, tookMs: undefined, triedAt: undefined },
    ...{ succeeded: 0, failed: 0 },
  }
  let nth = 0
  /** Batches that the store is known to have lost. */
  let forgotten = 0
  /** A batch that may not have arrived. */
  let unsure: Batch | undefined
  let wanted: Wanted | undefined
  let isRunning = false
  /** When the store last counted a batch, by its own clock, which may be set forward, in microseconds. */
  let countedAt: number | undefined

  const counted = (batch: Batch, silentMs: number): FleetReading => ({
    ...reading('sums', `batches:${id}`, () => {}),
    take(found) {
      const { stamp = 0 } = found ?? {}
      const uncountedMs = Math.max(silentMs, (stamp - (countedAt ?? stamp)) / 1000)
      countedAt = stamp
      const missing = batch.nth - ((found?.value as Readonly<Record<string, number>> | undefined)?.['sent'] ?? 0)
      if (missing <= forgotten) return
      const lost = missing - forgotten
      forgotten = missing
      parts.lost(uncountedMs < COUNTED_MS ? lost : 0)
    },
  })
  const hand = (readings: readonly FleetReading[], found: Awaited<ReturnType<Store['exchange']>>) => {
    for (const [at, one] of readings.entries()) {
      try {
        one.take(found[at])
      } catch (error) {
        parts.failed(error)
      }
    }
  }
  const send = async (batch: Batch): Promise<boolean> => {
    unsure = batch
    const began = clocks.ticks()
    const readings = [...parts.readings(), counted(batch, began - (state.heardAt ?? began))]
    const found = await store.exchange({ ...batch, reads: readings.map(({ read }) => read) }).catch((error: unknown) => error as Error)
    const at = clocks.ticks()
    const before = state
    const isAnswered = !(found instanceof Error)
    state = isAnswered ? answeredAt(before, at, at - began) : failedAt(before, at, found)
    if (isAnswered) {
      unsure = undefined
      hand(readings, found)
    }
    parts.ended(before, state, (at - began) / 1000)
    return isAnswered
  }
  const once = async (isUrgent: boolean): Promise<boolean> => {
    if (unsure && !(await send(unsure))) return false
    nth += 1
    const sent: StoreChange = { kind: 'add', name: `batches:${id}`, sums: { sent: 1 }, keepMs: COUNTED_MS }
    return send({ replica: id, nth, changes: [...parts.changes(), sent], reads: [], isUrgent })
  }
  const run = async () => {
    if (isRunning) return
    isRunning = true
    for (let turn = wanted; turn; turn = wanted) {
      wanted = undefined
      turn.end(await once(turn.isUrgent))
    }
    isRunning = false
  }
  return {
    /** Begins one, or one more after the one under way. Resolves when it was answered: true, or false if the store did not answer. */
    turn(isUrgent: boolean) {
      wanted ??= newTurn()
      wanted.isUrgent ||= isUrgent
      const { answered } = wanted
      void run()
      return answered
    },
    state: (): ExchangesState => state,
  }
}

function answeredAt(before: ExchangesState, at: number, tookMs: number): ExchangesState {
  const well = { problem: undefined, foreignKey: undefined, downSince: undefined }
  return { ...before, ...well, tookMs, heardAt: at, triedAt: at, succeeded: before.succeeded + 1 }
}

function failedAt(
  before: ExchangesState,
  at: number,
  { message, foreignKey }: Error & Partial<Pick<StoreDown, 'foreignKey'>>,
): ExchangesState {
  return { ...before, problem: message, foreignKey, downSince: before.downSince ?? at, triedAt: at, failed: before.failed + 1 }
}

function newTurn(): Wanted {
  let end: Wanted['end'] = () => {}
  const answered = new Promise<boolean>((resolve) => {
    end = resolve
  })
  return { isUrgent: false, answered, end }
}
