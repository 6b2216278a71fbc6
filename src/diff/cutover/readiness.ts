import type { Note } from '../records/record.ts'
import type { CutoverVerdict } from './cutover.ts'

/** What is noted when an operation, or everything together, becomes ready to move or stops being so. */
export type ReadinessNote = Pick<Note, 'what' | 'operation' | 'text' | 'from' | 'to'>

/** Remembers what was said about the readiness of each operation, and finds what is new in a verdict. */
export interface ReadinessMemory {
  /** Takes a note of earlier records as said. */
  recall(note: Note): void
  /** Takes a verdict on earlier records as said, where no note of them says otherwise. */
  assume(verdict: CutoverVerdict): void
  /** Returns what is new in the verdict; `now` is in milliseconds since 1970. */
  news(verdict: CutoverVerdict, now: number): readonly ReadinessNote[]
  /** True if something became ready again so soon that it is not said yet. */
  isWaiting(): boolean
}

/**
 * Milliseconds after which something that stopped being ready may be called ready again. That it stopped is said at once. So whatever hovers
 * at the target is told once in this time, and the last word is never too good.
 */
const HOLD_MS = 300_000

/** Everything together has no operation id. */
const WHOLE = ''

interface Subject {
  readonly isReady: boolean
  /** Where it stands, in one or two words. */
  readonly standing: string
  readonly reason: string
}

interface Said extends Pick<Subject, 'isReady' | 'standing'> {
  /** When it stopped being ready, if that was said. */
  readonly stoppedAt?: number
}

export function createReadinessMemory(): ReadinessMemory {
  const said = new Map<string, Said>()
  let isWaiting = false
  return {
    recall({ what, operation = WHOLE, at, to = what }) {
      if (what === 'ready') said.set(operation, { isReady: true, standing: to })
      if (what === 'not-ready') said.set(operation, { isReady: false, standing: to, stoppedAt: Date.parse(at) })
    },
    assume(verdict) {
      for (const [key, subject] of subjectsOf(verdict)) if (!said.has(key)) said.set(key, subject)
    },
    news(verdict, now) {
      const subjects = subjectsOf(verdict)
      const gone = [...said.keys()].filter((key) => !subjects.has(key)).map((key) => [key, GONE] as const)
      isWaiting = false
      return [...subjects, ...gone].flatMap(([key, subject]) => {
        const { isReady, standing } = subject
        const before = said.get(key) ?? UNKNOWN
        const { stoppedAt = Number.NEGATIVE_INFINITY } = before
        if (isReady && !before.isReady && now - stoppedAt < HOLD_MS) {
          isWaiting = true
          return []
        }
        const stopped = before.isReady ? { stoppedAt: now } : { stoppedAt }
        said.set(key, isReady ? { isReady, standing } : { isReady, standing, ...stopped })
        return isReady === before.isReady ? [] : [noteOf(key, subject, before)]
      })
    },
    isWaiting: () => isWaiting,
  }
}

const UNKNOWN: Said = { isReady: false, standing: 'unknown' }
const GONE: Subject = { isReady: false, standing: 'unknown', reason: 'Nothing is known of it any more.' }

function noteOf(key: string, { isReady, standing, reason }: Subject, before: Said): ReadinessNote {
  const what = isReady ? 'ready' : 'not-ready'
  return { what, ...(key !== WHOLE && { operation: key }), text: reason, from: before.standing, to: standing }
}

function subjectsOf(verdict: CutoverVerdict): ReadonlyMap<string, Subject> {
  const each = verdict.operations.map(({ operation, standing, reason }) => {
    return [operation, { isReady: standing === 'inside', standing, reason }] as const
  })
  return new Map([...each, [WHOLE, wholeOf(verdict)]])
}

/** The operations in the way that a note names. */
const NAMED = 5

function wholeOf({ ready, operations, reasons }: CutoverVerdict): Subject {
  const inTheWay = operations.filter(({ blocks }) => blocks).map(({ operation }) => operation)
  const more = inTheWay.length > NAMED ? ` and ${inTheWay.length - NAMED} more` : ''
  const names = `In the way: ${inTheWay.slice(0, NAMED).join(', ')}${more}.`
  const reason = inTheWay.length === 0 ? reasons.join(' ') : names
  return { isReady: ready, standing: ready ? 'ready' : 'not ready', reason }
}
