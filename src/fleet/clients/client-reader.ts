import { type Client, clientOf, createKeptUses, createUseOf } from '../../migrate/clients.ts'
import type { Store, StoreFound } from '../../store/store.ts'
import type { Sums } from '../../store/store-change.ts'
import type { Operation } from '../../tables/operation.ts'
import { clientNames, SPREAD } from './client-names.ts'
import { type ClientTexts, clientsFromSums } from './clients-from-sums.ts'
import { CLIENTS } from './clients-part.ts'

/** The clients of a fleet, most calls first, and the calls of those beyond the ones that are told apart. */
export interface FleetClients {
  readonly clients: readonly Client[]
  readonly uncounted: number
}

/** Reads the clients of an epoch. Rejects as `Store.read` does. */
export type ReadClients = (nth: number) => Promise<FleetClients>

/** Numbers that are read at the same time. */
const AT_ONCE = 4

/** Maximum kinds of requests, and places of differences, of the clients of one number. */
const KEPT = 1000

interface KnownNumber {
  readonly sums: StoreFound
  readonly texts: StoreFound
  readonly clients: readonly Client[]
}

/** What did not change since the last reading is not read again. */
export function createClientReader(store: Pick<Store, 'read'>, operations: readonly Operation[]): ReadClients {
  const useOf = createUseOf(operations)
  let known = new Map<number, KnownNumber>()
  let epoch = 0
  const clientsOf = (sums: StoreFound, texts: StoreFound) => {
    const found = clientsFromSums((sums?.value ?? {}) as Sums, (texts?.value ?? {}) as ClientTexts, createKeptUses(KEPT))
    return [...found].flatMap(([caller, one]) => clientOf(caller, one, useOf) ?? [])
  }
  const readNumber = async (nth: number, number: number): Promise<readonly Client[]> => {
    const names = clientNames(nth, number)
    const before = known.get(number)
    const read = (kind: 'sums' | 'texts') => {
      const stamp = before?.[kind]?.stamp
      return { kind, name: names[kind], ...(stamp !== undefined && { known: stamp }) }
    }
    const [sums, texts] = await store.read([read('sums'), read('texts')])
    if (before && !sums && !texts) return before.clients
    const now = { sums: sums ?? before?.sums, texts: texts ?? before?.texts }
    const clients = clientsOf(now.sums, now.texts)
    known.set(number, { ...now, clients })
    return clients
  }
  return async (nth) => {
    if (nth !== epoch) known = new Map()
    epoch = nth
    const found: Client[] = []
    for (let first = 0; first < SPREAD; first += AT_ONCE) {
      const numbers = Array.from({ length: AT_ONCE }, (_, more) => first + more)
      found.push(...(await Promise.all(numbers.map((number) => readNumber(nth, number)))).flat())
    }
    found.sort((a, b) => b.calls - a.calls || (a.caller < b.caller ? -1 : 1))
    return { clients: found.slice(0, CLIENTS), uncounted: found.slice(CLIENTS).reduce((sum, { calls }) => sum + calls, 0) }
  }
}
