import { Client as Channel, ChannelCredentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { differences } from '../../../mappings/differences.ts'
import { closedLater } from '../../stage/upstream.ts'
import { complaintsOf, run } from '../run.ts'
import type { Answer, Carry, Case, Request, Target } from '../target.ts'
import {
  EXCEPTIONS,
  enums,
  type FieldFact,
  type Inexpressible,
  type Json,
  type MethodFact,
  messages,
  methods,
  NotExpressible,
  readMessage,
  saysZero,
  wireTypes,
  writeMessage,
} from './protojson.ts'

export interface Detail {
  readonly type: string
  readonly value: Uint8Array
}

/** HTTP statuses of codes, as a REST gateway has them (facts §15). */
const STATUS = [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401]

export function decodeMessage(type: string, bytes: Uint8Array): Json {
  return messages.has(type) ? wireTypes.lookupType(type).toObject(wireTypes.lookupType(type).decode(bytes), { longs: String }) : {}
}

export function encodeMessage(type: string, message: Json): Uint8Array {
  const of = wireTypes.lookupType(type)
  return of.encode(of.fromObject(message)).finish()
}

/** Returns a message as REST would answer it. */
export function okOf(type: string, message: Json): Answer {
  return { status: 200, type: 'application/json', body: writeMessage(type, message) }
}

/** Returns an error as REST would answer it. */
export function errorOf(code: number, message: string, details: readonly Detail[]): Answer {
  const shown = details.map(({ type, value }) => ({
    '@type': `type.googleapis.com/${type}`,
    ...writeMessage(type, decodeMessage(type, value)),
  }))
  return { status: STATUS[code] ?? 500, type: 'application/json', body: { code, message, details: shown } }
}

/** A REST request as the call of a gRPC method. */
export interface Call {
  readonly method: MethodFact
  /** The message as protobufjs takes it. */
  readonly message: Json
  readonly headers: Readonly<Record<string, string>>
}

interface Route {
  readonly method: MethodFact
  readonly pattern: RegExp
  readonly variables: readonly string[]
  /** Characters that are no variable: of two routes that fit, the one with more is meant. */
  readonly literal: number
}

/** `{id=**}` takes slashes, `{id}` and `{id=*}` take none. */
const routes: readonly Route[] = methods.map((method) => {
  const variables = [...method.template.matchAll(/\{([^}=]+)/g)].map(([, name = '']) => name)
  const pattern = method.template.replace(/\{[^}]+\}|[^{]+/g, (part) =>
    part.endsWith('=**}') ? '(.+)' : part.startsWith('{') ? '([^/]+)' : part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'),
  )
  return { method, pattern: new RegExp(`^${pattern}$`), variables, literal: method.template.replaceAll(/\{[^}]+\}/g, '').length }
})

/** Returns the call that says the same as a request; throws why there is none. */
export function callOf({ method: verb, path: target, headers = {}, text }: Request): Call {
  const [path = '', query = ''] = target.split('?')
  const { 'content-type': type, ...others } = headers
  if ('x-http-method-override' in headers || (verb === 'POST' && type?.includes('form'))) throw new NotExpressible('route', 'a form')
  if (/\/(\/|$)/.test(path)) throw new NotExpressible('spelling', target)
  const fitting = routes.filter(({ method, pattern }) => method.verb === verb && pattern.test(path))
  const route = fitting.sort((a, b) => b.literal - a.literal)[0]
  if (!route) throw new NotExpressible('route', `${verb} ${path}`)
  const { input, body } = route.method
  const said = body === undefined ? {} : bodyOf(input, body, text)
  const values = route.pattern.exec(path)?.slice(1) ?? []
  for (const [at, name] of route.variables.entries()) set(without(said, name), input, name, [unescaped(values[at] ?? '')])
  unescaped(query)
  for (const [name, all] of grouped(new URLSearchParams(query))) set(said, input, name, all)
  const message = readMessage(input, said)
  if (verb === 'PATCH' && saysZero(input, message)) throw new NotExpressible('zero', path)
  return { method: route.method, message, headers: others }
}

/** Returns what a body says: a whole message, or one field of it. The digits of long numbers survive as texts. */
function bodyOf(input: string, body: string, text = ''): Record<string, unknown> {
  if (text.trim() === '') return {}
  const json = parsed(text.replaceAll(/([:[,]\s*)(-?\d{16,})(?=\s*[,}\]])/g, '$1"$2"'))
  const said = body === '*' ? json : { [body]: json }
  readMessage(input, said)
  return { ...(said as Json) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NotExpressible('raw', text)
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new NotExpressible('spelling', text)
  }
}

/** Removes a member: a variable of the path replaces what the body says of it. */
function without(said: Record<string, unknown>, name: string): Record<string, unknown> {
  for (const spelling of [name, name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())]) delete said[spelling]
  return said
}

function grouped(query: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  return new Map([...query.keys()].map((name) => [name, query.getAll(name)]))
}

/** Sets a field by its dotted name, from the texts of a path or query. */
function set(into: Record<string, unknown>, message: string, name: string, texts: readonly string[]): void {
  const [first = '', ...rest] = name.split('.')
  const field = messages.get(message)?.find(({ proto, json }) => proto === first || json === first)
  if (!field) throw new NotExpressible('unknown', `${message} ${name}`)
  if (rest.length > 0) {
    into[field.proto] ??= {}
    set(into[field.proto] as Record<string, unknown>, field.type, rest.join('.'), texts)
    return
  }
  if (field.shape === 'map' || messages.has(field.type)) throw new NotExpressible('type', name)
  if (field.shape === 'one' && texts.length > 1) throw new NotExpressible('twice', name)
  if (field.proto in into) throw new NotExpressible('twice', name)
  const values = texts.map((text) => typed(field, text))
  into[field.proto] = field.shape === 'one' ? values[0] : values
}

