/**
 * What replicas tell each other, and the store that carries it.
 *
 * 1. `store/store.ts` says what a store can do: sums, texts, logs, documents, claims. Memory, a file, a worker's line and Redis can.
 * 2. `exchange.ts` is one exchange: what changed here goes out, what others changed comes in.
 * 3. Each matter is a part of it: `modes.ts`, `circuits.ts`, `evidence.ts`, `comparisons.ts`, `clients.ts`, `judging.ts`, `rollouts/`.
 * 4. This file joins the parts, and says which replicas there are and who leads.
 * 5. `report.ts` makes the report of all replicas from their sums.
 *
 * A store that is down changes nothing for clients, unless `store.leaseMs` says so. No request waits for it.
 */
import { createHash } from 'node:crypto'
import {
  atMost,
  BEAT_MS,
  type BeatText,
  createExchanges,
  createHeartbeats,
  createQuestions,
  createStoreClock,
  type ExchangesState,
  type FleetClocks,
  type FleetReading,
  type FleetReplica,
  LISTED_MS,
  NOTHING,
  type Part,
  type PartState,
  pause,
  type Settled,
  sumOf,
  type UnreadReplica,
} from './exchange.ts'
import { downReason, type Store, type StoreChange } from './store/store.ts'

/** The most changes of one batch: a replica that catches up must not keep the store from the others. */
const MOST_CHANGES = 10_000

/** The parts of a fleet as one. */
function createAllParts() {
  const parts: Part[] = []
  let unsent: readonly StoreChange[] = []
  return {
    add: (part: Part): void => void parts.push(part),
    changes(): readonly StoreChange[] {
      const all = [...unsent, ...parts.flatMap((part) => part.changes())]
      unsent = all.slice(MOST_CHANGES)
      return all.slice(0, MOST_CHANGES)
    },
    /** True if there is more to send than `changes` handed over. */
    hasMore: () => unsent.length > 0,
    readings: (): readonly FleetReading[] => parts.flatMap((part) => part.readings()),
    state: (): PartState => sumOf([...parts.map((part) => part.state?.() ?? NOTHING), { ...NOTHING, waiting: unsent.length }]),
    lost(batches: number) {
      for (const part of parts) part.lost?.(batches)
    },
    asked() {
      for (const part of parts) part.asked?.()
    },
  }
}

/** The services whose answers are compared. */
const SERVICES = ['v2', 'v1'] as const

type ComparedService = (typeof SERVICES)[number]

/** Hashes of the addresses of both services, as a heartbeat tells them. */
type Upstreams = Pick<BeatText, ComparedService>

/** Nobody needs to read an address in the store: what matters is whether all have the same. An address without a service is ''. */
export function upstreamsOf(addresses: Readonly<Record<ComparedService, string | undefined>>): Upstreams {
  const hash = (address: string | undefined) =>
    address === undefined ? '' : createHash('sha256').update(address).digest('hex').slice(0, 12)
  return { v2: hash(addresses.v2), v1: hash(addresses.v1) }
}

/** Returns the services that a live replica reaches at another address than this one does. An older version does not tell. */
export function otherServices(one: FleetReplica, replicas: readonly FleetReplica[]): readonly ComparedService[] {
  const self = replicas.find(({ isSelf }) => isSelf)
  if (!self || !one.isLive) return []
  return SERVICES.filter((service) => self[service] !== undefined && one[service] !== undefined && one[service] !== self[service])
}

/** Says in sentences which live replicas have other services than this one. Empty if all have the same. */
export function upstreamProblems(replicas: readonly FleetReplica[]): readonly string[] {
  return replicas.flatMap((one) => {
    const others = otherServices(one, replicas).map((service) => `upstream.${service}`)
    if (others.length === 0) return []
    const name = others.join(' and ')
    return [
      `Replica ${one.id} has another ${name} than this one, but adds to the same evidence; give both the same, or each its own store.name, and begin a new epoch.`,
    ]
  })
}

