import type { Inventory } from '../diff/clients/inventory.ts'
import type { Identified } from '../serve/caller.ts'
import type { KeepRequest, RequestEnd } from '../serve/sides.ts'
import type { Operation } from '../tables/operation.ts'
import type { PagingSides } from './choose/paging-sides.ts'
import { callerOf } from './journal.ts'
import type { Rollouts, SidedRequest } from './rollout/rollouts.ts'
import type { Accepted } from './serve/accepted.ts'
import type { TrafficCounter } from './traffic.ts'

interface KnownTraffic {
  readonly accepted: Accepted
  readonly traffic: TrafficCounter
  readonly inventory: Inventory
  readonly pagingSides: PagingSides
  readonly rollouts: Pick<Rollouts, 'used'>
  /** Subjects of tokens may be shown and recorded. */
  readonly subjects: boolean
}

/**
 * Returns a function that counts a finished request to an operation of the tables. It returns a `KeepRequest` if the parameters of the request
 * are worth one: those of strangers and of refused requests never are.
 */
export function countKnown({ accepted, traffic, inventory, pagingSides, rollouts, subjects }: KnownTraffic) {
  return (choice: SidedRequest & Identified, operation: Operation, { refused, by, protocol }: RequestEnd): KeepRequest | undefined => {
    const { credential, caller, mode } = choice
    if (!accepted.has(credential)) {
      inventory.stranger(operation.id)
      return undefined
    }
    if (refused) return undefined
    pagingSides.note(mode, operation, caller)
    rollouts.used(choice, operation.id, by)
    return traffic.use(callerOf(choice, subjects), operation.id, mode, protocol)
  }
}
