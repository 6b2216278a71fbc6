import { mappings } from '../../../../mappings/index.ts'
import { ApiError, CODES, type CodeName } from '../../../../src/errors.ts'
import { type Exchange, SAID, type Transcript } from '../../../mappings/transcript.ts'
import { transcripts } from '../../../mappings/transcripts.ts'

const GOOGLE = 'type.googleapis.com/google.rpc.'

/** v2's own answer to a call. */
export interface Said {
  readonly status: number
  readonly body: string
}

/** One v1 request, its v2 calls, and its success, written by hand in the tests of the tables. */
export interface Conversation {
  readonly name: string
  readonly operation: string
  readonly method: string
  /** Path and query, encoded. */
  readonly target: string
  readonly body: string
  readonly calls: readonly { readonly call: string; readonly said: Said }[]
  readonly reply: unknown
}

function conversationOf({ title, operation, request, body, calls, reply }: Transcript): Conversation {
  const [, method = '', path = '', search = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(request) ?? []
  const query = new URLSearchParams(search).toString()
  return {
    name: `${operation}: ${title}`,
    operation,
    method,
    target: path.split('/').map(encoded).join('/') + (query && `?${query}`),
    body: body === undefined ? '' : JSON.stringify(body),
    calls: calls.map(({ call, answer }) => ({ call, said: said(call, answer) })),
    reply,
  }
}

/** A colon may begin a verb. */
function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%3A', ':')
}

function said(call: string, answer: Exchange['answer']): Said {
  if (typeof answer === 'string') return failure(new ApiError(answer, SAID), call)
  if (answer instanceof ApiError) return failure(answer, call)
  return { status: 200, body: call.startsWith('DELETE ') ? '' : JSON.stringify(answer) }
}

/** Every error of v2 has an ErrorInfo, and one of a missing resource names it (specification §7). */
function failure({ code, http, message, details }: ApiError, call: string): Said {
  const all = [...infosOf(code, call), ...details]
  return { status: http, body: JSON.stringify({ code: CODES[code].number, message, details: all }) }
}

/** Returns what a call asks for: the end of its path, or the value of its last parameter; '' if it names nothing. */
function nameIn(call: string): string {
  const [, path = '', query = ''] = /^[A-Z]+ \/[^/]+\/v\d\w*\/[^/?]+\/?([^?]*)\??(.*)$/.exec(call) ?? []
  return path.replace(/:[^/]*$/, '') || (query.split('=').at(-1) ?? '')
}

export function infosOf(code: CodeName, call = ''): readonly object[] {
  const name = nameIn(call) || 'x'
  const info = { '@type': `${GOOGLE}ErrorInfo`, reason: code, domain: 'iam.example.com' }
  const resource = { '@type': `${GOOGLE}ResourceInfo`, resourceType: 'iam.example.com/Group', resourceName: name }
  return code === 'NOT_FOUND' ? [info, resource] : [info]
}

/** Returns the call of a proxy's request as transcripts write it. */
export function callOf(method = '', url = ''): string {
  const [path, search] = url.split('?', 2)
  const pairs = search?.split('&').map((pair) => pair.split('=', 2).map(decodeURIComponent).join('='))
  return `${method} ${path}${pairs ? `?${pairs.join('&')}` : ''}`
}

const served = mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined)

/** The conversations that succeed with the default settings. Without a name to miss, NOT_FOUND is an error of REST. */
const told = transcripts
  .filter(({ status = 200, settings, calls }) => status === 200 && !settings && calls.length > 0)
  .filter(({ calls }) => calls.every(({ call, answer }) => answer !== 'NOT_FOUND' || nameIn(call) !== ''))
  .map(conversationOf)

/** The conversations of every operation that v2 serves. */
export const conversations: ReadonlyMap<string, readonly Conversation[]> = new Map(
  served.map(({ id }) => [id, told.filter(({ operation }) => operation === id)]),
)

const silent = served.filter(({ id }) => conversations.get(id)?.length === 0)
if (silent.length > 0) throw new Error(`without a conversation: ${silent.map(({ id }) => id).join(', ')}`)
