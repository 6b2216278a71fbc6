import { ANONYMOUS } from '../../serve/caller.ts'
import type { Operation } from '../../tables/operation.ts'

/**
 * The credentials that a service has accepted. Anyone can make up a credential with any subject in it.
 * A request is therefore counted, compared or remembered only after a service answered its credential with success.
 * The answer must come from an operation that asks for a credential.
 */
export interface Accepted {
  /** Notes the status with which a service itself, v1 or v2, answered a request with this credential. */
  heard(operation: Pick<Operation, 'takesNoToken'>, credential: string, status: number): void
  has(credential: string): boolean
}

/** Maximum credentials; the oldest is dropped first, and counts again after its next success. */
const CREDENTIALS = 10_000

export function createAccepted(limit: number = CREDENTIALS): Accepted {
  const known = new Set<string>()
  return {
    heard({ takesNoToken }, credential, status) {
      if (status === 401) known.delete(credential)
      if (status < 200 || status > 299 || takesNoToken || credential === ANONYMOUS || known.has(credential)) return
      const [oldest] = known.size >= limit ? known : []
      if (oldest !== undefined) known.delete(oldest)
      known.add(credential)
    },
    has: (credential) => known.has(credential),
  }
}
