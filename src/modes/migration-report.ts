import type { Client } from '../diff/clients/client.ts'
import { TARGET } from '../diff/cutover/cutover.ts'
import type { FleetView } from '../diff/cutover/fleet-view.ts'
import type { CircuitState } from '../diff/evidence/circuit.ts'
import { moreNeeded, type OperationEvidence } from '../diff/evidence/evidence.ts'
import { daysNeeded } from '../diff/evidence/standing.ts'
import { uncomparedSentences } from '../diff/evidence/uncompared.ts'
import type { DeclarationReport } from '../diff/judge/expected.ts'
import type { NoisyMember } from '../diff/judge/noise.ts'
import type { Comparison } from '../diff/records/record.ts'
import type { ComparisonQuery } from '../diff/records/recorder.ts'
import type { Journal } from './journal.ts'
import type { Queue, QueueCounts } from './observe/queue.ts'
import { nothingSkipped, type Skipped } from './observe/skipped.ts'
import type { Budget } from './serve/budget.ts'

/** What is known of one operation, and how far it is from the usual target. */
export interface OperationProgress extends OperationEvidence {
  /** Clean observations that are still needed. */
  readonly needed: number
  /** Days that they take at today's pace; absent while it is unknown. */
  readonly days?: number
  /** What was not compared, why, and what to change, in sentences. */
  readonly hints: readonly string[]
  readonly circuit: CircuitState
}

/** Requests of one process, or of all replicas of a fleet. */
export interface CountedTraffic {
  /** v1 requests by operation id, compared or not. */
  readonly traffic: Readonly<Record<string, number>>
  /** Requests by operation id whose credential no service accepted. They are not counted elsewhere. */
  readonly strangers: Readonly<Record<string, number>>
  /** Calls of clients beyond those that are told apart. `traffic` includes them. */
  readonly uncounted: number
}

/** What the evidence of a report is made of. */
export interface CountedEvidence extends CountedTraffic {
  readonly evidence: readonly OperationEvidence[]
}

/** All evidence so far; the admin port's `GET /evidence`. */
export interface EvidenceReport extends CountedTraffic {
  readonly target: number
  readonly operations: readonly OperationProgress[]
  /** By operation id, also of operations that were not compared. */
  readonly circuits: Readonly<Record<string, CircuitState>>
  readonly declarations: readonly DeclarationReport[]
  readonly noise: readonly NoisyMember[]
  readonly queue: QueueCounts
  readonly skipped: Skipped
  readonly fallbacks: Budget['counts']
  readonly records: { readonly dropped: number; readonly problem?: string }
  /** Present if replicas share a store. All counts are then theirs, except `queue`, `skipped`, `fallbacks` and `records` of the one that answers. */
  readonly fleet?: FleetView
}

export interface MigrationReport {
  /** Of what this process has counted, or of what is given. */
  evidence(counted?: CountedEvidence): EvidenceReport
  /** Why each open circuit opened, by operation id. */
  openCircuits(): Readonly<Record<string, string>>
  clients(): readonly Client[]
  comparisons(query: ComparisonQuery): readonly Comparison[]
}

interface Sources {
  readonly journal: Journal
  readonly queue: Queue
  readonly skipped: Skipped | undefined
  readonly budget: Budget
}

function progressOf(one: OperationEvidence): Omit<OperationProgress, 'circuit'> {
  const days = daysNeeded(one, TARGET)
  return { ...one, needed: moreNeeded(one, TARGET), ...(days !== undefined && { days }), hints: uncomparedSentences(one.uncompared) }
}

export function createReport({ journal, queue, skipped, budget }: Sources): MigrationReport {
  const { evidence, inventory, circuit, expected, judging, recorder } = journal
  const own = (): CountedEvidence => ({
    evidence: evidence.all(),
    traffic: Object.fromEntries(inventory.traffic()),
    strangers: Object.fromEntries(inventory.strangers()),
    uncounted: inventory.uncounted(),
  })
  return {
    evidence({ evidence: counted, ...traffic } = own()) {
      const problem = recorder.problem()
      const rows = counted.map((one) => ({ ...progressOf(one), circuit: circuit.state(one.operation) }))
      return {
        target: TARGET,
        operations: rows,
        ...traffic,
        circuits: Object.fromEntries(circuit.all()),
        declarations: expected.report(),
        noise: judging.noise.members(),
        queue: queue.counts(),
        skipped: skipped ?? nothingSkipped(),
        fallbacks: budget.counts,
        records: { dropped: recorder.dropped(), ...(problem !== undefined && { problem }) },
      }
    },
    openCircuits() {
      const open = [...circuit.all()].filter(([, { state }]) => state === 'open')
      return Object.fromEntries(open.map(([operation, { reason }]) => [operation, reason]))
    },
    clients: inventory.clients,
    comparisons: recorder.comparisons,
  }
}
