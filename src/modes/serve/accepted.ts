import type { Operation } from '../../tables/operations/operation.ts'
import { ANONYMOUS } from '../../upstream/credential.ts'

/**
 * Credentials that a service took for good. Anybody can make one up, with anybody's subject in it; until a service has answered it with
 * success, at an operation that asks for a credential, nothing that came with it is counted, compared or remembered.
 */
export interface Accepted {
  /** Told of a status with which a service itself, v1 or v2, answered a request of this credential. */
  heard(operation: Pick<Operation, 'takesNoToken'>, credential: string, status: number): void
  has(credential: string): boolean
}

/** Credentials remembered; the oldest is forgotten first, and counts again from its next success on. */
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
