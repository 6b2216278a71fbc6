import { z } from 'zod'
import type { ChangedPlaces, Noise } from '../../migrate/compare/judge.ts'
import type { LogItem } from '../../store/store.ts'
import type { Fleet } from '../fleet.ts'
import { type Part, reading } from '../part.ts'
import { readText } from '../read-text.ts'

const NAME = 'noise'

/** Batches of double reads that the store keeps. A replica that begins reads them all, and knows what the others have learnt. */
const KEPT = 1000

/** Double reads of one replica that wait while the store does not answer. Later ones find the same members. */
const WAITING = 1000

const learntSchema = z.array(z.object({ operation: z.string(), alone: z.array(z.string()), stamped: z.array(z.string()) }))

/** Shares which members of v1 change by themselves. Each replica hears of every double read, and judges all of them together. */
export function createSharedNoise(noise: Pick<Noise, 'heard' | 'onLearn'>, { id, soon }: Pick<Fleet, 'id' | 'soon'>): Part {
  const waiting: (ChangedPlaces & { readonly operation: string })[] = []
  noise.onLearn((operation, places) => {
    if (waiting.length >= WAITING) return
    waiting.push({ operation, ...places })
    soon()
  })
  const take = ({ replica, text }: LogItem) => {
    if (replica === id) return
    for (const { operation, ...places } of readText(learntSchema, text) ?? []) noise.heard(operation, places)
  }
  const log = reading('log', NAME, (items) => items.forEach(take))
  return {
    changes() {
      const learnt = waiting.splice(0)
      return learnt.length > 0 ? [{ kind: 'log', name: NAME, text: JSON.stringify(learnt), items: KEPT }] : []
    },
    readings: () => [log],
  }
}
