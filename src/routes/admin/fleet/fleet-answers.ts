import type { FastifyReply } from 'fastify'
import type { Client } from '../../../migrate/clients.ts'
import type { Comparison } from '../../../migrate/records/record.ts'
import type { ComparisonQuery } from '../../../migrate/records/record-file.ts'
import type { FleetCounted } from '../../../report/fleet/fleet-counted.ts'

/** What all replicas know together. */
export interface FleetAnswers {
  clients(): Promise<FleetAnswer<readonly Client[]>>
  comparisons(query: ComparisonQuery): Promise<FleetAnswer<readonly Comparison[]>>
  /** What a report is made of. */
  counted(): Promise<FleetCounted>
  /** Is called for each comparison of another replica that a report reads. */
  onComparison(listener: (comparison: Comparison) => void): void
}

/** An answer of the fleet, or of this replica alone if the store does not answer. */
export interface FleetAnswer<T> {
  readonly answer: T
  /** What is missing in it, in sentences. Empty if it is that of all replicas, up to the question. */
  readonly problems: readonly string[]
}

/** Tells in a header what is missing, because the body is a list. */
export const INCOMPLETE = 'x-crosswalk-incomplete'

/** Returns the body of an answer, and says in a header what is missing in it. */
export function toldBy<T>(reply: FastifyReply, { answer, problems }: FleetAnswer<T>): T {
  if (problems.length > 0) reply.header(INCOMPLETE, problems.join(' ').replace(/[^ -~]/g, '?'))
  return answer
}
