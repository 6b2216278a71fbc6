import { type Client, createUseOf, type OperationUse, type SampledKind, shownClient } from '../migrate/clients.ts'
import { covers, type Operation } from '../tables/operation.ts'
import type { DeclaredDifference, GuideTopic } from '../tables/tables.ts'
import {
  answerRows,
  bodyRows,
  GUIDE_FORMAT,
  type Guide,
  type GuideBlocker,
  type GuideContext,
  type GuideRequest,
  type GuideSection,
  guided,
  guidedKind,
  type MethodNames,
  parameterRows,
  plainRequest,
  sampleRequest,
  v1Text,
} from './guide-request.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Returns calls a day; undefined if they were counted for less than an hour. */
function perDay({ calls, firstSeen, lastSeen }: OperationUse): number | undefined {
  const span = lastSeen - firstSeen
  return span < HOUR ? undefined : Math.round((calls / span) * DAY)
}

/** Returns what is to be done, in the order in which it is done. */
function checklistFor({ sections, blockers, operations, caller }: Parts): readonly string[] {
  const isList = operations.some(({ rows }) => rows)
  const isSilent = operations.some(({ missing }) => missing !== 'error')
  const isWrite = operations.some(({ method }) => method !== 'GET')
  const dropped = sections.some(({ answer }) => answer.some(({ fate }) => fate === 'dropped'))
  return [
    ...blockers.map(({ use, instead }) =>
      instead === undefined ? `Settle ${use}: nothing in v2 takes its place.` : `Settle ${use}. Closest in v2: ${instead}.`,
    ),
    ...(sections.length > 0 ? [`Replace ${sections.map(({ operation }) => operation).join(', ')} by the calls below.`] : []),
    ...(sections.length > 0 ? ['Read and send the members by their v2 names; read an absent member as unset.'] : []),
    ...(dropped ? ['Remove what reads members that v2 does not have.'] : []),
    ...(isList && sections.length > 0 ? ['Read lists page by page, until nextPageToken is absent or empty.'] : []),
    ...(isSilent && sections.length > 0 ? ['Take 404 for "nothing found".'] : []),
    ...(sections.length > 0 ? ['Decide by the code of an error, never by its words.'] : []),
    ...(isWrite && sections.length > 0 ? ['Try each write on a test resource, and read it back.'] : []),
    ...(caller !== undefined && HASH.test(caller)
      ? [`After the change, see that the calls have stopped: crosswalk clients ${caller}.`]
      : []),
  ]
}

/** A declared difference, as far as guides need it. */
type GuidedDifference = Pick<DeclaredDifference, 'code' | 'operations' | 'seen' | 'because' | 'met'>

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
  const plain = () => [guided(operation, plainRequest(operation), context)]
  const requests = asked ? merged(asked.map((one) => guidedKind(operation, one, samples, context))) : plain()
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
function routeOf({ method, template }: Operation): string {
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

/** Returns the guide of one client: its operations, the most called first, and what v2 cannot do for it. */
export function clientGuide(client: Client, context: SectionContext): Guide {
  const operations = context.mappings.flatMap((mapping) => mapping.operations)
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  const served = client.operations.flatMap((use) => {
    const operation = byId.get(use.operation)
    return operation?.begin ? [{ operation, use }] : []
  })
  const others = client.operations.filter(({ operation }) => !byId.get(operation)?.begin)
  const { caller, subject, name, agents, calls, lastSeen } = client
  const firstSeen = Math.min(...client.operations.map((use) => use.firstSeen))
  const guide = assemble(context, {
    title: `Move ${shownClient(client)} from v1 to v2`,
    caller,
    operations: served.map(({ operation }) => operation),
    sections: served.map(({ operation, use }) => guideSection(operation, context, use)),
    blockers: others.map((use) => blockerOf(use, byId, operations)),
  })
  const times = { firstSeen: new Date(firstSeen).toISOString(), lastSeen: new Date(lastSeen).toISOString() }
  const known = { ...(subject !== undefined && { subject }), ...(name !== undefined && { name }), ...(agents && { agents: [...agents] }) }
  return { ...guide, client: { caller, ...known, calls, ...times } }
}

/** Returns the guide of operations, whoever calls them. */
export function operationGuide(operations: readonly Operation[], title: string, context: SectionContext): Guide {
  const served = operations.filter(({ begin }) => begin)
  return assemble(context, {
    title,
    caller: undefined,
    operations: served,
    sections: served.map((operation) => guideSection(operation, context)),
    blockers: operations.filter(({ begin }) => !begin).map((operation) => v1OnlyBlocker(operation)),
  })
}

interface Parts extends Pick<Guide, 'title' | 'sections' | 'blockers'> {
  /** The name of the client; undefined in a guide without one. */
  readonly caller: string | undefined
  /** The operations of the sections. */
  readonly operations: readonly Operation[]
}

/** Clients of the proxy have such a hash; those of an access log have other names, which the proxy does not know. */
const HASH = /^[0-9a-f]{16}$/

function assemble({ env, base, topics = [] }: SectionContext, parts: Parts): Guide {
  const { title, operations, sections, blockers } = parts
  const known = operations.length === 0 ? [] : topics.filter(({ concerns }) => !concerns || operations.some(concerns))
  return {
    format: GUIDE_FORMAT,
    title,
    dialect: env.dialect,
    base,
    topics: known.map(({ title, v1, v2 }) => ({ title, v1, v2 })),
    blockers,
    sections,
    checklist: [...checklistFor(parts)],
  }
}

function blockerOf(use: OperationUse, byId: ReadonlyMap<string, Operation>, operations: readonly Operation[]): GuideBlocker {
  // `libraries.artifacts.list?ecosystems` is a value that v2 lacks in an operation that it has.
  const operation = byId.get(use.operation.split('?')[0] ?? '')
  const known = createUseOf(operations)(use.operation)
  const pace = perDay(use)
  return {
    use: use.operation,
    ...(operation && { route: routeOf(operation) }),
    because: known?.because ?? 'no table knows it',
    ...(known?.instead !== undefined && { instead: known.instead }),
    requests: operation ? (use.requests ?? []).map((kind) => v1Text(operation, sampleRequest(operation, kind))) : [],
    calls: use.calls,
    ...(pace !== undefined && { perDay: pace }),
  }
}

function v1OnlyBlocker(operation: Operation): GuideBlocker {
  const { id, because = '', instead } = operation
  return {
    use: id,
    route: routeOf(operation),
    because,
    ...(instead !== undefined && { instead }),
    requests: [v1Text(operation, plainRequest(operation))],
  }
}
