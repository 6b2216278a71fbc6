import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2'
import { type ApiError, CODES, codeName } from '../../errors.ts'
import { type Budget, createBudget, createHolding, type Holding } from '../../serve/bounds.ts'
import type { Classify } from '../../serve/classify.ts'
import { type Core, type CoreSettings, createCore, type RequestRecord } from '../../serve/core.ts'
import type { RawHeaders } from '../../serve/http/app.ts'
import { createDeadlines } from '../../serve/listen/times.ts'
import type { Tracing } from '../../serve/watch/spans.ts'
import { sharedRpc } from '../proto-files.ts'
import { refuseGrpc } from '../relay/relay.ts'
import type { CallUnary } from '../relay/unary.ts'
import type { WireHandler, WireMetadata, WireReply } from '../wire/call.ts'
import { createCors, createServePair, type WebPair } from '../wire/connect.ts'
import { createServeGrpc } from '../wire/grpc.ts'
import { createAnswerV1 } from './answer-v1.ts'
import { type CallLimits, codeOf, createUnderWay } from './call.ts'
import type { BegunCall } from './carrier.ts'
import { createDestinations, createSendByGrpc, type Destination, type V2Calls } from './destinations.ts'

interface RpcSettings {
  readonly requestBytes: number
  readonly deadlineMs: number
  /** Of one answer. They may change. */
  readonly limits: CallLimits
  /** The maximum number of bytes of all long answers that are held. */
  readonly messagesBytes: number
  /** How a call is translated: as over REST, under the published names. It may change. */
  readonly translation: CoreSettings
  /** Calls of v2beta1 are calls of v2. */
  readonly asV2: boolean
  /** The origins whose pages may call. */
  readonly corsOrigins: readonly string[]
}

/** How v1 gets calls that are not translated: as gRPC, or as the REST calls that they say. */
type V1Calls = { readonly call: CallUnary } | 'rest'

export interface RpcParts {
  /** The core that serves v1 over HTTP. */
  readonly core: Core
  readonly v2: V2Calls
  /** Undefined when no v1 upstream is configured. */
  readonly v1: V1Calls | undefined
  readonly classify: Classify
  readonly announced: RawHeaders
  readonly tracing: Tracing | undefined
  /** The budget that all bodies share. */
  readonly budget: Budget
  readonly failed: (error: unknown) => void
  readonly settings: RpcSettings
}

export type RpcCalls = ReturnType<typeof createRpcCalls>

/** Serves calls of the services that are known. It is built when the first such call arrives. */
export function createRpcCalls({ core, v1, v2, classify, announced, tracing, budget, failed, settings }: RpcParts) {
  const { requestBytes, deadlineMs, limits, asV2 } = settings
  const rpc = sharedRpc(core.operations)
  const { registry } = rpc
  const published = createCore({ ...core, settings: settings.translation })
  const toV1 = typeof v1 === 'object' ? { ...v1, registry, limits } : v1
  const overGrpc = 'call' in v2 ? { ...published, hasV1: false, send: createSendByGrpc(rpc, v2.call, limits) } : undefined
  const answerV1 = createAnswerV1({ published, compared: core, overGrpc, classify, v1: toV1, registry, limits })
  const wire = { requestBytes, budget, deadlines: createDeadlines(deadlineMs), failed }
  const serveGrpc = createServeGrpc(wire)
  const servePair = createServePair(wire)
  const cors = settings.corsOrigins.length > 0 ? createCors(settings.corsOrigins) : undefined
  const underWay = createUnderWay()
  const ours = announcedMetadata(announced)
  const longAnswers = createBudget(settings.messagesBytes)

  const begin = (
    { answer, operation, isNative, isSafe }: Destination,
    record: RequestRecord,
    asked: IncomingHttpHeaders,
    holding: Holding,
  ): WireHandler => {
    const held = isSafe ? holding : undefined
    record.operation = operation
    record.mode = isNative ? 'native' : 'v2'
    if (!isNative) record.span = tracing?.begin(asked)
    const told = (reply: WireReply): WireReply => {
      record.grpcStatus = codeOf(reply)
      return isNative ? reply : { ...reply, headers: { ...reply.headers, ...ours, 'x-request-id': record.id } }
    }
    return (call) => underWay.wait(answer(call, record, held), () => stopped(record, isSafe)).then(told)
  }
  return {
    rpc,
    /** Returns what answers a method; undefined if no known service has it, so that its calls pass to v2. */
    find: createDestinations({ rpc, v1: answerV1, v2, asV2, limits }),
    /** True if a service may get the headers of the client, and so those of forwarding. */
    isForwarded: ({ isNative }: Destination): boolean => isNative || v1 !== undefined,
    /** Serves one gRPC call on a bare stream. */
    serveGrpc(to: Destination, stream: ServerHttp2Stream, headers: IncomingHttpHeaders, { record, ended }: BegunCall) {
      const holding = createHolding(longAnswers)
      const handler = begin(to, record, headers, holding)
      if (to.missing) return refuseGrpc(stream, to.missing, ended)
      serveGrpc(stream, headers, handler, (code, failure) => {
        holding.release()
        ended(code, failure)
      })
    },
    /** Serves one call of gRPC-Web or Connect. */
    servePair(to: Destination, pair: WebPair, record: RequestRecord): void {
      cors?.open(pair.request, pair.response)
      if (cors?.preflight(pair.request, pair.response)) return
      const holding = createHolding(longAnswers)
      const ended = (code: number | undefined, failure: ApiError | undefined) => {
        holding.release()
        if (code !== undefined) record.grpcStatus = codeName(code)
        record.error = failure ?? record.error
      }
      servePair(pair, { handler: begin(to, record, pair.request.headers, holding), isSafe: to.isSafe, ended })
    },
    /** Answers every call under way, because the process stops. */
    stop: underWay.stop,
  }
}

/** A write of which a service was asked may have been done. */
function stopped({ asked }: RequestRecord, isSafe: boolean): WireReply {
  const code = isSafe || !asked ? CODES.UNAVAILABLE : CODES.UNKNOWN
  const message = `Crosswalk stopped before the call was answered${code === CODES.UNKNOWN ? '; it may have been done' : ''}`
  return { status: { code: code.number, message, details: [] } }
}

function announcedMetadata(announced: RawHeaders): WireMetadata {
  return Object.fromEntries(announced.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), announced[at + 1] ?? '']] : [])))
}
