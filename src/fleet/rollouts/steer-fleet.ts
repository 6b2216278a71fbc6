import type { Actor } from '../../migrate/records/record.ts'
import type { RolloutRun, Rollouts } from '../../migrate/rollout/rollouts.ts'
import type { RolloutCommand } from '../../migrate/rollout/run.ts'
import type { Document } from '../../store/store.ts'
import type { Fleet } from '../fleet.ts'
import type { KnownEvidence } from './known-evidence.ts'
import { rolloutName } from './rollout-document.ts'
import type { RolloutDocuments } from './rollout-documents.ts'
import { type Published, type RolloutPublisher, sharedOf } from './rollout-publisher.ts'

/** Why a command was not obeyed: it makes no sense, somebody moved the rollout meanwhile, or the store does not answer. */
export interface SteerProblem {
  readonly kind: 'senseless' | 'moved' | 'down'
  /** One sentence. */
  readonly text: string
}

export interface FleetSteering {
  /** Gives a command that holds for all replicas. Resolves when each of them that lives has obeyed, or after a second. */
  steer(name: string, command: RolloutCommand, by: Actor): Promise<SteerProblem | undefined>
}

interface SteeringSources {
  readonly fleet: Pick<Fleet, 'store' | 'urgent' | 'settle'>
  readonly rollouts: Pick<Rollouts, 'runs'>
  readonly documents: RolloutDocuments
  readonly publisher: RolloutPublisher
  readonly known: KnownEvidence
  readonly within: <T>(answer: Promise<T>) => Promise<T | 'down'>
}

/** How often a command is tried anew if only the time of the rollout has been written meanwhile. */
const ATTEMPTS = 5

/** The longest that an answer waits for the other replicas, in milliseconds. */
const OBEYED_MS = 1000

export function createFleetSteering({ fleet, rollouts, documents, publisher, known, within }: SteeringSources): FleetSteering {
  const readNow = async (name: string): Promise<'done' | 'down'> => {
    const found = await within(fleet.store.read([{ kind: 'document', name: rolloutName(name) }]))
    if (found === 'down') return 'down'
    // A run that begins knows what was known before it.
    if ((await within(known.read())) === 'down') return 'down'
    documents.take(name, (found[0]?.value as Document | undefined) ?? { version: 0, text: '' })
    return 'done'
  }
  const attempt = async (run: RolloutRun, command: RolloutCommand, by: Actor): Promise<Published | 'unsure' | SteerProblem> => {
    const { name } = run.plan
    if ((await readNow(name)) === 'down') return 'down'
    if (!documents.followed(name)) return { kind: 'moved', text: `The rollout ${name} has not begun yet; try again in a second.` }
    const proposal = sharedOf(run).command(command, by)
    if (proposal === 'same') return 'done'
    if ('problem' in proposal) return { kind: 'senseless', text: proposal.problem }
    const end = await publisher.move(run, proposal)
    return end === 'down' ? 'unsure' : end
  }
  return {
    async steer(name, command, by) {
      const run = rollouts.runs().get(name)
      if (!run) return { kind: 'senseless', text: `There is no rollout ${JSON.stringify(name)}.` }
      const shared = sharedOf(run)
      const { phase, stepsBegun } = shared.state()
      for (let nth = 1; ; nth += 1) {
        const end = await attempt(run, command, by)
        const isDown = end === 'down' || end === 'unsure'
        if (isDown && command === 'abort') return void shared.abort(by)
        if (isDown) return { kind: 'down', text: end === 'down' ? DOWN : UNSURE }
        if (typeof end === 'object') return end
        if (end === 'done') break
        const now = shared.state()
        const isSame = now.phase === phase && now.stepsBegun === stepsBegun
        if (nth < ATTEMPTS && (isSame || command === 'abort')) continue
        return { kind: 'moved', text: `The rollout ${name} has moved on meanwhile (${now.phase}); read GET /rollouts again.` }
      }
      fleet.urgent()
      await fleet.settle(OBEYED_MS)
      return undefined
    },
  }
}

const DOWN =
  'The store does not answer, so that no replica would hear of it: nothing has changed. Abort is possible: it sets the share of this replica to 0 at once, and that of the others when the store answers.'

const UNSURE = 'The store did not answer in time: GET /rollouts tells whether it took the command.'
