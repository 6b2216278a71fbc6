import { ApiError, CODES, type CodeName } from '../../src/errors.ts'
import { type Answer, begin, bytesOf, type TranslateSettings, translated } from '../../src/serve/answer.ts'
import type { Router } from '../../src/serve/route.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import type { Operation, V1Request } from '../../src/tables/operation.ts'
import { type Call, ROWS } from '../../src/tables/turn.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import { spell } from '../contract/target.ts'
import { sending } from '../serve/sends.ts'

/** Freezes a JSON value recursively, so that a mutation throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value)
    for (const member of Object.values(value)) deepFreeze(member)
  }
  return value
}

/** v2's answer to a call: JSON, an error, or the name of an error code. */
type Said = JsonObject | CodeName | ApiError

/** One expected v2 call and v2's answer. */
export interface Exchange {
  /** `METHOD /path?query`: the path as sent, the query decoded. */
  readonly call: string
  readonly body?: unknown
  readonly answer: Said
}

/** A conversation as data: one v1 request, its v2 calls in order, and the v1 reply. */
export interface Transcript {
  readonly title: string
  readonly operation: string
  /** `METHOD /path?query`, decoded. */
  readonly request: string
  readonly body?: unknown
  readonly calls: readonly Exchange[]
  readonly status?: number
  /** The reply in the specification dialect. */
  readonly reply: unknown
  /** The reply in the published dialect; a refusal is the same in both. */
  readonly published?: unknown
  readonly settings?: Partial<TranslateSettings>
}

/** The HTTP status of a refusal (facts §12). */
const STATUSES: Partial<Record<CodeName, number>> = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  ABORTED: 409,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
  UNIMPLEMENTED: 501,
  UNAVAILABLE: 503,
}

/** Begins a transcript, which is written as the conversation goes: what v1 is sent, what v2 is asked, and what the client gets. */
export function transcript(operation: string, title: string) {
  return { sent: (request: string, body?: unknown) => sent({ operation, title, request, calls: [], ...(body !== undefined && { body }) }) }
}

function sent(so: Omit<Transcript, 'reply'>) {
  const calls = (...more: readonly Exchange[]) => sent({ ...so, calls: [...so.calls, ...more] })
  const fails = (status: number, reply: unknown): Transcript => ({ ...so, status, reply })
  return {
    under: (settings: Partial<TranslateSettings>) => sent({ ...so, settings }),
    calls,
    asks: (call: string, answer: Said) => calls({ call, answer }),
    writes: (call: string, body: unknown, answer: Said) => calls({ call, body, answer }),
    /** The names of the published dialect follow from the others, except where both are given. */
    answers: (reply: unknown, published: unknown = spell(reply, 'camel')): Transcript => ({
      ...so,
      reply: spell(reply, 'snake', true),
      published,
    }),
    fails,
    /** Members of the request that are wrong, each with its description. */
    finds: (...wrong: readonly Wrong[]) => fails(400, invalid(...wrong)),
    refuses(code: CodeName, message?: string, details?: readonly unknown[]): Transcript {
      const status = STATUSES[code]
      if (status === undefined) throw new Error(`no transcript is refused with ${code} yet`)
      return fails(status, failure(code, message, details))
    },
  }
}

const SETTINGS: Omit<TranslateSettings, 'dialect'> = {
  maskCase: 'snake',
  replaceMask: '*',
  readmes: true,
  notFound: 'empty',
  unknownParameters: 'drop',
  limits: { callsPerRequest: 1000, parallelCalls: 8, bufferedRows: 1000, rowsPerRequest: 1_000_000 },
}

export interface Played {
  readonly operation: string
  readonly calls: readonly { readonly call: string; readonly body?: unknown }[]
  readonly status: number
  readonly reply: unknown
}

/** Plays a transcript through router, plan and executor with canned answers and no network. */
export async function play(transcript: Transcript, router: Router, dialect: Dialect): Promise<Played> {
  const { operation, request } = routed(router, transcript)
  const calls: { call: string; body?: unknown }[] = []
  const send = sending(async (call: Call): Promise<JsonObject> => {
    const exchange = transcript.calls[calls.length]
    calls.push({ call: written(call), ...(call.body !== undefined && { body: call.body }) })
    if (!exchange) throw new Error(`unexpected call: ${written(call)}`)
    const { answer } = exchange
    if (answer instanceof ApiError) throw answer
    if (typeof answer === 'string') throw new ApiError(answer, SAID)
    return call.read?.([Buffer.from(JSON.stringify(answer))]) ?? deepFreeze(answer)
  })
  const settings = { ...SETTINGS, ...transcript.settings, dialect }
  const answer = await translated(operation, () => begin(operation, request, settings), send, settings)
  return { operation: operation.id, calls, status: answer.status, reply: replyOf(answer) }
}

function replyOf(answer: Answer): unknown {
  if ('body' in answer) return answer.body
  if ('text' in answer) return JSON.parse(Buffer.concat(bytesOf(answer.text)).toString())
  throw new Error('the answers of transcripts are short: they are never streamed')
}

/** Returns the expectation of a transcript in the form of `play`. */
export function expected({ operation, calls, status = 200, reply, published }: Transcript, dialect: Dialect): Played {
  const seen = calls.map(({ call, body }) => ({ call, ...(body !== undefined && { body }) }))
  return { operation, calls: seen, status, reply: dialect === 'published' && published !== undefined ? published : reply }
}

/** The message of an error that a transcript gives only as a code. */
export const SAID = 'said v2'

/** A v1 error body. */
export function failure(code: CodeName, message = SAID, details: readonly unknown[] = []): unknown {
  return { code: CODES[code].number, message, details }
}

type Wrong = readonly [field: string, description: string]

/** A v1 error body about members of the request (facts §15). */
function invalid(...wrong: readonly Wrong[]): unknown {
  const fieldViolations = wrong.map(([field, description]) => ({ field, description }))
  const message = wrong.map(([field, description]) => `${field}: ${description}`).join('; ')
  return failure('INVALID_ARGUMENT', `Invalid argument: ${message}`, [
    { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations },
  ])
}

/** A v1 list answer. */
export function items(...rows: readonly unknown[]): unknown {
  return { [ROWS]: rows }
}

function routed(router: Router, { request: line, body }: Transcript): { operation: Operation; request: V1Request } {
  const [, method = '', path = '', search = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(line) ?? []
  const match = router.match(method, path)
  if (typeof match !== 'object') throw new Error(`${line} is not routed`)
  const query = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(search)) query.set(name, [...(query.get(name) ?? []), value])
  return { operation: match.operation, request: { params: match.params, query, body: deepFreeze(body) } }
}

function written({ method, path, query }: Call): string {
  const search = query.map(([name, value]) => `${name}=${value}`).join('&')
  return `${method} ${path}${search && `?${search}`}`
}
