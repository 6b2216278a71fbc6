import type { Actor } from '../../migrate/records/record.ts'
import type { Rollouts } from '../../migrate/rollout/rollouts.ts'
import type { RolloutCommand } from '../../migrate/rollout/run.ts'
import type { Fleet } from '../fleet.ts'
import { atMost, type FleetClocks } from '../fleet-clocks.ts'
import type { Leader } from '../leader.ts'
import type { Part } from '../part.ts'
import { createKnownEvidence } from './known-evidence.ts'
import { createRolloutDocuments } from './rollout-documents.ts'
import { createRolloutLeading } from './rollout-leading.ts'
import { createRolloutPublisher } from './rollout-publisher.ts'
import { createSharedSteps } from './shared-steps.ts'
import { createFleetSteering, type SteerProblem } from './steer-fleet.ts'

/** The rollouts of the fleet: one replica decides, on what all have seen, and the others follow. */
export interface RolloutsPart extends Part {
  /** Looks at all of them, as the replica that decides. Call it every second; nothing depends on the exact time. */
  look(): void
  /** Gives a command that holds for all replicas. */
  steer(name: string, command: RolloutCommand, by: Actor): Promise<SteerProblem | undefined>
}

interface RolloutsPartSources {
  readonly fleet: Pick<Fleet, 'id' | 'store' | 'urgent' | 'soon' | 'turn' | 'settle'>
  readonly leader: Pick<Leader, 'isSelf'>
  readonly rollouts: Rollouts
  /** The version of the modes in force here. */
  readonly modesVersion: () => number
  /** The name of the sums of evidence of the present epoch. */
  readonly evidenceName: () => string
  readonly clocks: FleetClocks
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** The longest that a command waits for the store, in milliseconds. The store itself gives up a little earlier, and then changes nothing. */
const ANSWER_MS = 280

export function createRolloutsPart({ fleet, leader, rollouts, evidenceName, modesVersion, ...rest }: RolloutsPartSources): RolloutsPart {
  const { id, store } = fleet
  const { clocks, failed } = rest
  const within = <T>(answer: Promise<T>) =>
    atMost(
      answer.catch(() => 'down' as const),
      'down' as const,
      ANSWER_MS,
      clocks,
    )
  const documents = createRolloutDocuments({ rollouts, modesVersion })
  const publisher = createRolloutPublisher({ store, documents, modesVersion, within })
  const steps = createSharedSteps({ id, rollouts, documents, ticks: clocks.ticks })
  const known = createKnownEvidence({ store, name: evidenceName, ticks: clocks.ticks })
  rollouts.know(known.of)
  const steering = createFleetSteering({ fleet, rollouts, documents, publisher, known, within })
  const leading = createRolloutLeading({ fleet, leader, rollouts, documents, publisher, steps, known, steering, clocks, within, failed })
  // A circuit that opened takes the share of the fleet to 0 at once.
  rollouts.onMove(() => queueMicrotask(leading.look))
  return {
    changes() {
      const changes = [...documents.changes(), ...leading.changes(), ...steps.changes()]
      if (steps.waiting() > 0) fleet.soon()
      return changes
    },
    readings: () => [...documents.readings(), ...steps.readings(leader.isSelf()), ...known.readings(leader.isSelf())],
    state: () => ({ waiting: steps.waiting(), dropped: 0, lost: 0 }),
    lost: documents.lost,
    look: leading.look,
    steer: steering.steer,
  }
}