/** Milliseconds after which another replica decides, if the one that does renews nothing. It renews once a second. */
export const LEASE_MS = 3000

/** The clocks of two machines do not run at exactly the same pace. */
const MARGIN_MS = 100

export type Leader = ReturnType<typeof createLeader>

/**
 * The replica that decides for the fleet: the one that holds the lease `leader`. For a moment there may be two, each of which believes it: what
 * they decide is a version of a document, of which the store takes one.
 */
export function createLeader(id: string, ticks: FleetClocks['ticks']) {
  let isResigned = false
  let holder: string | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  const reading: FleetReading = {
    // Without a known stamp: that the lease is still held is news each time.
    read: { kind: 'lease', name: 'leader' },
    take(found) {
      holder = found?.value as string | undefined
      if (holder === id && !isResigned) until = askedAt + LEASE_MS - MARGIN_MS
      if (holder !== id) until = Number.NEGATIVE_INFINITY
    },
  }
  return {
    changes(): readonly StoreChange[] {
      // The lease runs from when the store takes it, which is later than this.
      askedAt = ticks()
      return [{ kind: 'lease', name: 'leader', ms: isResigned ? 0 : LEASE_MS }]
    },
    readings: (): readonly FleetReading[] => [reading],
    /** True if this replica decides. It stops believing so before another one can have taken the lease. */
    isSelf: () => ticks() < until,
    /** The replica that decides, as the store told it last; undefined if none does. */
    id: (): string | undefined => holder,
    /** Gives the lease back with the next exchange. */
    resign() {
      isResigned = true
      until = Number.NEGATIVE_INFINITY
    },
  }
}

/** This process as one of the replicas that share a store. */
export interface Fleet {
  /** Tells this process from every other, and from those before it. */
  readonly id: string
  readonly store: Store
  /** The time that all replicas agree on, in milliseconds since 1970: a clock of one of them may be wrong. */
  time(): number
  /** By how many milliseconds the clock of the store is ahead of that of this replica; undefined until the store has told its time. */
  aheadMs(): number | undefined
  /** Adds a matter that is shared. Call it before `start`. */
  add(part: Part): void
  /** Begins. Resolves after the first exchange, or after `START_MS` if the store does not answer. */
  start(): Promise<void>
  /** Asks for an exchange within 100 ms: something new waits in a part. */
  soon(): void
  /** Asks for an exchange at once, because another replica waits for what this one says. */
  now(): void
  /** Asks for an exchange at once, and tells the other replicas to read. */
  urgent(): void
  /** Resolves when an exchange that began after the call was answered: true, or false if the store did not answer. */
  turn(): Promise<boolean>
  /** Resolves when every replica has handed over what it knew at the time of the call, or after `withinMs`. */
  settle(withinMs: number): Promise<Settled>
  /** Resolves when this replica has read what every other knew at the time of the call: true, or false if that takes longer than `withinMs`. */
  hear(withinMs: number): Promise<boolean>
  /** All replicas by their last heartbeats, which are at most a second old while the store answers. This replica is among them. */
  replicas(): readonly FleetReplica[]
  /** The replicas that are missing there, because another version of Crosswalk writes their heartbeats in another form. */
  unread(): readonly UnreadReplica[]
  /** The same, read from the store now. Rejects as `Store.read` does. */
  readReplicas(): Promise<readonly FleetReplica[]>
  state(): FleetState
  /** Says goodbye to the store, and closes it. Resolves with why the store lacks what this replica knew last; undefined if it has all. */
  close(): Promise<string | undefined>
}

/** How this replica stands with the store. */
export interface FleetState extends ExchangesState, PartState {
  /** Milliseconds since the store last answered; since the start if it never did. */
  readonly silentMs: number
}

