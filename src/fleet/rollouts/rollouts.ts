import type { Actor } from '../../migrate/records/record.ts'
import type { RolloutRun, Rollouts } from '../../migrate/rollout/rollouts.ts'
import type { RolloutCommand } from '../../migrate/rollout/run.ts'
import type { Proposal } from '../../migrate/rollout/shared-run.ts'
import { atMost, type FleetClocks, type Part } from '../exchange.ts'
import type { Fleet, Leader } from '../fleet.ts'
import type { StoreChange } from '../store/store.ts'
import {
  createRolloutDocuments,
  createRolloutPublisher,
  newName,
  type RolloutDocuments,
  type RolloutPublisher,
  sharedOf,
} from './documents.ts'
import {
  changesOfCounts,
  createFleetSteering,
  createKnownEvidence,
  createSharedSteps,
  type FleetSteering,
  type KnownEvidence,
  type SharedSteps,
  type SteerProblem,
  stepKey,
} from './steps.ts'

/** Decides about the rollouts, at the replica that does. */
export interface RolloutLeading {
  /** Looks at all of them. It does nothing at another replica, but for a command that its store has not got yet. */
  look(): void
  changes(): readonly StoreChange[]
}

interface LeadingSources {
  readonly fleet: Pick<Fleet, 'store' | 'urgent' | 'turn' | 'settle'>
  readonly leader: Pick<Leader, 'isSelf'>
  readonly rollouts: Rollouts
  readonly documents: RolloutDocuments
  readonly publisher: RolloutPublisher
  readonly steps: SharedSteps
  readonly known: KnownEvidence
  readonly steering: FleetSteering
  readonly clocks: Pick<FleetClocks, 'ticks'>
  readonly within: <T>(answer: Promise<T>) => Promise<T | 'down'>
  readonly failed: (error: unknown) => void
}

/** The longest that a replica may take to hand over what it has seen before the share grows, in milliseconds. */
const SETTLE_MS = 1000

/** Milliseconds between two records of the time that passed. */
const PROGRESS_MS = 10_000

export function createRolloutLeading(sources: LeadingSources): RolloutLeading {
  const { fleet, leader, rollouts, documents, publisher, steps, known, steering, clocks, within, failed } = sources
  const seeds: StoreChange[] = []
  const busy = new Set<RolloutRun>()
  const writtenAt = new WeakMap<RolloutRun, number>()

  const begin = async (run: RolloutRun) => {
    const { name } = run.plan
    const shared = sharedOf(run)
    const life = newName()
    const saved = shared.saved()
    // What records know of the step comes first: whoever reads the step must not think that it was lost.
    seeds.push(...changesOfCounts(stepKey(name, { life }, saved.state), saved.counts))
    if (seeds.length > 0 && !(await fleet.turn())) return
    if ((await publisher.begin(run, life)) !== 'done') return
    if (shared.opening !== '') run.begin(shared.opening, { source: 'start' })
    shared.opening = ''
    fleet.urgent()
  }
  /** Decides again on what every replica has seen until now. */
  const settled = async (run: RolloutRun): Promise<Proposal | undefined> => {
    const { problems } = await fleet.settle(SETTLE_MS)
    const shared = sharedOf(run)
    shared.waits = problems.join(' ')
    if (problems.length > 0 || (await within(Promise.all([steps.read(fleet.store, run), known.read()]))) === 'down') return undefined
    return shared.lookAgain(steps.plights(run))
  }
  const move = async (run: RolloutRun, proposed: Proposal) => {
    const proposal = proposed.isAdvance ? await settled(run) : proposed
    if (proposal && (await publisher.move(run, proposal)) === 'done') fleet.urgent()
  }
  const lookAt = async (run: RolloutRun) => {
    const { name } = run.plan
    const shared = sharedOf(run)
    const by = shared.pulled()?.why
    if (typeof by === 'object') return void (await steering.steer(name, 'abort', by))
    if (!leader.isSelf() || !documents.held(name)) return
    if (!documents.followed(name)) return documents.mayBegin(name) ? begin(run) : undefined
    const proposal = shared.look(steps.plights(run))
    if (proposal) return move(run, proposal)
    shared.waits = ''
    if (clocks.ticks() - (writtenAt.get(run) ?? Number.NEGATIVE_INFINITY) < PROGRESS_MS) return
    writtenAt.set(run, clocks.ticks())
    await publisher.progress(run)
  }
  const look = () => {
    for (const run of rollouts.runs().values()) {
      if (busy.has(run)) continue
      busy.add(run)
      lookAt(run)
        .catch(failed)
        .finally(() => busy.delete(run))
    }
  }
  return { look, changes: () => seeds.splice(0) }
}

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
