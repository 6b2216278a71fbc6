import { z } from 'zod'
import type { NamedWrite, OwnWrites, RecentWrites } from '../../migrate/modes/serve.ts'
import type { LogItem } from '../../store/store.ts'
import type { Operation } from '../../tables/operation.ts'
import type { Fleet } from '../fleet.ts'
import { type Part, reading } from '../part.ts'
import { readText } from '../read-text.ts'

/** Shares the writes of the last minute, so that what one replica wrote excuses a difference that another one meets. */
export interface SharedWrites extends Part {
  /** Resolves when this replica knows the writes of all others up to now: true, or false if it cannot know them in time. */
  told(): Promise<boolean>
}

interface SharedWritesParts {
  readonly ownWrites: Pick<OwnWrites, 'begin' | 'heardMany'>
  readonly recentWrites: Pick<RecentWrites, 'heard' | 'heardMany' | 'own'>
  readonly operations: readonly Operation[]
  readonly fleet: Pick<Fleet, 'id' | 'hear'>
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
}

const NAME = 'writes'

/** Batches of writes that the store keeps, and the time after which it forgets them all. */
const KEPT = 1000
const KEPT_MS = 60_000

/** Milliseconds for which a comparison waits for the others. */
const TOLD_MS = 2000

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

type Written = z.infer<typeof writtenSchema>

/** Writes of others that are under way here, by replica and number. */
type UnderWay = Map<string, { readonly end: () => void; readonly at: number }>

export function createSharedWrites({ ownWrites, recentWrites, operations, fleet, ticks }: SharedWritesParts): SharedWrites {
  const known = new Map(operations.map((operation) => [operation.id, operation]))
  const underWay: UnderWay = new Map()
  let next = 0
  let active: readonly NamedWrite[] = []
  const begin = (replica: string, { number, operation: id, params, uids, caller }: Written['begun'][0]) => {
    const operation = known.get(id)
    if (!operation) return
    const ends = [recentWrites.heard(operation, params, uids), ownWrites.begin(caller)]
    underWay.set(`${replica} ${number}`, { at: ticks(), end: () => void ends.map((end) => end()) })
  }
  const end = (key: string) => {
    underWay.get(key)?.end()
    underWay.delete(key)
  }
  const take = ({ replica, text }: LogItem) => {
    const written = replica === fleet.id ? undefined : readText(writtenSchema, text)
    if (!written) return
    if (written.isCut) for (const writes of [recentWrites, ownWrites]) writes.heardMany()
    for (const one of written.begun) begin(replica, one)
    for (const number of written.ended) end(`${replica} ${number}`)
  }
  const log = reading('log', NAME, (items) => items.forEach(take))
  return {
    changes() {
      // The replica may have died before it told the end.
      for (const [key, { at }] of underWay) if (ticks() - at > KEPT_MS) end(key)
      const own = recentWrites.own(next)
      next = own.next
      const told = [...active, ...own.writes]
      active = told.filter((write) => write.active)
      const ended = told.filter((write) => !write.active).map(({ number }) => number)
      if (own.writes.length + ended.length === 0 && !own.isCut) return []
      const written: Written = { begun: own.writes.map(textOf), ended, isCut: own.isCut }
      return [{ kind: 'log', name: NAME, text: JSON.stringify(written), items: KEPT, keepMs: KEPT_MS }]
    },
    readings: () => [log],
    told: shared(() => fleet.hear(TOLD_MS)),
  }
}

function textOf({ number, operation, params, uids, caller }: NamedWrite): Written['begun'][0] {
  return { number, operation: operation.id, params, caller, ...(uids && { uids: [...uids] }) }
}

/** Asks for all that wait at the same time at once. A question that was asked before the call answers nothing. */
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
