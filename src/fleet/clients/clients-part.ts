import type { Entry, TrafficEntry } from '../../migrate/records/record.ts'
import type { StoreChange } from '../../store/store-change.ts'
import { type FleetReading, type Part, reading } from '../part.ts'
import { clientChanges } from './client-changes.ts'
import { callersName } from './client-names.ts'
import { createPendingUses, type PendingUse } from './pending-uses.ts'

/** Tells the store which client calls what. */
export interface ClientsPart extends Part {
  /** Takes an entry that is recorded now. */
  entry(entry: Entry): void
  /** What comes from now on belongs to another epoch. */
  begin(nth: number): void
}

interface ClientsPartSources {
  /** The number of the epoch. */
  readonly nth: number
  /** Counts calls of clients beyond those that the fleet tells apart. */
  readonly uncounted: (nth: number, calls: number) => StoreChange
  /** Brings the calls that are not recorded yet. */
  readonly flush: () => void
  /** Asks for an exchange. */
  readonly soon: () => void
  /** The time of all replicas of an entry that this one dated, in milliseconds since 1970. */
  readonly timeOf: (at: string) => number
  /** Maximum clients that a fleet tells apart, about: replicas that find new ones at the same time may go beyond it. */
  readonly limit?: number
}

/** Maximum clients that are told apart. */
export const CLIENTS = 10_000

/** Maximum uses of one batch: the store does nothing else meanwhile. */
const MOST_AT_ONCE = 300

export function createClientsPart({ nth: initial, uncounted, flush, soon, timeOf, limit = CLIENTS }: ClientsPartSources): ClientsPart {
  const pending = createPendingUses()
  /** Clients of an epoch that this replica has told of, with their subjects. */
  let told = new Map<string, string | undefined>()
  let admitted = new Set<string>()
  let nth = initial
  let further = 0
  let isFull = false
  const callersReading = (): FleetReading =>
    reading('sums', callersName(nth), ({ callers = 0 }) => {
      isFull = callers >= limit
    })
  let callers = callersReading()

  const admits = (caller: string) => {
    if (admitted.has(caller)) return true
    if (isFull || admitted.size >= limit) return false
    admitted.add(caller)
    return true
  }
  const forget = () => {
    told = new Map()
    admitted = new Set()
    pending.forget()
  }
  const traffic = (entry: TrafficEntry) => {
    if (admits(entry.caller)) pending.traffic(nth, entry, timeOf(entry.at))
    // Beyond its own limit, the inventory of this replica has counted them.
    else if (admitted.size < limit) further += entry.calls
  }
  const changesOf = (use: PendingUse): readonly StoreChange[] => {
    const { caller, subject } = use
    const known = `${use.nth} ${caller}`
    const isNew = !told.has(known)
    const isRenamed = subject !== undefined && told.get(known) !== subject
    if (isNew || isRenamed) told.set(known, subject ?? told.get(known))
    const joins: StoreChange = { kind: 'join', name: callersName(use.nth), field: 'callers', member: caller, most: limit }
    return [...(isNew ? [joins] : []), ...clientChanges(use, isRenamed ? subject : undefined)]
  }
  const restOf = (): readonly StoreChange[] => {
    if (further === 0) return []
    const calls = further
    further = 0
    return [uncounted(nth, calls)]
  }
  return {
    entry(entry) {
      if (entry.kind === 'traffic') traffic(entry)
      else if (entry.kind === 'comparison' && admits(entry.caller)) pending.compared(nth, entry)
      else return
      soon()
    },
    begin(next) {
      flush()
      forget()
      nth = next
      isFull = false
      callers = callersReading()
    },
    changes() {
      const changes = [...restOf(), ...pending.take(MOST_AT_ONCE).flatMap(changesOf)]
      if (pending.waiting() > 0) soon()
      return changes
    },
    readings: () => [callers],
    state: () => ({ waiting: pending.waiting(), dropped: 0, lost: 0 }),
    asked: flush,
    lost: forget,
  }
}
