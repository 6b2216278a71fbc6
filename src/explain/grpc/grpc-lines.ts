import { type SameCall, sameCall } from '../../grpc/messages/request-of.ts'
import type { Rpc } from '../../grpc/proto-files.ts'
import { shellQuoted } from '../../tables/check.ts'
import type { Explanation } from '../explain.ts'
import { words } from '../explanation-text.ts'
import type { PlannedCall } from '../explore.ts'
import type { GrpcSubject } from './grpc-subject.ts'

type Served = Extract<GrpcSubject, { readonly kind: 'request' }>

/** Says which REST request a gRPC call becomes. */
export function grpcHead({ rpc, method, url, body }: Served): string {
  return `# ${rpc.path} becomes ${method} ${url}${body === undefined ? '' : ` with ${body}`}`
}

/** Writes the calls to v2 once more, as comments that make them over gRPC. */
export function grpcLines(rpc: Rpc, base: string, { course }: Explanation): readonly string[] {
  const lines = course.calls.flatMap((planned) => {
    const same = inGrpc(rpc, planned)
    return same ? [`#   ${grpcurl(base, same)}`] : []
  })
  return lines.length === 0 ? [] : ['# the same over gRPC:', ...lines]
}

/** The same as data. */
export function grpcReport(rpc: Rpc, subject: Served, { course }: Explanation) {
  const { method, url, body } = subject
  return {
    method: subject.rpc.path,
    request: { method, url, ...(body !== undefined && { body: JSON.parse(body) as unknown }) },
    calls: course.calls.flatMap((planned) => {
      const same = inGrpc(rpc, planned)
      return same ? [{ number: planned.number, method: same.method.path, message: inWords(same.message) }] : []
    }),
  }
}

function inGrpc({ methods }: Rpc, { call: { path, ...call } }: PlannedCall): SameCall | undefined {
  const ofV2 = methods.filter(({ version }) => version === 'v2')
  return sameCall(ofV2, { ...call, path: decodeURIComponent(path) })
}

function inWords(message: object): unknown {
  return JSON.parse(words(JSON.stringify(message)))
}

/** A service without reflection needs its proto files as well: `-import-path`, `-proto`. */
function grpcurl(base: string, { method, message }: SameCall): string {
  const { protocol, hostname, port } = new URL(base)
  const isPlain = protocol === 'http:'
  const address = `${hostname}:${port || (isPlain ? 80 : 443)}`
  const name = method.path.slice(1)
  return `grpcurl${isPlain ? ' -plaintext' : ''} -H "Authorization: Bearer $TOKEN" -d ${shellQuoted(words(JSON.stringify(message)))} ${address} ${name}`
}
