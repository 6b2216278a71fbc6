import type { FleetMember } from '../../migrate/evidence/cutover.ts'
import type { EvidenceReport, MigrationReport } from '../../migrate/migration.ts'
import type { StoreRead } from '../../store/store.ts'
import type { Sums } from '../../store/store-change.ts'
import { declaredIn, trafficIn } from './counters.ts'
import { evidenceFromSums, paceNames } from './evidence-from-sums.ts'
import { type EvidenceNames, fieldOf } from './evidence-names.ts'
import type { TakeSnapshot } from './fleet-snapshot.ts'

/** What the admin port answers for all replicas. */
export interface FleetReport {
  /** Without an answer of the store, the evidence is that of this replica, and `fleet.problems` says so. */
  evidence(): Promise<EvidenceReport>
}

interface FleetReportSources {
  readonly snapshot: TakeSnapshot
  readonly names: () => EvidenceNames
  /** What this replica knows by itself. */
  readonly own: Pick<MigrationReport, 'evidence'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

export function createFleetReport({ snapshot, names, own, now }: FleetReportSources): FleetReport {
  return {
    async evidence() {
      let hours: readonly number[] = []
      const { view, found } = await snapshot(() => {
        const pace = paceNames(names(), now())
        hours = pace.map(([hour]) => hour)
        const { evidence, declared, traffic } = names()
        return [evidence, declared, traffic, ...pace.map(([, name]) => name)].map((name): StoreRead => ({ kind: 'sums', name }))
      })
      if (!found) return { ...own.evidence(), fleet: view }
      const [sums = {}, declared = {}, traffic = {}, ...pace] = found.map((one) => one?.value as Sums | undefined)
      const ofHours = hours.map((hour, nth) => [hour, pace[nth] ?? {}] as const)
      const counted = { evidence: evidenceFromSums(sums, ofHours), ...trafficIn(traffic) }
      const { declarations, ...rest } = own.evidence(counted)
      const lost = lostSentences(sums, view.replicas)
      return { ...rest, declarations: declaredIn(declared, declarations), fleet: { ...view, problems: [...view.problems, ...lost] } }
    },
  }
}

const LOST = fieldOf('lost', '')

/** Tells of replicas that are gone. Those that live say it themselves. */
function lostSentences(sums: Sums, replicas: readonly FleetMember[]): readonly string[] {
  return Object.entries(sums).flatMap(([field, count]) => {
    const id = field.slice(LOST.length)
    if (!field.startsWith(LOST) || replicas.some((one) => one.id === id)) return []
    return [`Replica ${id} had no room for ${count} bad observations while the store did not answer; begin a new epoch.`]
  })
}
