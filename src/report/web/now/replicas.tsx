import type { ReportFleet, ReportReplica } from '../../fleet/report-fleet.ts'
import { duration, many, time } from '../format.ts'
import { troublesOf, unwellIn } from './troubles.ts'

/** Says how many processes share the store, and whether one is missing. */
export function ReplicaChip({ fleet }: { readonly fleet: ReportFleet }) {
  const unwell = unwellIn(fleet).length
  const all = many(fleet.replicas.length + fleet.unread.length, 'replica')
  if (unwell === 0) return <span class="strip-item">{all}</span>
  return (
    <span class="chip is-bare is-outside">
      {unwell} of {all} not well
    </span>
  )
}

/** Lists the processes that share the store, and what each does and lacks. */
export function Replicas({ fleet: { replicas, unread, epoch } }: { readonly fleet: ReportFleet }) {
  return (
    <section>
      <h2>Replicas</h2>
      <ul>
        {replicas.map((one) => (
          <Replica key={one.id} replica={one} />
        ))}
        {unread.map(({ id, silentSeconds }) => (
          <li key={id}>
            <strong>{id}</strong> <span class="chip is-bare is-outside">speaks a newer version</span>
            <span class="quiet below">
              Its heartbeat cannot be read, {heardOf(silentSeconds)}. What it has seen is known once it has handed it over.
            </span>
          </li>
        ))}
      </ul>
      <p class="quiet">
        {epoch.at === undefined ? 'No epoch was begun' : `Epoch ${epoch.nth} since ${time(Date.parse(epoch.at)).slice(0, 16)}`}
        {epoch.build !== undefined && `, v2 build ${epoch.build}`}.
      </p>
    </section>
  )
}

function Replica({ replica }: { readonly replica: ReportReplica }) {
  const { id, isSelf, isLeader, since, version, waiting, silentSeconds } = replica
  const troubles = troublesOf(replica)
  const roles = [...(isSelf ? ['this one'] : []), ...(isLeader ? ['leader'] : [])]
  return (
    <li>
      <strong>{id}</strong> {roles.length > 0 && <span class="quiet">({roles.join(', ')}) </span>}
      {troubles.length === 0 && <span class="chip is-bare is-inside">up to date</span>}
      {troubles.map((trouble) => (
        <span key={trouble}>
          <span class="chip is-bare is-outside">{trouble}</span>{' '}
        </span>
      ))}
      <span class="quiet below">
        Modes version {version}, {heardOf(silentSeconds)},{' '}
        {waiting === 0 ? 'nothing waits' : `${many(waiting, 'observation')} ${waiting === 1 ? 'waits' : 'wait'}`}. Since{' '}
        {time(since).slice(0, 16)}.
      </span>
    </li>
  )
}

function heardOf(silentSeconds: number | undefined): string {
  return silentSeconds === undefined ? 'heard of just now' : `last heard of ${duration(silentSeconds * 1_000)} ago`
}
