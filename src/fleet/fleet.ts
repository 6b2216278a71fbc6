import type { Store } from '../store/store.ts'
import type { StoreChange } from '../store/store-change.ts'
import { createAllParts } from './all-parts.ts'
import { createExchanges, type ExchangesState } from './exchanges.ts'
import { atMost, type FleetClocks, pause } from './fleet-clocks.ts'
import { BEAT_MS, type BeatText, type FleetReplica, LISTED_MS, type UnreadReplica } from './heartbeat.ts'
import type { Part, PartState } from './part.ts'
import { createRoll } from './roll.ts'
import { createQuestions, type Settled } from './settle.ts'
import { createStoreClock } from './store-clock.ts'

/** This process as one of the replicas that share a store. */
export interface Fleet {
  /** Tells this process from every other, and from those before it. */
  readonly id: string
  readonly store: Store
  /** The time that all replicas agree on, in milliseconds since 1970: a clock of one of them may be wrong. */
  time(): number
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
  /** Says goodbye to the store, if it answers, and closes it. */
  close(): Promise<void>
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
  const roll = createRoll(store, id, clocks, clock.heard)
  const listed = { readReplicas: roll.read, unread: roll.unread }
  const questions = createQuestions({ turn: (isUrgent) => exchanges.turn(isUrgent), asked: parts.asked, ...listed, clocks })
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
  const readings = () => [...parts.readings(), questions.reading, ...roll.readings()]
  const lost = () => {
    isNew = true
    parts.lost()
  }
  const exchanges = createExchanges({ store, id, clocks, changes, readings, lost, failed, ended })
  const turn = () => exchanges.turn(false)
  const look = () => {
    const { problem, triedAt = Number.NEGATIVE_INFINITY } = exchanges.state()
    const isDue = problem === undefined ? isNew || ticks() - sentAt >= BEAT_MS : ticks() - triedAt >= RETRY_MS
    if (isDue) void turn()
  }
  return {
    ...{ id, store, turn, time: clock.time, add: parts.add, settle: questions.settle, hear: questions.hear },
    ...{ replicas: roll.replicas, ...listed },
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
        while ((await turn()) && parts.hasMore());
      }
      await atMost(last(), undefined, START_MS, clocks)
      await store.close()
    },
  }
}

/** Resolves when the store has answered, or after `START_MS`. A connection is not there at once. */
async function firstAnswer(turn: () => Promise<boolean>, clocks: FleetClocks): Promise<void> {
  for (const until = clocks.ticks() + START_MS; clocks.ticks() < until && !(await turn()); ) await pause(SOON_MS / 2, clocks)
}
