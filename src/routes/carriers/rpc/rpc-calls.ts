import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { CODES } from '../../../errors/codes.ts'
import type { Room } from '../../../limits/room.ts'
import { createDeadlines } from '../../../listen/times/deadlines.ts'
import type { Classify } from '../../../request/classify.ts'
import { readFacts } from '../../../rpc/facts.ts'
import { openRpc, type RpcMethod } from '../../../rpc/open-rpc.ts'
import { type Core, createCore } from '../../../serve/core.ts'
import type { RequestRecord } from '../../../serve/request-record.ts'
import type { Tracing } from '../../../tracing/tracing.ts'
import { createServeGrpc } from '../../../wire/serve-grpc.ts'
import type { WireCall, WireHandler, WireMetadata, WireReply } from '../../../wire/wire-call.ts'
import type { RawHeaders } from '../../announce.ts'
import type { BegunCall } from '../../watch/call-log.ts'
import { createAnswerV1 } from './answer-v1.ts'
import { codeOf } from './reply-status.ts'
import type { V1Side } from './v1-side.ts'

export interface RpcSettings {
  readonly requestBytes: number
  readonly deadlineMs: number
  /** The maximum number of bytes of one answer. */
  readonly messageBytes: number
}

export interface RpcParts {
  /** The core that serves v1 over HTTP. */
  readonly core: Core
  readonly v1: V1Side | undefined
  readonly classify: Classify
  readonly announced: RawHeaders
  readonly tracing: Tracing | undefined
  /** The room that all bodies share. */
  readonly room: Room
  readonly failed: (error: unknown) => void
  readonly settings: RpcSettings
}

/** Serves calls of the gRPC services of v1. It is built when the first such call arrives. */
export interface RpcCalls {
  /** What answers a method; undefined if no v1 service has it, so that its calls are relayed. */
  find(path: string): Answerer | undefined
  /** Serves one gRPC call on a bare stream. */
  serveGrpc(answerer: Answerer, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, begun: BegunCall): void
}

/** Makes the handler of one call. */
export type Answerer = (record: RequestRecord, headers: IncomingHttpHeaders) => WireHandler

export function createRpcCalls({ core, v1, classify, announced, tracing, room, failed, settings }: RpcParts): RpcCalls {
  const { requestBytes, deadlineMs, messageBytes } = settings
  const rpc = openRpc(core.operations, readFacts())
  const { registry } = rpc
  const published = createCore({ ...core, settings: { ...core.settings, dialect: 'published' } })
  const answerV1 = createAnswerV1({ published, compared: core, classify, v1, registry, limits: { messageBytes } })
  const serveGrpc = createServeGrpc({ requestBytes, room, deadlines: createDeadlines(deadlineMs), failed })
  const services = new Set(rpc.methods.filter(isOfV1).map(({ service }) => service))
  const headers = announcedMetadata(announced)

  const answering =
    (answer: (record: RequestRecord, call: WireCall) => WireReply | Promise<WireReply>, operation = 'unknown'): Answerer =>
    (record, asked) => {
      record.operation = operation
      record.mode = 'v2'
      record.span = tracing?.begin(asked)
      return async (call) => {
        const reply = await answer(record, call)
        record.grpcStatus = codeOf(reply)
        return { ...reply, headers: { ...reply.headers, ...headers, 'x-request-id': record.id } }
      }
    }
  return {
    find(path) {
      const method = rpc.find(path)
      if (method && isOfV1(method)) return answering((record, call) => answerV1({ method, call, record }), method.operation?.id)
      return services.has(serviceOf(path)) ? answering(() => unknownMethod(path)) : undefined
    },
    serveGrpc(answerer, stream, asked, { record, ended }) {
      serveGrpc(stream, asked, answerer(record, asked), (code) => ended({ code, failure: undefined }))
    },
  }
}

function isOfV1({ version }: RpcMethod): boolean {
  return version === 'v1'
}

/** `/package.Service/Method` → `package.Service`. */
function serviceOf(path: string): string {
  return path.slice(1, path.lastIndexOf('/'))
}

/** The answer to a method that a known service does not have, as grpc-go words it. */
function unknownMethod(path: string): WireReply {
  const method = path.slice(path.lastIndexOf('/') + 1)
  return { status: { code: CODES.UNIMPLEMENTED.number, message: `unknown method ${method} for service ${serviceOf(path)}`, details: [] } }
}

function announcedMetadata(announced: RawHeaders): WireMetadata {
  return Object.fromEntries(announced.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), announced[at + 1] ?? '']] : [])))
}
