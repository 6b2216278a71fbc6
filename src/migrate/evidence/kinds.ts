import { type Mode, SERVED_BY } from '../../serve/sides.ts'
import type { OperationUse, SampledKind } from '../clients.ts'
import type { Observation, OperationEvidence, Place, Weight } from './evidence.ts'

/** What was seen of one kind of request (`shapeOf`). */
export interface SeenKind {
  readonly shape: string
  /** Observations in which v2 answered the same. Of a write, v2 itself wrote. */
  readonly same: number
  /** Answers that were the same when a person had the request rehearsed. No client asked for them. Absent if there is none. */
  readonly rehearsed?: number
  /** Distinct callers of these. 2 stands for more. */
  readonly callers: number
  /** When a comparison was the same last, and when one was wrong last, in milliseconds since 1970. */
  readonly sameAt?: number
  readonly wrongAt?: number
  /** Callers that got wrong answers, and none that was the same since then. Absent if there is none. */
  readonly wrongTo?: readonly string[]
}

/** A kind while it is counted. */
export interface KindCounts {
  same: number
  rehearsed: number
  readonly callers: Set<string>
  sameAt?: number
  wrongAt?: number
  readonly wrongTo: WrongCallers
}

/**
 * Callers that got wrong answers to one kind of request, and none that was the same since then. False: the only one was a transient fault.
 * It was gone at the second asking, so that the caller has met an answer that is the same. Two of them in a row have no such excuse.
 */
export type WrongCallers = Map<string, boolean>

/** Maximum callers of one kind that are remembered so. Each of the others comes back with its next wrong answer. */
const WRONG_CALLERS = 20

/** Remembers what a comparison that says something shows to its caller. Returns true if v2 is known to be wrong for it. */
export function countCaller(wrong: WrongCallers, { caller, outcome }: Pick<Observation, 'caller' | 'outcome'>, weight: Weight): boolean {
  const before = wrong.get(caller)
  wrong.delete(caller)
  if (weight !== 'bad') return false
  const isKnown = before !== undefined || outcome !== 'transient'
  const [excused] = wrong.size < WRONG_CALLERS ? [] : ([...wrong].find(([, isKnown]) => !isKnown) ?? [])
  if (excused !== undefined) wrong.delete(excused)
  if (wrong.size < WRONG_CALLERS) wrong.set(caller, isKnown)
  return isKnown
}

/** Maximum kinds of one operation that are told apart. All further ones are one kind. */
const TOLD_APART = 200

/** Callers that a kind counts. */
const CALLERS = 2

/** True if v1 wrote, so that nothing is known of what v2 would have done. */
export function isUntried({ check = 'read', mode }: Pick<Observation, 'check' | 'mode'>): boolean {
  return check !== 'read' && SERVED_BY[mode as Mode] === 'v1'
}

/** Returns the kind to which a request counts, if these are known of its operation. */
export function kindAmong(
  kinds: { has(shape: string): boolean; readonly size: number },
  { operation, shape }: Pick<Observation, 'operation' | 'shape'>,
): string {
  return kinds.has(shape) || kinds.size < TOLD_APART ? shape : `${operation}?(kinds beyond the first ${TOLD_APART})`
}

/** Counts a comparison that is worth a record. `weight` says how it counts. */
export function countKind(
  kinds: Map<string, KindCounts>,
  one: Pick<Observation, 'operation' | 'shape' | 'caller' | 'outcome' | 'check' | 'mode' | 'rehearsed'>,
  weight: Weight,
  { isFirst }: Pick<Place, 'isFirst'>,
  at: number,
): void {
  const isSilent = weight === 'nothing' || (weight === 'clean' && isUntried(one))
  if (isSilent) return
  const kind = kindAmong(kinds, one)
  const counts: KindCounts = kinds.get(kind) ?? { same: 0, rehearsed: 0, callers: new Set(), wrongTo: new Map() }
  kinds.set(kind, counts)
  countCaller(counts.wrongTo, one, weight)
  if (weight === 'bad') {
    counts.wrongAt = latest(counts.wrongAt, at)
    return
  }
  counts.sameAt = latest(counts.sameAt, at)
  if (one.rehearsed) counts.rehearsed += 1
  else if (isFirst) counts.same += 1
  if (counts.callers.size < CALLERS) counts.callers.add(one.caller)
}

function latest(before: number | undefined, at: number): number {
  return Math.max(before ?? at, at)
}

export function seenKinds(kinds: ReadonlyMap<string, KindCounts>): readonly SeenKind[] {
  return Array.from(kinds, ([shape, { callers, wrongTo, rehearsed, ...counts }]) => {
    const wrong = [...wrongTo].flatMap(([caller, isKnown]) => (isKnown ? [caller] : []))
    const known = { ...counts, ...(rehearsed > 0 && { rehearsed }), callers: callers.size }
    return { shape, ...known, ...(wrong.length > 0 && { wrongTo: wrong.sort() }) }
  })
}

