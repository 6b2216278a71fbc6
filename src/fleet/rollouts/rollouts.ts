import type { Actor } from '../../migrate/records/record.ts'
import type { Rollouts } from '../../migrate/rollout/rollouts.ts'
import type { Proposal, RolloutCommand, RolloutRun } from '../../migrate/rollout/run.ts'
import { atMost, type FleetClocks, type Part } from '../exchange.ts'
import type { Fleet, Leader } from '../fleet.ts'
import type { Document, StoreChange } from '../store/store.ts'
import { createRolloutPublisher, newName, type Published, RolloutDocuments, rolloutName } from './documents.ts'
import { changesOfCounts, createKnownEvidence, createSharedSteps, stepKey } from './steps.ts'

/** Why a command was not obeyed: it makes no sense, somebody moved the rollout meanwhile, or the store does not answer. */
export interface SteerProblem {
  readonly kind: 'senseless' | 'moved' | 'down'
  /** One sentence. */
  readonly text: string
}

/** How often a command is tried anew if only the time of the rollout has been written meanwhile. */
const ATTEMPTS = 5

/** The longest that an answer waits for the other replicas, in milliseconds. */
const OBEYED_MS = 1000

/** The longest that a command waits for the store, in milliseconds. The store itself gives up a little earlier, and then changes nothing. */
const ANSWER_MS = 280

/** The longest that a replica may take to hand over what it has seen before the share grows, in milliseconds. */
const SETTLE_MS = 1000

/** Milliseconds between two records of the time that passed. */
const PROGRESS_MS = 10_000

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

export type RolloutsPart = ReturnType<typeof createRolloutsPart>

/** The rollouts of the fleet: one replica decides, on what all have seen, and the others follow. */
export function createRolloutsPart(sources: RolloutsPartSources) {
  const { fleet, leader, rollouts, evidenceName, modesVersion, clocks, failed } = sources
  const { store } = fleet
  const within = <T>(answer: Promise<T>) =>
    atMost(
      answer.catch(() => 'down' as const),
      'down' as const,
      ANSWER_MS,
      clocks,
    )
  const documents = new RolloutDocuments(rollouts, modesVersion)
  const publisher = createRolloutPublisher(store, documents, modesVersion, within)
  const steps = createSharedSteps(fleet.id, rollouts, documents, clocks.ticks)
  const known = createKnownEvidence(store, evidenceName, clocks.ticks)
  const seeds: StoreChange[] = []
  const busy = new Set<RolloutRun>()
  const writtenAt = new WeakMap<RolloutRun, number>()

  const readNow = async (name: string): Promise<'done' | 'down'> => {
    const found = await within(store.read([{ kind: 'document', name: rolloutName(name) }]))
    if (found === 'down') return 'down'
    // A run that begins starts from the evidence that all replicas have.
    if ((await within(known.read())) === 'down') return 'down'
    documents.take(name, (found[0]?.value as Document | undefined) ?? { version: 0, text: '' })
    return 'done'
  }
  const attempt = async (run: RolloutRun, command: RolloutCommand, by: Actor): Promise<Published | 'unsure' | SteerProblem> => {
    const { name } = run.plan
    if ((await readNow(name)) === 'down') return 'down'
    if (!documents.followed(name)) return { kind: 'moved', text: `The rollout ${name} has not begun yet; try again in a second.` }
    const proposal = run.command(command, by)
    if (proposal === 'same') return 'done'
    if ('problem' in proposal) return { kind: 'senseless', text: proposal.problem }
    const end = await publisher.move(run, proposal)
    return end === 'down' ? 'unsure' : end
  }
  /** Gives a command that holds for all replicas. Resolves when each of them that lives has obeyed, or after a second. */
  const steer = async (name: string, command: RolloutCommand, by: Actor): Promise<SteerProblem | undefined> => {
    const run = rollouts.runs().get(name)
    if (!run) return { kind: 'senseless', text: `There is no rollout ${JSON.stringify(name)}.` }
    const { phase, stepsBegun } = run.state()
    for (let nth = 1; ; nth += 1) {
      const end = await attempt(run, command, by)
      const isDown = end === 'down' || end === 'unsure'
      if (isDown && command === 'abort') return void run.abortHere(by)
      if (isDown) return { kind: 'down', text: end === 'down' ? DOWN : UNSURE }
      if (typeof end === 'object') return end
      if (end === 'done') break
      const now = run.state()
      const isSame = now.phase === phase && now.stepsBegun === stepsBegun
      if (nth < ATTEMPTS && (isSame || command === 'abort')) continue
      return { kind: 'moved', text: `The rollout ${name} has moved on meanwhile (${now.phase}); read GET /rollouts again.` }
    }
    fleet.urgent()
    await fleet.settle(OBEYED_MS)
    return undefined
  }

  const begin = async (run: RolloutRun) => {
    const life = newName()
    const saved = run.saved()
    // What records know of the step comes first: whoever reads the step must not think that it was lost.
    seeds.push(...changesOfCounts(stepKey(run.plan.name, { life }, saved.state), saved.counts))
    if (seeds.length > 0 && !(await fleet.turn())) return
    if ((await publisher.begin(run, life)) !== 'done') return
    if (run.opening !== '') run.begin(run.opening, { source: 'start' })
    run.opening = ''
    fleet.urgent()
  }
  /** Decides again on what every replica has seen until now. */
  const settled = async (run: RolloutRun): Promise<Proposal | undefined> => {
    const { problems } = await fleet.settle(SETTLE_MS)
    run.waits = problems.join(' ')
    if (problems.length > 0 || (await within(Promise.all([steps.read(store, run), known.read()]))) === 'down') return undefined
    return run.proposeAgain(steps.states(run))
  }
  const move = async (run: RolloutRun, proposed: Proposal) => {
    const proposal = proposed.isAdvance ? await settled(run) : proposed
    if (proposal && (await publisher.move(run, proposal)) === 'done') fleet.urgent()
  }
  const lookAt = async (run: RolloutRun) => {
    const { name } = run.plan
    const by = run.pulledBy()
    if (typeof by === 'object') return void (await steer(name, 'abort', by))
    if (!leader.isSelf() || !documents.held(name)) return
    if (!documents.followed(name)) return documents.mayBegin(name) ? begin(run) : undefined
    const proposal = run.propose(steps.states(run))
    if (proposal) return move(run, proposal)
    run.waits = ''
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

  rollouts.know(known.of)
  // A circuit that opened takes the share of the fleet to 0 at once.
  rollouts.onMove(() => queueMicrotask(look))
  return {
    changes() {
      const changes = [...documents.changes(), ...seeds.splice(0), ...steps.changes()]
      if (steps.waiting() > 0) fleet.soon()
      return changes
    },
    readings: () => [...documents.readings(), ...steps.readings(leader.isSelf()), ...known.readings(leader.isSelf())],
    state: () => ({ waiting: steps.waiting(), dropped: 0, lost: 0 }),
    lost: () => documents.lost(),
    /**
     * Looks at all of them, as the replica that decides; another one has only commands that its store has not got yet. Call it every second;
     * nothing depends on the exact time.
     */
    look,
    steer,
  } satisfies Part & Record<string, unknown>
}

const DOWN =
  'The store does not answer, so no replica would learn of it: nothing has changed. Abort is possible: it sets the share of this replica to 0 at once, and that of the others when the store answers.'

const UNSURE = 'The store did not answer in time: GET /rollouts tells whether it took the command.'
