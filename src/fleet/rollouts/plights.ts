import { z } from 'zod'
import type { Plight } from '../../migrate/rollout/run.ts'
import type { StoreChange } from '../../store/store-change.ts'
import { type FleetReading, reading } from '../part.ts'

/** What is wrong at each replica in one step. */
export interface Plights {
  /** Tells the others what is wrong here. */
  changes(own: Plight | undefined): readonly StoreChange[]
  readonly reading: FleetReading
  /** What is wrong at the other replicas. */
  others(): readonly Plight[]
}

/** Milliseconds between two tellings of what lasts. */
const AGAIN_MS = 5000

/** Milliseconds after which a replica that repeats nothing has died, or is well again and cut off. */
const STALE_MS = 30_000

const schema = z.object({
  unjudged: z.object({ requests: z.number(), ms: z.number() }).optional(),
  unwritten: z.string().optional(),
  opened: z.record(z.string(), z.string()).optional(),
})

export function createPlights(key: string, id: string, ticks: () => number): Plights {
  const name = `${key}:plights`
  const heard = new Map<string, { readonly text: string; readonly plight: Plight; readonly at: number }>()
  let told = { text: '', at: Number.NEGATIVE_INFINITY }
  return {
    changes(own) {
      const text = own ? JSON.stringify(own) : ''
      const isSame = (text === '') === (told.text === '')
      if (text === told.text || (isSame && ticks() - told.at < AGAIN_MS)) return []
      told = { text, at: ticks() }
      return [{ kind: 'write', name, field: id, text }]
    },
    reading: reading('texts', name, (texts) => {
      for (const [replica, text] of Object.entries(texts)) {
        if (replica === id || heard.get(replica)?.text === text) continue
        heard.set(replica, { text, plight: readPlight(text), at: ticks() })
      }
    }),
    others() {
      return [...heard.values()].flatMap(({ plight, at }): readonly Plight[] => {
        if (ticks() - at < STALE_MS) return [plight]
        // That it took the share to 0 holds until the fleet did too.
        return plight.opened ? [{ opened: plight.opened }] : []
      })
    },
  }
}

function readPlight(text: string): Plight {
  return text === '' ? {} : ((schema.safeParse(JSON.parse(text)).data ?? {}) as Plight)
}
