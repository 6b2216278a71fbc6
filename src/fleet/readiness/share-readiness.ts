import type { Migration } from '../../migrate/migration.ts'
import type { FleetEvidence } from '../evidence/share-evidence.ts'
import type { FleetClocks } from '../fleet-clocks.ts'
import type { Leader } from '../leader.ts'
import { createReadinessPart, type ReadinessPart } from './readiness-part.ts'

interface ReadinessOf {
  readonly leader: Leader
  readonly evidence: FleetEvidence
  readonly clocks: FleetClocks
  readonly failed: (error: unknown) => void
}

/** Judges readiness for all replicas, on what all of them have seen. */
export function shareReadiness({ judge, note }: Migration, { leader, evidence, clocks, failed }: ReadinessOf): ReadinessPart {
  const judgeAll = async () => {
    const { operations, traffic, fleet } = await evidence.report.evidence()
    if (fleet === undefined || fleet.problems.length > 0) return undefined
    return judge({ evidence: operations, traffic: new Map(Object.entries(traffic)) })
  }
  return createReadinessPart({ leader, judge: judgeAll, note, now: clocks.now, ticks: clocks.ticks, failed })
}
