import type { Excerpt } from '../migrate/compare/excerpt.ts'
import type { SentRequest } from '../migrate/compare/redact.ts'
import type { Comparison, Example, RecordedSide } from '../migrate/records/record.ts'

/**
 * `failed` has no place: v2 gave an error and v1 did not. `transient`: it was gone at the second asking. `open`: there was no result.
 */
export type DifferenceState = 'unexplained' | 'transient' | 'failed' | 'declared' | 'noise' | 'race' | 'open'

/** States that somebody has to mend, because they count against v2. */
export const TO_MEND: ReadonlySet<DifferenceState> = new Set<DifferenceState>(['unexplained', 'transient', 'failed'])

/** Findings of one kind at one place of one operation's answers. */
export interface Difference {
  /** Unique within its operation, and the same in the next report. */
  readonly key: string
  readonly state: DifferenceState
  readonly kind: Example['kind'] | 'error' | 'race' | 'inconclusive'
  /** JSON Pointer with `*` for indices and map keys; a sentence with the reason if there is no place. */
  readonly where: string
  readonly code?: string
  readonly findings: number
  readonly comparisons: number
  readonly callers: number
  readonly firstAt: number
  readonly lastAt: number
  /** Comparisons in each time step. */
  readonly steps: readonly (readonly [at: number, comparisons: number])[]
  /** Newest first, up to the limit. Of equal ones the newest, which lists the others. */
  readonly examples: readonly ExampleReport[]
  /** The older report did not have it. */
  readonly isNew?: true
}

/** What tells equal examples apart. */
export interface EqualExample {
  readonly id: string
  readonly at: number
  readonly mode: string
  /** The replica that compared. A process without a store has none. */
  readonly replica?: string
  /** What both sides were asked, or the write that v2 failed. Records of older versions lack it. */
  readonly request?: SentRequest
  /** Absent after a write that v2 failed. */
  readonly v1Side?: RecordedSide
  readonly v2Side: RecordedSide
}

/** False for a call of a function, which no command can repeat. Records of older versions are all of requests. */
export function isOfRequest({ request }: Pick<EqualExample, 'request'>): boolean {
  return request === undefined || request.url.startsWith('/')
}

/** One comparison that shows a difference. */
export interface ExampleReport extends EqualExample {
  readonly caller: string
  readonly subject?: string
  readonly shape: string
  readonly check: Comparison['check']
  /** Exact JSON Pointer, if there is one. */
  readonly pointer?: string
  /** Absent if that side had no value there. */
  readonly v1?: unknown
  readonly v2?: unknown
  /** Of two long texts: the number of the first character that differs, from 0. */
  readonly differsAt?: number
  /** The id of the row that holds it. */
  readonly row?: string
  /** What is around the place on both sides, or both answers in short. */
  readonly around?: Excerpt
  readonly reason?: string
  /** Earlier ones of the same caller and kind of request, with the same values at the same place. Newest first. */
  readonly equal?: readonly EqualExample[]
}
