import type { FleetMember, FleetView } from '../../migrate/evidence/cutover.ts'
import type { StoreFound, StoreRead } from '../../store/store.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetReplica } from '../heartbeat.ts'
import { upstreamProblems } from '../upstreams.ts'
import type { Epochs } from './epochs.ts'

/** What the store holds of something, after every replica has handed over what it knew when it was asked. */
export interface FleetSnapshot {
  readonly view: FleetView
  /** What was found, in the order of the reads; undefined if the store does not answer. */
  readonly found: readonly StoreFound[] | undefined
}

/** `await snapshot([{ kind: 'sums', name: 'traffic:0' }])`: it takes some seconds if a replica does not answer, and never rejects. */
export type TakeSnapshot = (reads: () => readonly StoreRead[]) => Promise<FleetSnapshot>

/** Milliseconds that the replicas have to hand over what they know. */
const SETTLE_MS = 3000

/** Batches that a replica may need for what waited while the store did not answer. */
const MOST_BATCHES = 50

type Asked = Pick<Fleet, 'id' | 'settle' | 'replicas' | 'store' | 'state'>

/** `epoch` is the hash of what this replica counts. */
export function createSnapshots(fleet: Asked, epochs: Pick<Epochs, 'now'>, epoch: string): TakeSnapshot {
  const settled = async (): Promise<readonly string[]> => {
    for (let left = MOST_BATCHES; ; left -= 1) {
      const { problems } = await fleet.settle(SETTLE_MS)
      const isLate = fleet.replicas().some(({ isLive, waiting }) => isLive && waiting > 0)
      if (!isLate || problems.length === 0 || left === 0) return problems
    }
  }
  return async (reads) => {
    const problems = await settled()
    // What this replica could not hand over is not in the store either.
    const isDown = fleet.state().problem !== undefined
    const found = isDown ? undefined : await fleet.store.read(reads()).catch(() => undefined)
    const replicas = fleet.replicas()
    const others = replicas.filter((one) => one.epoch !== epoch).map(({ id }) => otherEpoch(id))
    const missing = [...problems, ...others, ...upstreamProblems(replicas), ...(found || problems.length > 0 ? [] : [NO_ANSWER])]
    return { view: { self: fleet.id, problems: missing, epoch: epochs.now(), replicas: replicas.map(memberOf) }, found }
  }
}

const NO_ANSWER = 'The store does not answer, so nobody knows what the other replicas have seen.'

function otherEpoch(id: string): string {
  return `Replica ${id} has other mapping tables or another v2 build (upstream.v2Build), so its evidence is not in this answer.`
}

function memberOf({ id, name, seenMs, isLive, version, waiting, dropped, lost }: FleetReplica): FleetMember {
  return { id, name, seenMs, isLive, version, waiting, dropped, lost }
}
