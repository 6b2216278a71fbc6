import type { Batch, Store } from '../store/store.ts'
import type { StoreChange } from '../store/store-change.ts'
import type { StoreDown } from '../store/store-down.ts'
import type { FleetClocks } from './fleet-clocks.ts'
import { type FleetReading, reading } from './part.ts'

/** Sends batches to the store, one at a time, and hands out what they find. */
export interface Exchanges {
  /** Begins one, or one more after the one under way. Resolves when it was answered: true, or false if the store did not answer. */
  turn(isUrgent: boolean): Promise<boolean>
  state(): ExchangesState
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
  /** The store has lost batches that it had confirmed. */
  readonly lost: () => void
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds for which the store remembers how many batches of a replica it has applied. */
const COUNTED_MS = 600_000

type Wanted = { isUrgent: boolean; readonly answered: Promise<boolean>; readonly end: (isAnswered: boolean) => void }

export function createExchanges({ store, id, clocks, ...parts }: ExchangesParts): Exchanges {
  let state: ExchangesState = {
    ...{ problem: undefined, foreignKey: undefined, heardAt: undefined, downSince: undefined, triedAt: undefined },
    ...{ succeeded: 0, failed: 0 },
  }
  let nth = 0
  /** Batches that the store is known to have lost. */
  let forgotten = 0
  /** A batch that may not have arrived. */
  let unsure: Batch | undefined
  let wanted: Wanted | undefined
  let isRunning = false

  const counted = (batch: Batch): FleetReading => ({
    ...reading('sums', `batches:${id}`, () => {}),
    take(found) {
      const missing = batch.nth - ((found?.value as Readonly<Record<string, number>> | undefined)?.['sent'] ?? 0)
      if (missing <= forgotten) return
      forgotten = missing
      parts.lost()
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
    const readings = [...parts.readings(), counted(batch)]
    const began = clocks.ticks()
    const found = await store.exchange({ ...batch, reads: readings.map(({ read }) => read) }).catch((error: unknown) => error as Error)
    const at = clocks.ticks()
    const before = state
    const isAnswered = !(found instanceof Error)
    state = isAnswered ? answeredAt(before, at) : failedAt(before, at, found)
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
    turn(isUrgent) {
      wanted ??= newTurn()
      wanted.isUrgent ||= isUrgent
      const { answered } = wanted
      void run()
      return answered
    },
    state: () => state,
  }
}

function answeredAt(before: ExchangesState, at: number): ExchangesState {
  const well = { problem: undefined, foreignKey: undefined, downSince: undefined }
  return { ...before, ...well, heardAt: at, triedAt: at, succeeded: before.succeeded + 1 }
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
