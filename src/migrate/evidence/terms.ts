import { suggestion } from '../../tables/check.ts'
import { covers } from '../../tables/operation.ts'
import type { Client } from '../clients.ts'
import type { Note } from '../records/record.ts'

/** A person's word that an operation may move although it is not proven. */
export interface Acceptance {
  readonly reason: string
  /** The last day on which it holds, like `2027-01-31`, in UTC. */
  readonly until: string
}

/** What a person decided about operations by their names. */
export interface OperationTerms {
  /** Operation ids, with * for any text. */
  readonly operations: string | readonly string[]
  /** Acceptable share of wrong answers of each of them, in place of that of the question. */
  readonly target?: number | undefined
  readonly accept?: Acceptance | undefined
}

/** What persons decided about the verdict (settings `cutover.*`). */
export interface CutoverTerms {
  /** How often each operation and kind of request must have been seen the same. */
  readonly each: number
  readonly operations: readonly OperationTerms[]
}

/** How often, if nobody says otherwise. */
export const EACH = 3

export const USUAL_TERMS: CutoverTerms = { each: EACH, operations: [] }

/** Returns the end of a day like `2027-01-31` in UTC, in milliseconds since 1970; NaN for what is no day. */
function endOfDay(day: string): number {
  const end = Date.parse(`${day}T23:59:59.999Z`)
  // V8 reads the 30th of February as a day of March.
  return Number.isNaN(end) || !new Date(end).toISOString().startsWith(day) ? Number.NaN : end
}

/** What holds for one operation. */
export interface TermsOfOne {
  /** Undefined if no name gives one. */
  readonly target?: number | undefined
  readonly accept?: Acceptance | undefined
  /** An acceptance that is over. Absent if another one holds. */
  readonly over?: Acceptance | undefined
}

/** Returns what the first entries that name an operation say of it; `now` is in milliseconds since 1970. */
export function termsOf(operation: string, { operations }: Pick<CutoverTerms, 'operations'>, now: number): TermsOfOne {
  const named = operations.filter((one) => patternsOf(one).some((pattern) => covers(pattern, operation)))
  const accepted = named.flatMap(({ accept }) => accept ?? [])
  const accept = accepted.find(({ until }) => endOfDay(until) >= now)
  return { target: named.find(({ target }) => target !== undefined)?.target, accept, over: accept ? undefined : accepted[0] }
}

function patternsOf({ operations }: OperationTerms): readonly string[] {
  return [operations].flat()
}

/** Returns a sentence about a pattern that covers no operation. `known` are operation ids. */
export function wrongTerms(terms: readonly OperationTerms[], known: readonly string[]): string | undefined {
  for (const [nth, one] of terms.entries()) {
    const unfit = patternsOf(one).find((pattern) => !known.some((id) => covers(pattern, id)))
    if (unfit !== undefined) {
      const hint = suggestion(unfit, known, 'crosswalk operations lists them.')
      return `cutover.operations.${nth}.operations: "${unfit}" fits no operation that v2 serves; ${hint}`
    }
  }
  return undefined
}

/** What is noted when an acceptance begins to hold or ends. */
type AcceptanceNote = Pick<Note, 'what' | 'text' | 'from' | 'to'>

const [HOLDS, NONE] = ['accepted', 'not accepted'] as const

/** The beginning of what is told of one that ends. */
const ENDED = 'No longer: '

/** Remembers which acceptances were told, and finds what is new. */
export function createAcceptanceMemory() {
  /** What is told of each acceptance that holds. */
  const told = new Set<string>()
  return {
    /** Takes a note of earlier records as told. */
    recall({ what, text, to }: Pick<Note, 'what' | 'text' | 'to'>) {
      if (what !== 'acceptance') return
      if (to === HOLDS) told.add(text)
      else told.delete(text.replace(ENDED, ''))
    },
    /** Returns what is new at a time in milliseconds since 1970. */
    news({ operations }: Pick<CutoverTerms, 'operations'>, now: number): readonly AcceptanceNote[] {
      const held = operations.filter(({ accept }) => accept && endOfDay(accept.until) >= now)
      const holding = new Set(held.map(acceptanceText))
      const ended = [...told].filter((text) => !holding.has(text))
      const begun = [...holding].filter((text) => !told.has(text))
      for (const text of ended) told.delete(text)
      for (const text of begun) told.add(text)
      return [
        ...ended.map((text) => ({ what: 'acceptance', text: ENDED + text, from: HOLDS, to: NONE }) as const),
        ...begun.map((text) => ({ what: 'acceptance', text, from: NONE, to: HOLDS }) as const),
      ]
    },
  }
}

/** `iam.terms.* may move without proof until 2027-01-31: a reason`. */
function acceptanceText(terms: OperationTerms): string {
  return `${patternsOf(terms).join(', ')} may move without proof until ${terms.accept?.until}: ${terms.accept?.reason}`
}

/** A person's word that nobody needs an unknown path when v1 is gone. */
export interface Dismissal extends Acceptance {
  /** `GET /registry/v1/diff`, as the verdict names it. */
  readonly called: string
}

/** Reads `GET /path until 2027-01-31: a reason`. Returns a sentence if it is none, or over. `now` is in milliseconds since 1970. */
export function readDismissal(text: string, now: number): Dismissal | { readonly problem: string } {
  const {
    called,
    until = '',
    reason,
  } = /^(?<called>[A-Z]+ \/\S*) until (?<until>\d{4}-\d{2}-\d{2}): *(?<reason>\S.*)$/s.exec(text)?.groups ?? {}
  const end = endOfDay(until)
  if (called === undefined || reason === undefined || Number.isNaN(end)) {
    return { problem: `dismiss is ${JSON.stringify(text)}, but it must be like 'GET /path until 2027-01-31: a reason'.` }
  }
  return end < now
    ? { problem: `The dismissal of ${called} is over since ${until}: give another date, or leave it out.` }
    : { called, until, reason }
}

/** True if the pattern covers an operation, or that of a parameter value that only v1 knows (`libraries.artifacts.list?ecosystems`). */
export function coversUse(pattern: string, use: string): boolean {
  const [operation = ''] = use.split('?')
  return covers(pattern, use) || covers(pattern, operation)
}

/** True if the pattern covers the hash, the subject or the name of a client. */
export function coversClient(pattern: string, { caller, subject, name }: Pick<Client, 'caller' | 'subject' | 'name'>): boolean {
  return [caller, subject, name].some((one) => one !== undefined && covers(pattern, one))
}
