import { isOfBoth } from '../../../../src/grpc/facts.ts'
import { methods } from '../../../compat/rpc/facts.ts'
import { readMessage } from '../../../compat/rpc/protojson.ts'
import { wireTypes } from '../../../compat/rpc/wire-types.ts'
import type { RpcGiven } from './ask.ts'
import type { RpcCase } from './draw.ts'

const UNKNOWN = 2
const LAST = 16

/** Names of Connect's errors; `unknown` is none that v1 answers. */
const NAMES =
  /^(canceled|invalid_argument|deadline_exceeded|not_found|already_exists|permission_denied|resource_exhausted|failed_precondition|aborted|out_of_range|unimplemented|internal|unavailable|data_loss|unauthenticated)$/

/** HTTP errors of requests that are no calls: Connect and gRPC answer a type or a method that they do not know by HTTP alone. */
const NO_CALL = new Set([404, 405, 413, 415, 431])

/** Paths of v2's own methods that v1 publishes, too. Their messages are passed on unread, and the v2 of these runs echoes any bytes. */
const OF_V2 = new Set(methods.filter(isOfBoth).map(({ path }) => path))

/** Paths of methods of v1, known or not. */
const OURS = /^\/chainguard\.platform\.(?!.*\.v2)[\w.]+\/\w+$/

/** Returns what is wrong with an answer; undefined if nothing is. */
export function wrongWith(one: RpcCase, given: RpcGiven): string | undefined {
  if (one.over === 'HTTP/2' && one.ends !== 'end') return undefined
  if (given.status === 0) return `no answer: reset ${given.reset}`
  // What is not a method of v1 is passed on as it is, or refused by HTTP alone.
  if (NO_CALL.has(given.status) || !OURS.test(one.path) || OF_V2.has(one.path)) return undefined
  if (one.carrier === 'connect') return wrongWithConnect(one, given)
  if (given.status !== 200) return `HTTP ${given.status}`
  if (one.carrier === 'grpc') return wrongWithEnd(one, { ...given, trailers: new Map([...given.headers, ...given.trailers]) })
  const { message, trailers } = splitWeb(given)
  return wrongWithEnd(one, { ...given, body: message, trailers: new Map([...given.headers, ...trailers]) })
}

function wrongWithEnd({ path, type }: RpcCase, { body, trailers }: RpcGiven): string | undefined {
  const code = Number(trailers.get('grpc-status') ?? Number.NaN)
  const said = trailers.get('grpc-message') ?? ''
  if (!Number.isInteger(code) || code < 0 || code > LAST) return `code ${trailers.get('grpc-status')}`
  if (code === UNKNOWN || said === 'internal error') return `code ${code}: ${said}`
  if (code !== 0) return body.length === 0 ? undefined : 'a message and an error'
  if (body.length < 5 || body.readUInt32BE(1) !== body.length - 5) return 'no whole message'
  return body[0] === 0 ? wrongWithMessage(path, type, body.subarray(5)) : undefined
}

function wrongWithConnect({ path, type }: RpcCase, { status, headers, body }: RpcGiven): string | undefined {
  if (status === 200) {
    return headers.has('content-encoding') ? undefined : wrongWithMessage(path, type, body)
  }
  const { code, message } = JSON.parse(body.toString()) as { code?: unknown; message?: unknown }
  return NAMES.test(String(code)) && message !== 'internal error' ? undefined : `HTTP ${status}, ${body.toString()}`
}

/** A message must be one of its type. An exception says what is wrong. */
function wrongWithMessage(path: string, type: string, bytes: Buffer): string | undefined {
  const method = methods.find((known) => known.path === path)
  if (!method) return 'a message of no method'
  if (type.includes('json')) readMessage(method.output, JSON.parse(bytes.toString()))
  else wireTypes.lookupType(method.output).decode(bytes)
  return undefined
}

/** Splits a body of gRPC-Web into its message and its trailers (gRPC-Web, Message framing). */
function splitWeb({ headers, body }: RpcGiven): { readonly message: Buffer; readonly trailers: ReadonlyMap<string, string> } {
  const bytes = headers.get('content-type')?.includes('-text') ? Buffer.from(body.toString('latin1'), 'base64') : body
  let at = 0
  while (at + 5 <= bytes.length && (bytes[at] ?? 0) < 128) at += 5 + bytes.readUInt32BE(at + 1)
  const lines = bytes
    .subarray(at + 5)
    .toString('latin1')
    .split('\r\n')
    .filter(Boolean)
  const pairs = lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()])
  return { message: bytes.subarray(0, at), trailers: new Map(pairs) }
}
