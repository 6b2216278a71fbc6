import type { RolloutRun, Rollouts } from '../../migrate/rollout/rollouts.ts'
import type { Plight } from '../../migrate/rollout/run.ts'
import type { Store } from '../../store/store.ts'
import type { StoreChange } from '../../store/store-change.ts'
import { type FleetReading, reading } from '../part.ts'
import { createPlights, type Plights } from './plights.ts'
import type { RolloutDocuments } from './rollout-documents.ts'
import { changesOf, stepKey, totalsOf } from './step-changes.ts'

/** What all replicas have counted in the present step of each rollout. */
export interface SharedSteps {
  changes(): readonly StoreChange[]
  readings(isLeader: boolean): readonly FleetReading[]
  /** Reads the step of one rollout now. Rejects as `Store.read` does. */
  read(store: Pick<Store, 'read'>, run: RolloutRun): Promise<void>
  /** What is wrong at any replica. */
  plights(run: RolloutRun): readonly Plight[]
  /** Observations and callers that the store does not have yet. */
  waiting(): number
}

interface StepsSources {
  /** This replica. */
  readonly id: string
  readonly rollouts: Pick<Rollouts, 'runs'>
  readonly documents: Pick<RolloutDocuments, 'followed'>
  readonly ticks: () => number
}

interface Counted {
  readonly key: string
  readonly plights: Plights
  readonly reading: FleetReading
  readAt: number
}

/** Milliseconds between two readings of a replica that does not decide: it only shows them. */
const SHOWN_MS = 5000

export function createSharedSteps({ id, rollouts, documents, ticks }: StepsSources): SharedSteps {
  const counted = new WeakMap<RolloutRun, Counted>()
  const countedOf = (run: RolloutRun): Counted | undefined => {
    const followed = documents.followed(run.plan.name)
    if (!followed) return undefined
    const key = stepKey(run.plan.name, followed, run.state())
    const known = counted.get(run)
    if (known?.key === key) return known
    const read = reading('sums', key, (sums) => {
      if (counted.get(run)?.key === key) run.shared?.step()?.evidence.hear(totalsOf(sums))
    })
    const made = { key, plights: createPlights(key, id, ticks), reading: read, readAt: Number.NEGATIVE_INFINITY }
    counted.set(run, made)
    return made
  }
  const all = () => [...rollouts.runs().values()]
  return {
    changes: () =>
      all().flatMap((run) => {
        const one = countedOf(run)
        const news = run.shared?.step()?.news.take()
        return one && news ? [...changesOf(one.key, news), ...one.plights.changes(run.shared?.plight())] : []
      }),
    readings: (isLeader) =>
      all().flatMap((run) => {
        const one = countedOf(run)
        if (!one || (!isLeader && ticks() - one.readAt < SHOWN_MS)) return []
        one.readAt = ticks()
        return [one.reading, one.plights.reading]
      }),
    async read(store, run) {
      const one = countedOf(run)
      if (!one) return
      const [found] = await store.read([one.reading.read])
      one.reading.take(found)
    },
    plights(run) {
      const own = run.shared?.plight()
      return [...(own ? [own] : []), ...(countedOf(run)?.plights.others() ?? [])]
    },
    waiting: () => all().reduce((sum, { shared }) => sum + (shared?.step()?.news.waiting() ?? 0), 0),
  }
}
