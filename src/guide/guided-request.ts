import { curl } from '../explain/curl.ts'
import { explain } from '../explain/explain.ts'
import { callReport, jsonReport, words } from '../explain/explanation-text.ts'
import type { PlannedCall } from '../explain/explore.ts'
import { inWords } from '../explain/marker.ts'
import type { SampledKind } from '../migrate/clients.ts'
import { queryText } from '../serve/upstream/exchange.ts'
import type { Env, Mapping, Operation, V1Request } from '../tables/operation.ts'
import type { Call } from '../tables/turn.ts'
import type { GuideCall, GuideRequest } from './guide-schema.ts'
import { otherForms, plainRequest, sampleRequest } from './sample-request.ts'

/** What every guide needs to know of the service. */
export interface GuideContext {
  readonly mappings: readonly Mapping[]
  readonly env: Env
  /** The address of v2. */
  readonly base: string
}

/** Explains one kind of request of a client; `samples` is the number of all requests that were looked at. */
export function guidedKind(operation: Operation, kind: SampledKind, samples: number, context: GuideContext): GuideRequest {
  return {
    ...guided(operation, sampleRequest(operation, kind), context),
    ...(kind.members && operation.request && { members: [...kind.members] }),
    ...(kind.unknown !== undefined && { unknownParameters: kind.unknown }),
    share: kind.samples / samples,
  }
}

/** Explains the plainest request of an operation. */
export function guidedPlain(operation: Operation, context: GuideContext): GuideRequest {
  return guided(operation, plainRequest(operation), context)
}

/** Returns `METHOD /path?query` of a v1 request. */
export function v1Text({ method, template }: Operation, { params, query }: V1Request): string {
  const path = template.replace(/\{([^{}=]+)(?:=\*\*)?\}/g, (_, name: string) => params[name] ?? '')
  const search = queryText({ query: [...query].flatMap(([name, values]) => values.map((value) => [name, value] as const)) })
  return words(`${method} ${path}${search && `?${search}`}`)
}

function guided(operation: Operation, asked: V1Request, { mappings, env, base }: GuideContext): GuideRequest {
  const explained = (request: V1Request) => ({ request, explanation: explain(operation, request, env, { mappings, differences: [] }) })
  const first = explained(asked)
  const others = first.explanation.refusal ? otherForms(operation, asked).map(explained) : []
  const { request, explanation } = others.find((other) => !other.explanation.refusal) ?? first
  const { refusal } = jsonReport(base, explanation)
  return {
    v1: v1Text(operation, request),
    calls: explanation.course.calls.map((planned) => guidedCall(base, planned)),
    ...(refusal && { refusal }),
  }
}

function guidedCall(base: string, planned: PlannedCall): GuideCall {
  const { branches = [], ...call } = callReport(base, planned)
  const followed = branches.map(({ when, calls }, nth) => ({
    when,
    calls: calls.map((made, at) => ({ ...made, curl: line(planned.branches[nth]?.calls[at] ?? planned.call) })),
  }))
  return { ...call, curl: line(planned.call), ...(followed.length > 0 && { branches: followed }) }
}

/** Returns a call as a line for a shell, with the address of v2 in the variable V2. */
function line(call: Call): string {
  return curl('$V2', call, '-sS', inWords)
}