/** Texts of flags and of enum numbers are not yet protobuf JSON. */
function typed({ type }: FieldFact, text: string): unknown {
  if (type === 'bool' && /^(1|t|true)$/i.test(text)) return true
  if (type === 'bool' && /^(0|f|false)$/i.test(text)) return false
  return enums.has(type) && /^-?\d+$/.test(text) ? Number(text) : text
}

export interface Until {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** A client that is none of ours. */
export interface Client {
  readonly call: (call: Call, token: string | undefined, until?: Until) => Promise<Answer>
  readonly close: () => void
}

export type Carried = ReturnType<typeof carried>

/** Returns a target whose requests are calls. A request that no call can express is sent as it is. */
export function carried(target: Target, { call, close }: Client) {
  /** The numbers of requests that were sent over REST, by reason. */
  const besides = new Map<Inexpressible, number>()
  let calls = 0
  const carry: Carry = (request, token) => {
    const made = expressed(request)
    if (typeof made === 'string') {
      besides.set(made, (besides.get(made) ?? 0) + 1)
      return undefined
    }
    calls += 1
    return call(made, token)
  }
  return { target: { ...target, carry }, besides, calls: () => calls, close }
}

function expressed(request: Parameters<Carry>[0]): Call | Inexpressible {
  try {
    return callOf(request)
  } catch (thrown) {
    if (thrown instanceof NotExpressible) return thrown.because
    throw thrown
  }
}

const OPTIONS = { 'grpc.max_receive_message_length': -1, 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 }

/** Speaks gRPC by grpc-js, with messages by protobufjs. In a test it is closed with it. */
export function grpcClient(url: string, options = {}): Client {
  const channel = new Channel(new URL(url).host, ChannelCredentials.createInsecure(), { ...OPTIONS, ...options })
  closedLater(async () => channel.close())
  return {
    call: ({ method: { path, input, output }, message, headers }, token, { timeoutMs, signal } = {}) =>
      new Promise((resolve) => {
        const metadata = new Metadata()
        for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
        if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
        const encode = (value: typeof message) => Buffer.from(encodeMessage(input, value))
        const decode = (bytes: Buffer) => decodeMessage(output, bytes)
        const deadline = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
        const call = channel.makeUnaryRequest(path, encode, decode, message, metadata, deadline, (error, answer) =>
          resolve(error ? errorOf(error.code, error.details, detailsOf(error)) : okOf(output, answer ?? {})),
        )
        signal?.addEventListener('abort', () => call.cancel(), { once: true })
      }),
    close: () => channel.close(),
  }
}

/** Reads google.rpc.Status from the trailers (facts §15). */
function detailsOf({ metadata }: ServiceError): readonly Detail[] {
  const [bytes] = metadata.get('grpc-status-details-bin')
  if (!(bytes instanceof Buffer)) return []
  const { details = [] } = wireTypes.lookupType('google.rpc.Status').decode(bytes) as unknown as {
    details?: readonly { type_url: string; value: Uint8Array }[]
  }
  return details.map(({ type_url, value }) => ({ type: type_url.slice(type_url.lastIndexOf('/') + 1), value }))
}

const NAMES = [
  'ok',
  'canceled',
  'unknown',
  'invalid_argument',
  'deadline_exceeded',
  'not_found',
  'already_exists',
  'permission_denied',
  'resource_exhausted',
  'failed_precondition',
  'aborted',
  'out_of_range',
  'unimplemented',
  'internal',
  'unavailable',
  'data_loss',
  'unauthenticated',
]

interface ConnectError {
  readonly code: string
  readonly message?: string
  readonly details?: readonly { readonly type: string; readonly value: string }[]
}

/** Speaks Connect with JSON by fetch alone. */
export function connectClient(url: string): Client {
  return {
    async call({ method: { path, input, output }, message, headers }, token) {
      const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'connect-protocol-version': '1', ...authorization, ...headers },
        body: JSON.stringify(writeMessage(input, message)),
      })
      return connectAnswer(output, JSON.parse(await response.text()))
    },
    close: () => {},
  }
}

/** Returns an answer of Connect as REST would give it. An error has a code as text; no v1 message has. */
export function connectAnswer(output: string, json: unknown): Answer {
  const { code, message = '', details = [] } = json as ConnectError
  if (!NAMES.includes(code)) return okOf(output, readMessage(output, json))
  return errorOf(NAMES.indexOf(code), message, details.map(detailOf))
}

const detailOf = ({ type, value }: { type: string; value: string }): Detail => ({ type, value: Buffer.from(value, 'base64') })

/** Plays a case on both sides at the same time. Throws what differs and is not declared, and an exception that is none. */
export async function compare(one: Case, genuine: Carried, proxied: Carried): Promise<void> {
  const [there, here] = await Promise.all([run(one, genuine.target), run(one, proxied.target)])
  const complaints = complaintsOf({ case: one, genuine: there, proxied: here }, differences)
  const isException = EXCEPTIONS[one.name] !== undefined
  if (isException && complaints.length === 0) throw new Error(`it passes and is no exception: ${EXCEPTIONS[one.name]}`)
  if (!isException && complaints.length > 0) throw new Error(complaints.join('\n'))
}
