import type { Actor } from '../../diff/records/actor.ts'
import type { Journal } from '../journal.ts'
import type { SaveOrder } from '../save-order.ts'
import type { RolloutPlan } from './rollout-plan.ts'
import { describeState, type RolloutState } from './rollout-state.ts'
import type { SavedRun } from './saved-run.ts'

/** Writes down what happens to one rollout: each move is one note. */
export interface RunBook {
  /** It begins, or goes on after a restart. `from` says where one of the same name was. */
  begun(text: string, by: Actor, saved: SavedRun, from?: string): void
  moved(from: RolloutState, by: Actor, saved: SavedRun): void
  /** The modes have it no more. */
  ended(text: string, by: Actor, from: RolloutState): void
  /** A person closed circuits by resuming it. */
  closed(operations: readonly string[], by: Actor): void
  /** Records where it stands, without a note, unless the last record says the same and is not old. */
  save(saved: SavedRun): void
}

interface BookSources {
  readonly journal: Pick<Journal, 'recorder' | 'note'>
  readonly order: Pick<SaveOrder, 'next'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Old record files are removed. What stands in the newest one outlives them. */
const STALE_MS = 3_600_000

export function createRunBook(plan: RolloutPlan, { journal, order, now }: BookSources): RunBook {
  const { name, digest } = plan
  const note = (text: string, by: Actor, to: string, from?: string) =>
    journal.note({
      what: 'rollout',
      rollout: name,
      text: `rollout ${name}: ${text}`,
      by,
      ...(from !== undefined && { from }),
      to,
    })
  let last = { text: '', at: 0 }
  const save = (saved?: SavedRun) => {
    const text = JSON.stringify(saved ?? null)
    if (text === last.text && Math.abs(now() - last.at) < STALE_MS) return
    last = { text, at: now() }
    const head = { kind: 'rollout', at: new Date(now()).toISOString(), name, digest, nth: order.next() } as const
    journal.recorder.record({ ...head, ...(saved && { saved }) })
  }
  return {
    begun(text, by, saved, from) {
      note(text, by, describeState(plan, saved.state), from)
      save(saved)
    },
    moved(from, by, saved) {
      note(saved.state.reason, by, describeState(plan, saved.state), describeState(plan, from))
      save(saved)
    },
    ended(text, by, from) {
      note(text, by, 'ended', describeState(plan, from))
      save()
    },
    closed(operations, by) {
      const text = `the rollout ${name} was resumed`
      for (const operation of operations) journal.note({ what: 'circuit-closed', text, operation, by, from: 'open', to: 'closed' })
    },
    save,
  }
}
