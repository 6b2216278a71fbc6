import { randomBytes } from 'node:crypto'
import type { RolloutRun } from '../../migrate/rollout/rollouts.ts'
import type { SavedRun } from '../../migrate/rollout/run.ts'
import type { Proposal, SharedRun } from '../../migrate/rollout/shared-run.ts'
import type { Store } from '../../store/store.ts'
import { type RolloutDocument, rolloutName } from './rollout-document.ts'
import type { RolloutDocuments } from './rollout-documents.ts'

/** Writes where a rollout stands, if nobody has written meanwhile. */
export interface RolloutPublisher {
  /** Begins a rollout that the store does not know. */
  begin(run: RolloutRun, life: string): Promise<Published>
  /** Puts a move in force. */
  move(run: RolloutRun, proposal: Proposal): Promise<Published>
  /** Writes how much time has passed, if any has. */
  progress(run: RolloutRun): Promise<Published>
}

/** `moved on`: somebody else has written, and the rollout follows that now. `down`: the store does not answer. */
export type Published = 'done' | 'moved on' | 'down'

interface PublisherSources {
  readonly store: Pick<Store, 'replace'>
  readonly documents: RolloutDocuments
  readonly modesVersion: () => number
  /** Bounds what waits for the store. */
  readonly within: <T>(answer: Promise<T>) => Promise<T | 'down'>
}

export function newName(): string {
  return randomBytes(6).toString('hex')
}

export function createRolloutPublisher({ store, documents, modesVersion, within }: PublisherSources): RolloutPublisher {
  const write = async ({ plan: { name } }: RolloutRun, document: RolloutDocument): Promise<Published> => {
    const { version = 0 } = documents.held(name) ?? {}
    const replaced = await within(store.replace(rolloutName(name), version, JSON.stringify(document)))
    if (replaced === 'down') return 'down'
    documents.take(name, replaced.document)
    return replaced.isReplaced ? 'done' : 'moved on'
  }
  /** Writes over what the rollout follows. */
  const rewrite = async (run: RolloutRun, more: { readonly saved: SavedRun; readonly move?: string }): Promise<Published> => {
    const followed = documents.followed(run.plan.name)
    return followed ? write(run, { ...followed, ...more }) : 'moved on'
  }
  return {
    begin: (run, life) =>
      write(run, { digest: run.plan.digest, life, modes: modesVersion(), move: newName(), saved: sharedOf(run).saved() }),
    move(run, proposal) {
      const move = newName()
      documents.unsure(run.plan.name, move, proposal)
      return rewrite(run, { saved: proposal.saved, move })
    },
    async progress(run) {
      const saved = sharedOf(run).saved()
      const isSame = JSON.stringify(documents.followed(run.plan.name)?.saved) === JSON.stringify(saved)
      return isSame ? 'done' : rewrite(run, { saved })
    },
  }
}

/** Returns how a rollout follows the fleet. Each does where there is a store. */
export function sharedOf({ shared }: RolloutRun): SharedRun {
  if (shared) return shared
  throw new Error('a rollout of a fleet is not shared')
}
