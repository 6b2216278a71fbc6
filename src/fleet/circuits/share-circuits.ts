import type { Migration } from '../../migrate/migration.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetClocks } from '../fleet-clocks.ts'
import { createOpenCircuits } from './open-circuits.ts'
import { createOthersCounts } from './others-counts.ts'

/** Shares the circuits of a replica with its fleet: what all see of v2, and which are open. */
export function shareCircuits({ journal, modes, rollouts }: Migration, fleet: Fleet, { now, ticks }: FleetClocks): void {
  const { circuit, teller } = journal
  const version = () => modes.state().version
  const counts = createOthersCounts({ circuit, heard: teller.heard, version, fleet, ticks })
  const open = createOpenCircuits({ circuit, version, fleet, moved: rollouts.look, now })
  const turned: typeof open.turned = (operation, note) => {
    // A rollout takes its share to 0 before the store has answered.
    rollouts.look()
    return open.turned(operation, note)
  }
  teller.follow({ turned, bad: counts.bad })
  // What the others saw may open a circuit, which then goes with the same batch.
  fleet.add(counts)
  fleet.add(open)
}
