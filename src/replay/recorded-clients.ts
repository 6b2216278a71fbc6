import { type Client, createInventory, createUnknownUses, type Inventory, type KindOf } from '../migrate/clients.ts'
import type { Mapping } from '../tables/operation.ts'
import { createRouteRecorded } from './route-recorded.ts'
import { createCountedCalls } from './traffic/counted-calls.ts'
import type { Counted, RecordedRequest, Traffic } from './traffic/recorded-traffic.ts'

/** Returns the clients of recorded traffic as the proxy would have counted them. Requests without a client count for none. */
export async function recordedClients({ items }: Traffic, mappings: readonly Mapping[], kindOf: KindOf): Promise<readonly Client[]> {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const inventory = createInventory(operations)
  const sent = countSent(inventory, mappings, kindOf)
  const countedCall = createCountedCalls(mappings)
  for await (const recorded of items) {
    const item = countedCall(recorded)
    const { client, at = 0 } = item
    if (client === undefined) continue
    if ('operation' in item) countSum(inventory, client, at, item)
    else sent(client, at, item)
  }
  return inventory.clients()
}

function countSum(inventory: Inventory, caller: string, at: number, { operation, times, requests = [] }: Counted): void {
  if (times > 0) inventory.use({ caller }, { operation, mode: 'v1', calls: times, at })
  for (const { samples, ...kind } of requests) inventory.look(caller, operation, kind, samples)
}

function countSent(inventory: Inventory, mappings: readonly Mapping[], kindOf: KindOf) {
  const byId = new Map(mappings.flatMap(({ operations }) => operations.map((operation) => [operation.id, operation])))
  const placeOf = createRouteRecorded(mappings)
  const nameOf = createUnknownUses()
  return (caller: string, at: number, item: RecordedRequest): void => {
    const place = placeOf(item)
    const isAnswered = item.status !== undefined && item.status < 400
    if (place.kind === 'unknown' && isAnswered) inventory.use({ caller }, { operation: nameOf(item.method, place.path), mode: 'v1', at })
    if (place.kind !== 'operation') return
    const { id } = place.operation
    const isWorthALook = inventory.use({ caller }, { operation: id, mode: 'v1', at })
    // A value that only v1 has is counted by a name of its own; the tables of its operation know the parameters.
    const described = byId.get(id.split('?')[0] ?? '')
    if (isWorthALook && described) inventory.look(caller, id, kindOf(described, place.request))
  }
}
