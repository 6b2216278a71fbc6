import { ApiError } from '../errors.ts'
import { requestOf, type SameCall, sameCall } from '../grpc/messages/request-of.ts'
import type { Rpc, RpcMethod } from '../grpc/proto-files.ts'
import { shellQuoted } from '../tables/check.ts'
import { type Explanation, words } from './explain.ts'

type Served = Extract<GrpcSubject, { readonly kind: 'request' }>

/** Says which REST request a gRPC call becomes. */
export function grpcHead({ rpc, method, url, body }: Served): string {
  return `# ${rpc.path} becomes ${method} ${url}${body === undefined ? '' : ` with ${body}`}`
}

/** Writes the calls to v2 once more, as comments that make them over gRPC. */
export function grpcLines(rpc: Rpc, base: string, { course }: Explanation): readonly string[] {
  const lines = inGrpc(rpc, course).map((same) => `#   ${grpcurl(base, same)}`)
  return lines.length === 0 ? [] : ['# the same over gRPC:', ...lines]
}

/** The same as data. */
export function grpcReport(rpc: Rpc, subject: Served, { course }: Explanation) {
  const { method, url, body } = subject
  return {
    method: subject.rpc.path,
    request: { method, url, ...(body !== undefined && { body: JSON.parse(body) as unknown }) },
    calls: inGrpc(rpc, course).map(({ number, method, message }) => {
      return { number, method: method.path, message: JSON.parse(words(JSON.stringify(message))) as unknown }
    }),
  }
}

/** Returns the calls to v2 that a gRPC method can make. */
function inGrpc({ methods }: Rpc, { calls }: Explanation['course']) {
  const ofV2 = methods.filter(({ version }) => version === 'v2')
  return calls.flatMap(({ number, call }) => {
    const same = sameCall(ofV2, { ...call, path: decodeURIComponent(call.path) })
    return same ? [{ number, ...same }] : []
  })
}

/** A service without reflection needs its proto files as well: `-import-path`, `-proto`. */
function grpcurl(base: string, { method, message }: SameCall): string {
  const { protocol, hostname, port } = new URL(base)
  const isPlain = protocol === 'http:'
  const address = `${hostname}:${port || (isPlain ? 80 : 443)}`
  const name = method.path.slice(1)
  return `grpcurl${isPlain ? ' -plaintext' : ''} -H "Authorization: Bearer $TOKEN" -d ${shellQuoted(words(JSON.stringify(message)))} ${address} ${name}`
}

/** Settings that say how v2 gets gRPC calls, named as in the configuration. */
interface GrpcToV2 {
  readonly v2Grpc: 'relay' | 'rest'
  readonly v2beta1: 'as-is' | 'v2'
}

/** What a gRPC call is: the REST request of v1 that it becomes, or a sentence about a call that the tables do not answer. */
export type GrpcSubject =
  | { readonly kind: 'request'; readonly rpc: RpcMethod; readonly method: string; readonly url: string; readonly body: string | undefined }
  | { readonly kind: 'other'; readonly sentence: string }

/**
 * Returns what a call becomes. `name` is `package.Service/Method`, with or without a slash before it; `message` is protojson, or bytes.
 * Throws the ApiError that the call is answered with.
 */
export function grpcSubject(rpc: Rpc, name: string, message: Buffer, settings: GrpcToV2): GrpcSubject {
  const path = name.startsWith('/') ? name : `/${name}`
  const method = rpc.find(path)
  if (!method) return { kind: 'other', sentence: strange(rpc, path, settings) }
  if (method.version !== 'v1') return { kind: 'other', sentence: ofV2(rpc, method, message, settings) }
  if (!method.rule) {
    return {
      kind: 'other',
      sentence: `${path} has no REST request: upstream.v1 answers it over gRPC, or the answer is UNIMPLEMENTED (code 12).`,
    }
  }
  const { method: verb, url, body, unsaid } = requestOf(method, message, codecOf(message))
  if (unsaid.length > 0) {
    const because = `REST cannot say ${unsaid.join(', ')}, a list of messages in a query`
    return { kind: 'other', sentence: `${path} is answered over gRPC alone: ${because}. The REST request is ${verb} ${url}.` }
  }
  return { kind: 'request', rpc: method, method: verb, url, body: body?.toString() }
}

function strange(rpc: Rpc, path: string, { v2Grpc }: GrpcToV2): string {
  if (rpc.isOfV1(path)) return `${path} is not a method of its service: the answer is UNIMPLEMENTED (code 12).`
  if (v2Grpc === 'rest') return `${path} has no REST request: the answer is UNIMPLEMENTED (code 12), because upstream.v2Grpc is rest.`
  return `${path} is not a method of v1: the proxy passes its calls on to v2 unchanged.`
}

/** Says what becomes of a call of v2 or of v2beta1. */
function ofV2(rpc: Rpc, method: RpcMethod, message: Buffer, { v2Grpc, v2beta1 }: GrpcToV2): string {
  const { path, version } = method
  if (v2Grpc === 'rest')
    return `${path} is a method of ${version}: the proxy sends it to v2 as ${restOf(method, message)} (upstream.v2Grpc is rest).`
  const named = path.replace('.v2beta1.', '.v2.')
  if (version === 'v2beta1' && v2beta1 === 'v2' && rpc.find(named)) {
    return `${path} is a method of v2beta1: the proxy passes it on to v2 as ${named} (grpc.v2beta1 is v2).`
  }
  return `${path} is a method of ${version}: the proxy passes it on to v2 unchanged (upstream.v2Grpc is relay).`
}

function restOf(method: RpcMethod, message: Buffer): string {
  try {
    const { method: verb, url } = requestOf(method, message, codecOf(message))
    return `${verb} ${url}`
  } catch (error) {
    if (error instanceof ApiError) return `nothing: it answers ${error.code}, ${error.message}`
    throw error
  }
}

const OBJECT = 0x7b

/** No message of these services begins with the byte of a `{`: field 15 would have to be a group. */
function codecOf(message: Buffer): 'json' | 'proto' {
  return message[0] === OBJECT ? 'json' : 'proto'
}