/** Returns how often an operation was seen the same by rehearsals alone. */
export function rehearsedOf({ kinds = [] }: Pick<OperationEvidence, 'kinds'>): number {
  return kinds.reduce((sum, { rehearsed = 0 }) => sum + rehearsed, 0)
}

/** Returns the callers that were seen the same, up to 2: those of observations, and whoever rehearsed. */
export function callersSeen({ callers, kinds = [] }: Pick<OperationEvidence, 'callers' | 'kinds'>): number {
  return Math.min(CALLERS, Math.max(callers, ...kinds.map((kind) => kind.callers)))
}

/** Adds what several proxies saw. If clients reached several of them, the one that saw the most stands for all. */
export function joinedKinds(parts: readonly Pick<OperationEvidence, 'kinds'>[], isShared: boolean): readonly SeenKind[] {
  const joined = new Map<string, SeenKind>()
  for (const { shape, ...one } of parts.flatMap(({ kinds = [] }) => kinds)) {
    const before = joined.get(shape)
    const both = (a: number, b = 0) => (isShared ? Math.max(a, b) : a + b)
    const at = (name: 'sameAt' | 'wrongAt') => {
      const known = [one[name] ?? [], before?.[name] ?? []].flat()
      return known.length > 0 && { [name]: Math.max(...known) }
    }
    const rehearsed = both(one.rehearsed ?? 0, before?.rehearsed)
    const callers = Math.min(CALLERS, both(one.callers, before?.callers))
    const counted = { same: both(one.same, before?.same), ...(rehearsed > 0 && { rehearsed }), callers }
    // Another proxy may have seen the same since then. Nobody knows, and the caller is asked again soon.
    const wrongTo = [...new Set([...(before?.wrongTo ?? []), ...(one.wrongTo ?? [])])].sort()
    joined.set(shape, { shape, ...counted, ...at('sameAt'), ...at('wrongAt'), ...(wrongTo.length > 0 && { wrongTo }) })
  }
  return [...joined.values()]
}

/** What clients ask of one operation. */
export interface AskedOperation {
  readonly clients: number
  /** By shape. */
  readonly kinds: ReadonlyMap<string, AskedKind>
}

interface AskedKind {
  /** An estimate, because not every request is looked at. */
  readonly requests: number
  readonly clients: number
}

/** A client's use of an operation, as far as it tells kinds. */
export interface AskedUse extends Pick<OperationUse, 'operation' | 'calls' | 'otherRequests'> {
  readonly requests?: readonly Pick<SampledKind, 'shape' | 'samples'>[]
}

/** Adds what one client asked of two proxies. */
export function joinedUse(before: AskedUse | undefined, use: AskedUse): AskedUse {
  if (!before) return use
  const { operation, calls, requests = [], otherRequests = 0 } = use
  const samples = (shape: string) => requests.find((one) => one.shape === shape)?.samples ?? 0
  const known = before.requests ?? []
  return {
    operation,
    calls: before.calls + calls,
    requests: [
      ...known.map((one) => ({ ...one, samples: one.samples + samples(one.shape) })),
      ...requests.filter(({ shape }) => !known.some((one) => one.shape === shape)),
    ],
    otherRequests: (before.otherRequests ?? 0) + otherRequests,
  }
}

/** Returns what clients ask, by operation id. */
export function askedOf(clients: readonly { readonly operations: readonly AskedUse[] }[]): ReadonlyMap<string, AskedOperation> {
  const asked = new Map<string, { clients: number; readonly kinds: Map<string, AskedKind> }>()
  for (const { operation, calls, requests = [], otherRequests = 0 } of clients.flatMap(({ operations }) => operations)) {
    const known = asked.get(operation) ?? { clients: 0, kinds: new Map<string, AskedKind>() }
    asked.set(operation, known)
    known.clients += 1
    const looked = requests.reduce((sum, { samples }) => sum + samples, otherRequests)
    for (const { shape, samples } of requests) {
      const { requests: before, clients } = known.kinds.get(shape) ?? { requests: 0, clients: 0 }
      known.kinds.set(shape, { requests: before + (calls * samples) / Math.max(1, looked), clients: clients + 1 })
    }
  }
  return asked
}

/** A kind of request that was not seen to work often enough. */
export interface MissingKind {
  /** Its parameters with the classes of their values. Empty for a request without any. */
  readonly kind: string
  /** Requests of this kind, by an estimate. */
  readonly requests: number
  /** How often it was seen the same, rehearsals included, and how many of these were rehearsals. */
  readonly same: number
  readonly rehearsed?: number
  /** `rare`: too seldom. `one-caller`: by one of its callers only. `wrong`: the last comparison of it, or of one of its callers, was wrong. */
  readonly why: 'rare' | 'one-caller' | 'wrong'
  /** Callers for which v2 is wrong, although it may be right for others. */
  readonly wrongTo?: readonly string[]
}

