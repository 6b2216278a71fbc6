import type { ReportFleet, ReportReplica } from '../../fleet/report-fleet.ts'
import { many } from '../format.ts'

/** Returns what is wrong with a replica, in a few words each. Empty if nothing is. */
export function troublesOf({ silentSeconds, behind, unread, otherServices = [], dropped, lost }: ReportReplica): readonly string[] {
  return [
    ...(silentSeconds === undefined ? [] : ['silent']),
    ...(behind > 0 ? [`${many(behind, 'version')} of the modes behind`] : []),
    ...(unread === undefined ? [] : [`another version of Crosswalk, which cannot read version ${unread} of the modes`]),
    ...otherServices.map((service) => `another upstream.${service}`),
    ...(lost > 0 ? [`${many(lost, 'wrong observation')} lost`] : []),
    ...(dropped > 0 ? [`${many(dropped, 'clean observation')} dropped`] : []),
  ]
}

/** Returns the ids of the replicas that are not well. */
export function unwellIn({ replicas, unread }: Pick<ReportFleet, 'replicas' | 'unread'>): readonly string[] {
  return [...replicas.filter((one) => troublesOf(one).length > 0), ...unread].map(({ id }) => id)
}

/** Returns what is wrong with a fleet, in sentences. What a sentence of `problems` says of a replica is not said again. */
export function sentencesOf({ problems, replicas }: ReportFleet): readonly string[] {
  const more = replicas.flatMap((one) => {
    const isNamed = problems.some((problem) => problem.startsWith(`Replica ${one.id} `))
    const { silentSeconds: _, ...heard } = one
    const troubles = troublesOf(isNamed ? { ...heard, otherServices: [], lost: 0 } : one)
    return troubles.length === 0 ? [] : [`Replica ${one.id}: ${troubles.join(', ')}.`]
  })
  return [...problems, ...more]
}