export interface FleetSettings {
  readonly store: Store
  readonly id: string
  /** A name that a person knows: that of the machine or the container. */
  readonly name: string
  readonly clocks: FleetClocks
  /** The modes in force here. */
  readonly modes: () => Pick<BeatText, 'version' | 'tag' | 'unread'>
  readonly counts?: Pick<BeatText, 'epoch' | 'v2' | 'v1'>
  /** Is told after each exchange: how this replica stands with the store before and after it, and the seconds that it took. */
  readonly ended: (before: ExchangesState, after: ExchangesState, seconds: number) => void
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds after which something new is sent. */
const SOON_MS = 100

/** Milliseconds between two attempts while the store does not answer. */
const RETRY_MS = 250

/** The longest that a start waits for the store, and an end for its last exchange, in milliseconds. */
const START_MS = 1000

export function createFleet({ store, id, name, clocks, modes, counts = { epoch: '' }, failed, ended }: FleetSettings): Fleet {
  const { ticks } = clocks
  const parts = createAllParts()
  const since = clocks.now()
  const startedAt = ticks()
  const clock = createStoreClock(clocks)
  const heartbeats = createHeartbeats(store, id, clocks, clock.heard)
  const questions = createQuestions((isUrgent) => exchanges.turn(isUrgent), parts.asked, heartbeats, clocks)
  let isNew = false
  let isLeaving = false
  let sentAt = Number.NEGATIVE_INFINITY
  let end = () => {}

  const beat = (): StoreChange => {
    const { version, tag, unread } = modes()
    const { oldestMs, ...state } = parts.state()
    const said: BeatText = { name, version, tag, unread, ...counts, ...state, since, ...questions.said(oldestMs) }
    // Older work has still to end before a question is answered, and what waits takes several batches.
    isNew = said.asked < said.heard || said.waiting > 0
    return { kind: 'beat', text: JSON.stringify(said), ms: isLeaving ? 1 : LISTED_MS }
  }
  const changes = () => {
    sentAt = ticks()
    const handed = parts.changes()
    if (parts.hasMore()) void turn()
    // The heartbeat tells what still waits after that.
    return [...handed, ...questions.changes(), beat()]
  }
  const readings = () => [...parts.readings(), questions.reading, ...heartbeats.readings()]
  const lost = (batches: number) => {
    isNew = true
    parts.lost(batches)
  }
  const exchanges = createExchanges({ store, id, clocks, changes, readings, lost, failed, ended })
  const turn = () => exchanges.turn(false)
  const look = () => {
    const { problem, triedAt = Number.NEGATIVE_INFINITY } = exchanges.state()
    const isDue = problem === undefined ? isNew || ticks() - sentAt >= BEAT_MS : ticks() - triedAt >= RETRY_MS
    if (isDue) void turn()
  }
  return {
    ...{ id, store, turn, time: clock.time, aheadMs: clock.aheadMs, add: parts.add, settle: questions.settle, hear: questions.hear },
    ...{ replicas: heartbeats.replicas, readReplicas: heartbeats.read, unread: heartbeats.unread },
    async start() {
      store.onNews(() => void turn())
      end = clocks.repeat(look, SOON_MS)
      await atMost(firstAnswer(turn, clocks), undefined, START_MS, clocks)
    },
    soon() {
      isNew = true
    },
    now: () => void turn(),
    urgent: () => void exchanges.turn(true),
    state() {
      const state = exchanges.state()
      return { ...state, ...parts.state(), silentMs: ticks() - (state.heardAt ?? startedAt) }
    },
    async close() {
      end()
      isLeaving = true
      const last = async () => {
        while (await turn()) if (!parts.hasMore()) return undefined
        return exchanges.state().problem
      }
      const problem = await atMost(last(), 'the store did not answer in time', START_MS, clocks)
      return store.close().then(() => problem, downReason)
    },
  }
}

/** Resolves when the store has answered, or after `START_MS`. A connection is not there at once. */
async function firstAnswer(turn: () => Promise<boolean>, clocks: FleetClocks): Promise<void> {
  for (const until = clocks.ticks() + START_MS; clocks.ticks() < until && !(await turn()); ) await pause(SOON_MS / 2, clocks)
}
