import type { ReportReplica } from '../../fleet/report-fleet.ts'
import { many } from '../format.ts'

/** Returns what is wrong with a replica, in a few words each. Empty if nothing is. */
export function troublesOf({ silentSeconds, behind, unread, dropped, lost }: ReportReplica): readonly string[] {
  return [
    ...(silentSeconds === undefined ? [] : ['silent']),
    ...(behind > 0 ? [`${many(behind, 'version')} of the modes behind`] : []),
    ...(unread === undefined ? [] : [`another version of Crosswalk, which cannot read version ${unread} of the modes`]),
    ...(lost > 0 ? [`${many(lost, 'wrong observation')} lost`] : []),
    ...(dropped > 0 ? [`${many(dropped, 'clean observation')} dropped`] : []),
  ]
}
