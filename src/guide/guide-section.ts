import type { OperationUse, SampledKind } from '../migrate/clients.ts'
import { covers, type Operation } from '../tables/operation.ts'
import type { GuideTopic } from '../tables/tables.ts'
import type { GuideRequest, GuideSection } from './guide-schema.ts'
import { type GuideContext, guidedKind, guidedPlain } from './guided-request.ts'
import { answerRows, bodyRows } from './member-rows.ts'
import type { MethodNames } from './method-names.ts'
import { parameterRows } from './parameter-rows.ts'
import { perDay } from './per-day.ts'

/** A declared difference, as far as guides need it. */
export interface GuidedDifference {
  readonly code: string
  readonly operations: readonly string[]
  readonly seen: string
  readonly because: string
  /** The requests that can meet it; absent = every request. */
  readonly met?: { readonly given?: readonly string[]; readonly sent?: readonly string[]; readonly missing?: readonly string[] }
}

export interface SectionContext extends GuideContext {
  readonly differences: readonly GuidedDifference[]
  readonly methods: MethodNames
  /** What differs everywhere; nothing unless the tables say so. */
  readonly topics?: readonly GuideTopic[] | undefined
}

/** Returns what there is to know of one operation that v2 serves; `use` says what one client does there. */
export function guideSection(operation: Operation, context: SectionContext, use?: OperationUse): GuideSection {
  const kinds = use?.requests ?? []
  const samples = kinds.reduce((sum, kind) => sum + kind.samples, use?.otherRequests ?? 0)
  // Without a kind that was looked at, nobody knows what the client sends.
  const asked = kinds.length > 0 ? kinds : undefined
  const { dialect } = context.env
  const { id, kind, because } = operation
  const pace = use && perDay(use)
  const requests = asked ? merged(asked.map((one) => guidedKind(operation, one, samples, context))) : [guidedPlain(operation, context)]
  const grpc = methodsOf(operation, requests, context)
  return {
    operation: id,
    ...(grpc && { grpc }),
    kind: kind === 'v1-only' ? 'emulated' : kind,
    route: routeOf(operation),
    ...(because !== undefined && { because }),
    ...(use && { calls: use.calls, mismatches: use.mismatches }),
    ...(pace !== undefined && { perDay: pace }),
    requests,
    ...(use?.otherRequests !== undefined && { otherRequests: use.otherRequests }),
    parameters: [
      ...parameterRows(
        operation,
        context,
        asked?.flatMap(({ query }) => query.map(([name]) => name)),
      ),
    ],
    answer: [...answerRows(operation, dialect)],
    body: [...bodyRows(operation, dialect, sentBy(asked))],
    differences: context.differences
      .filter((one) => canMeet(one, operation, asked))
      .map(({ code, seen, because }) => ({ code, seen, because })),
    seen: (use?.differences ?? []).map((one) => ({ ...one })),
  }
}

/** Returns the gRPC methods of an operation and of its calls. */
function methodsOf(operation: Operation, requests: readonly GuideRequest[], { methods, base }: SectionContext): GuideSection['grpc'] {
  const v1 = methods.v1(operation)
  if (v1 === undefined) return undefined
  const calls = requests.flatMap((request) => request.calls)
  const v2 = calls.flatMap(({ method, url }) => methods.v2({ method, path: url.slice(base.length).replace(/\?.*/, '') }) ?? [])
  return { v1, v2: [...new Set(v2)] }
}

/** Kinds that differ only in values that were not kept look alike. */
function merged(requests: readonly GuideRequest[]): GuideRequest[] {
  const byLook = new Map<string, GuideRequest>()
  for (const request of requests) {
    const { share = 0, ...look } = request
    const key = JSON.stringify(look)
    byLook.set(key, { ...look, share: share + (byLook.get(key)?.share ?? 0) })
  }
  return [...byLook.values()]
}

/** Returns `METHOD /path` of an operation for people. */
export function routeOf({ method, template }: Operation): string {
  return `${method} ${template.replaceAll('=**', '')}`
}

/** Returns the members that a client sends; undefined if no body of a request was seen. */
function sentBy(kinds: readonly SampledKind[] | undefined): readonly string[] | undefined {
  const sent = kinds?.flatMap(({ members }) => (members ? [members] : []))
  return sent && sent.length > 0 ? sent.flat() : undefined
}

/** What every operation has in common stands in the topics. */
const EVERYWHERE = '*'

function canMeet({ operations, met }: GuidedDifference, { id }: Operation, kinds: readonly SampledKind[] | undefined): boolean {
  if (operations.includes(EVERYWHERE) || !operations.some((pattern) => covers(pattern, id))) return false
  if (!met || !kinds) return true
  const { given = [], sent = [], missing = [] } = met
  return kinds.some(({ query, members }) => {
    const has = (name: string) => members === undefined || members.some((one) => one === name || one.startsWith(`${name}.`))
    const lacks = (name: string) => members === undefined || !has(name)
    return query.some(([name]) => given.includes(name)) || sent.some(has) || missing.some(lacks)
  })
}
