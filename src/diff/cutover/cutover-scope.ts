import { covers } from '../../tables/operation.ts'
import type { ClientUses } from './cutover.ts'
import type { Replicas } from './replicas.ts'

/** The part of the traffic that a cutover is asked about. Patterns are those of mode rules; none stands for everything. */
export interface CutoverScope {
  /** Operation ids. */
  readonly operations: readonly string[]
  /** Hashes of callers, or subjects. */
  readonly clients: readonly string[]
}

type Seen = Pick<Replicas, 'evidence' | 'traffic' | 'clients' | 'strangers' | 'openCircuits' | 'rollouts'>

/**
 * Leaves out what is beyond the scope. Traffic is known by client, evidence by operation only: with clients in the scope, their calls
 * decide which operations count, and the evidence stays that of all clients.
 */
export function inScope(seen: Seen, scope: CutoverScope): Seen {
  const chosen = scope.clients.length === 0 ? seen : ofClients(seen, scope.clients)
  const isIn = (operation: string) => scope.operations.length === 0 || scope.operations.some((pattern) => coversUse(pattern, operation))
  return {
    ...chosen,
    evidence: chosen.evidence.filter(({ operation }) => isIn(operation)),
    traffic: new Map([...chosen.traffic].filter(([operation]) => isIn(operation))),
    strangers: new Map([...chosen.strangers].filter(([operation]) => isIn(operation))),
  }
}

/** True if the pattern covers an operation, or that of a parameter value that only v1 knows (`libraries.artifacts.list?ecosystems`). */
export function coversUse(pattern: string, use: string): boolean {
  const [operation = ''] = use.split('?')
  return covers(pattern, use) || covers(pattern, operation)
}

/** True if the pattern covers the caller or the subject of a client. */
export function coversClient(pattern: string, { caller, subject }: ClientUses): boolean {
  return covers(pattern, caller) || (subject !== undefined && covers(pattern, subject))
}

function ofClients(seen: Seen, patterns: readonly string[]): Seen {
  const clients = seen.clients.filter((client) => patterns.some((pattern) => coversClient(pattern, client)))
  const traffic = new Map<string, number>()
  for (const { operation, calls } of clients.flatMap(({ operations }) => operations)) {
    traffic.set(operation, (traffic.get(operation) ?? 0) + calls)
  }
  return { ...seen, clients, traffic, evidence: seen.evidence.filter(({ operation }) => traffic.has(operation)) }
}
