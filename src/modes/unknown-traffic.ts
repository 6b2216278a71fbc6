import type { IncomingHttpHeaders } from 'node:http'
import type { Inventory } from '../diff/clients/inventory.ts'
import { createUnknownUses } from '../diff/clients/uses.ts'
import { identify } from '../serve/caller.ts'
import { callerOf } from './journal.ts'
import type { Accepted } from './serve/accepted.ts'
import type { TrafficCounter } from './traffic.ts'

/**
 * Returns a function that counts a request that v1 answered well at a path that no table has. Such a path may need no credential, so its
 * answer accepts no caller: strangers are counted apart, and cannot use up the names of paths that clients call.
 */
export function countUnknown(accepted: Accepted, traffic: TrafficCounter, inventory: Inventory, subjects: boolean) {
  const nameOf = { client: createUnknownUses(), stranger: createUnknownUses() }
  return (method: string, path: string, { authorization }: IncomingHttpHeaders): void => {
    const who = identify(authorization)
    if (accepted.has(who.credential)) traffic.use(callerOf(who, subjects), nameOf.client(method, path), 'v1')
    else inventory.stranger(nameOf.stranger(method, path))
  }
}