/** Returns the kinds of an operation that are blind spots, most requests first. `each` is how often one must have been seen the same. */
export function missingKinds(
  { kinds = [] }: Pick<OperationEvidence, 'kinds'>,
  asked: AskedOperation | undefined,
  each: number,
): readonly MissingKind[] {
  const seen = new Map(kinds.map((one) => [one.shape, one]))
  const bodiless = new Set(kinds.map(({ shape }) => withoutBody(shape)))
  // Where a proxy read no body, a kind has the parameters alone.
  const isUnseen = (shape: string) => !seen.has(shape) && kinds.length < TOLD_APART && !bodiless.has(shape)
  const unseen = [...(asked?.kinds.keys() ?? [])].filter(isUnseen).map((shape) => ({ shape, same: 0, callers: 0 }))
  return [...kinds, ...unseen]
    .flatMap((one): readonly MissingKind[] => {
      const { requests = one.same, clients = 1 } = asked?.kinds.get(one.shape) ?? {}
      const why = whyMissing(one, clients, each)
      if (!why) return []
      const { shape, wrongTo, rehearsed = 0 }: SeenKind = one
      const same = { same: one.same + rehearsed, ...(rehearsed > 0 && { rehearsed }) }
      return [{ kind: partsOf(shape).join('&'), requests: Math.round(requests), ...same, why, ...(wrongTo && { wrongTo }) }]
    })
    .sort((a, b) => b.requests - a.requests || (a.kind < b.kind ? -1 : 1))
}

/** True if v2 is known to be wrong for a kind: its last comparison was, or the last one of one of its callers. */
export function isWrongKind({ sameAt, wrongAt, wrongTo }: Pick<SeenKind, 'sameAt' | 'wrongAt' | 'wrongTo'>): boolean {
  return wrongTo !== undefined || (wrongAt !== undefined && (sameAt === undefined || wrongAt >= sameAt))
}

function whyMissing(kind: SeenKind, clients: number, each: number): MissingKind['why'] | undefined {
  const { same, rehearsed = 0, callers } = kind
  if (isWrongKind(kind)) return 'wrong'
  if (same + rehearsed < each) return 'rare'
  return callers < CALLERS && clients >= CALLERS ? 'one-caller' : undefined
}

function partsOf(shape: string): readonly string[] {
  const at = shape.indexOf('?')
  return at < 0 ? [] : shape.slice(at + 1).split('&')
}

function withoutBody(shape: string): string {
  const [operation = ''] = shape.split('?')
  const parts = partsOf(shape).filter((part) => !/^(?:\.|\(body\))/.test(part))
  return parts.length === 0 ? operation : `${operation}?${parts.join('&')}`
}

/** Kinds that a sentence names. */
const NAMED = 3

/** Says which kinds are missing, and what to do: `2 of its 9 kinds of requests are blind spots: limit=small (40 requests, …)`. */
export function missingText(missing: readonly MissingKind[], each: number): string {
  const named = missing.slice(0, NAMED).map(({ kind, requests, same, rehearsed = 0, why, wrongTo = [] }) => {
    const how = {
      rare: `seen the same ${same} of ${each} times${rehearsed > 0 ? `, ${rehearsed} rehearsed` : ''}`,
      'one-caller': 'seen of one of its callers only',
      wrong: wrongText(wrongTo),
    }
    return `${kind || 'without parameters'} (${requests === 1 ? '1 request' : `${requests} requests`}, ${how[why]})`
  })
  const more = missing.length > NAMED ? [`${missing.length - NAMED} more`] : []
  const [one, it] =
    missing.length === 1
      ? ['1 kind of its requests is a blind spot', 'it']
      : [`${missing.length} kinds of its requests are blind spots`, 'them']
  const isWrong = missing.some(({ why }) => why === 'wrong')
  // For the caller, only another answer to itself mends it.
  const lasting = missing.some(({ wrongTo }) => wrongTo) ? ' and begin an epoch, or let the same callers ask again' : ''
  const todo = isWrong ? `fix v2${lasting}, then send` : 'send'
  return `INCONCLUSIVE, because ${one}: ${[...named, ...more].join(', ')}; ${todo} ${it} again by another caller or ten minutes later, or wait for the clients`
}

/** Says for whom v2 was wrong: `wrong to client 3f2a1b4c at its last comparison`. */
export function wrongText(callers: readonly string[]): string {
  const [first] = callers
  if (first === undefined) return 'wrong at its last comparison'
  return callers.length === 1
    ? `wrong to client ${first} at its last comparison`
    : `wrong to ${callers.length} clients at their last comparison, such as ${first}`
}
