import type { Batch } from '../store.ts'

/** Changes that take Redis about 20 ms. It serves nobody else meanwhile. */
const MOST = 5000

/**
 * Divides what waited through an outage, so that each step is answered in time. The steps have fractions as numbers, the last one the number
 * of the batch: a batch that is sent again goes on with the step that was not applied. The last step has the heartbeat, which tells others
 * what of this replica is in the store, and the reads.
 */
export function stepsOf(batch: Batch, most: number = MOST): readonly Batch[] {
  const count = Math.ceil(batch.changes.length / most)
  if (count <= 1) return [batch]
  const changes = [...batch.changes.filter(({ kind }) => kind !== 'beat'), ...batch.changes.filter(({ kind }) => kind === 'beat')]
  return Array.from({ length: count }, (_, at) => {
    const isLast = at + 1 === count
    return {
      replica: batch.replica,
      nth: isLast ? batch.nth : batch.nth - 1 + (at + 1) / count,
      changes: changes.slice(at * most, (at + 1) * most),
      reads: isLast ? batch.reads : [],
      isUrgent: isLast && batch.isUrgent,
    }
  })
}
