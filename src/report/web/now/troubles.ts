import type { ReportReplica } from '../../fleet/report-fleet.ts'
import { many } from '../format.ts'

/** Returns what is wrong with a replica, in a few words each. Empty if nothing is. */
export function troublesOf({ silentSeconds, behind, dropped, lost }: ReportReplica): readonly string[] {
  return [
    ...(silentSeconds === undefined ? [] : ['silent']),
    ...(behind > 0 ? [`${many(behind, 'version')} of the modes behind`] : []),
    ...(lost > 0 ? [`${many(lost, 'wrong observation')} lost`] : []),
    ...(dropped > 0 ? [`${many(dropped, 'clean observation')} dropped`] : []),
  ]
}
