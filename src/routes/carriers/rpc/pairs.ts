import type { FastifyReply, FastifyRequest } from 'fastify'
import { asApiError } from '../../../errors.ts'
import { pathOf } from '../../../serve/classify.ts'
import type { RequestRecord } from '../../../serve/core.ts'
import type { Passthrough } from '../../../serve/http/carriers.ts'
import type { Forwarded } from '../../../serve/http/forwarded.ts'
import { refuse } from '../../../serve/http/v1-surface.ts'
import type { LazyRpc } from './lazy-rpc.ts'
import type { RpcCalls } from './rpc-calls.ts'

interface PairsParts {
  readonly rpc: LazyRpc
  readonly forwarded: Forwarded
  readonly passthrough: Pick<Passthrough, 'serve'>
}

/** Serves a request outside v1's paths: as a call of gRPC-Web or Connect if its path names a method that is known, else as v2's own. */
export function createPairs({ rpc, forwarded, passthrough }: PairsParts): Passthrough['serve'] {
  return (request, reply, record) => {
    const path = pathOf(request.raw.url ?? '')
    if (!rpc.concerns(path)) return passthrough.serve(request, reply, record)
    const carry = (calls: RpcCalls) => {
      const to = calls.find(path)
      if (!to) return passthrough.serve(request, reply, record)
      reply.hijack()
      record.protocol = protocolOf(request)
      forwarded.rewrite(request.raw)
      calls.servePair(to, { request: request.raw, response: reply.raw }, record)
    }
    rpc.use(carry, (thrown) => fail(reply, record, thrown))
  }
}

function protocolOf({ headers }: FastifyRequest): NonNullable<RequestRecord['protocol']> {
  return headers['content-type']?.toLowerCase().startsWith('application/grpc-web') ? 'grpc-web' : 'connect'
}

function fail(reply: FastifyReply, record: RequestRecord, thrown: unknown): void {
  record.error = asApiError(thrown)
  reply.hijack()
  refuse(reply.raw, record.error)
}
