import { z } from 'zod'
import { type CutoverVerdict, createReadinessMemory, type ReadinessNote } from '../../migrate/evidence/cutover.ts'
import type { Notes } from '../../migrate/modes/journal.ts'
import type { StoreChange } from '../../store/store-change.ts'
import type { Leader } from '../leader.ts'
import { type Part, reading } from '../part.ts'
import { readText } from '../read-text.ts'

/** Notes once for the fleet what becomes ready to move, or stops being so. */
export interface ReadinessPart extends Part {
  /** Judges, as the replica that decides. Call it often: it does nothing if the last look is not long ago. */
  look(): void
}

interface ReadinessSources {
  readonly leader: Pick<Leader, 'isSelf'>
  /** Judges what all replicas have seen until now; undefined if some of it is missing. */
  readonly judge: () => Promise<CutoverVerdict | undefined>
  readonly note: Notes['note']
  /** Milliseconds since 1970, and those of a monotonic clock. */
  readonly now: () => number
  readonly ticks: () => number
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds between two looks. Each asks all replicas. */
const LOOK_EVERY_MS = 10_000

/** What was said last of each operation, and of everything together, whose field is `(all)`. */
const NAME = 'readiness'
const WHOLE = '(all)'

const saidSchema = z.object({ what: z.enum(['ready', 'not-ready']), at: z.string(), to: z.string() })

export function createReadinessPart({ leader, judge, note, now, ticks, failed }: ReadinessSources): ReadinessPart {
  const memory = createReadinessMemory()
  const said: StoreChange[] = []
  let lookedAt = Number.NEGATIVE_INFINITY
  let isKnown = false
  const texts = reading('texts', NAME, (found) => {
    isKnown = true
    for (const [field, text] of Object.entries(found)) {
      const last = readText(saidSchema, text)
      if (last) memory.recall({ kind: 'note', text: '', ...last, ...(field !== WHOLE && { operation: field }) })
    }
  })
  const say = (one: ReadinessNote) => {
    const { what, operation = WHOLE, to = what } = one
    // The store gets it with the note, in one batch: whoever decides next has both or none.
    const text = JSON.stringify({ what, at: new Date(now()).toISOString(), to })
    said.push({ kind: 'write', name: NAME, field: operation, text })
    note(one)
  }
  const lookNow = async () => {
    const verdict = await judge()
    if (verdict && leader.isSelf()) for (const one of memory.news(verdict, now())) say(one)
  }
  return {
    changes: () => said.splice(0),
    readings: () => [texts],
    look() {
      if (!isKnown || !leader.isSelf() || ticks() - lookedAt < LOOK_EVERY_MS) return
      lookedAt = ticks()
      lookNow().catch(failed)
    },
  }
}
