import { listOf } from '../config/addresses.ts'
import { grpcSettings } from '../config/parts.ts'
import type { Config } from '../config/settings.ts'
import type { RpcParts } from '../grpc/calls/calls.ts'
import { createCallLog, createGrpcRoute, createLazyRpc, createLazyStandard, type GrpcParts, type LazyRpc } from '../grpc/calls/carrier.ts'
import { createGrpc, noGrpc } from '../grpc/relay/relay.ts'
import { createRoom } from '../serve/bounds.ts'
import type { OnGrpc } from '../serve/listen/http2.ts'
import { createAskRest } from '../serve/upstream/v1.ts'
import type { ProxyParts } from './proxy-parts.ts'

type SurfaceParts = Pick<ProxyParts, 'pool' | 'metrics' | 'log' | 'tracing' | 'readiness' | 'leaving'> &
  Pick<RpcParts, 'core' | 'announced' | 'room' | 'failed'> &
  Pick<GrpcParts, 'admit' | 'gate' | 'forwarded' | 'limits'> & {
    /** Tables translate the calls of v1's services. */
    readonly hasTables: boolean
  }

/** What serves gRPC calls. */
export interface GrpcSurface {
  readonly route: OnGrpc
  readonly rpc: LazyRpc
  /** Answers the calls under way, because the process stops. */
  stop(): void
  /** Closes its connections to the services. */
  close(): void
}

/**
 * The maximum bytes of a question of health or reflection. Its stream has no deadline, so that it must not take the room that all bodies
 * share. A probe must also be answered when that room is full.
 */
const QUESTION_BYTES = 16 * 1024

export function createGrpcSurface(config: Config, v2: string, parts: SurfaceParts): GrpcSurface {
  const { pool, metrics, log, gate, forwarded, hasTables } = parts
  const base = config['upstream.v1']
  const isRest = config['upstream.v2Grpc'] === 'rest'
  const toV2 = isRest ? noGrpc : createGrpc(v2, { service: 'v2', ...grpcSettings(config) })
  const ask = isRest ? createAskRest({ service: 'v2', pool, base: v2, answerMs: config['limits.deadlineMs'] }) : undefined
  const toV1 = base === undefined ? undefined : createGrpc(base, { service: 'v1', ...grpcSettings(config) })
  const v1 = toV1 && (config['upstream.v1Grpc'] === 'rest' ? 'rest' : toV1)
  const settings = {
    requestBytes: config['limits.requestBytes'],
    deadlineMs: config['limits.deadlineMs'],
    messageBytes: config['limits.messageBytes'],
    messagesBytes: config['limits.messagesBytes'],
    asV2: config['grpc.v2beta1'] === 'v2',
    corsOrigins: listOf(config['grpc.corsOrigins']),
  }
  const rpc = createLazyRpc(hasTables, { ...parts, v1, v2: ask ? { ask } : toV2, classify: gate.classify, settings })
  const standard = createLazyStandard({
    ...parts,
    operations: parts.core.operations,
    rpc,
    wire: { ...parts, requestBytes: QUESTION_BYTES, room: createRoom(Number.POSITIVE_INFINITY) },
    settings: { hasV1: base !== undefined, asV2: settings.asV2 || isRest, reflection: hasTables && config['grpc.reflection'] },
  })
  const begin = createCallLog(log, metrics, forwarded)
  return {
    rpc,
    route: createGrpcRoute({ ...parts, grpc: toV2, rpc, standard, begin }),
    stop() {
      rpc.stop()
      toV2.stop()
    },
    close() {
      toV2.close()
      toV1?.close()
    },
  }
}
