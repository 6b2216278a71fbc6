import { asApiError } from '../../../errors.ts'
import { readFacts } from '../../../grpc/facts.ts'
import { openRpc } from '../../../grpc/proto-files.ts'
import { operationsOf, type Tables } from '../../../tables/tables.ts'
import { explain, jsonReport, textReport } from '../../../tools/explain.ts'
import { type GrpcSubject, grpcHead, grpcLines, grpcReport, grpcSubject } from '../../../tools/explain-grpc.ts'
import { createRouteRecorded } from '../../../tools/replay/replay.ts'
import { compatSettings } from '../../config/config.ts'
import type { Config } from '../../config/settings.ts'
import { endWith, FAILED, type Io } from '../command.ts'
import { DEFAULT_BASE } from './clients.ts'

/** A gRPC call to explain. */
export interface GrpcArgument {
  /** `package.Service/Method`. */
  readonly name: string
  /** Its message: protojson, or bytes. */
  readonly message: Buffer
  readonly config: Config
  readonly asJson: boolean
  readonly tables: Tables
}

/** Shows what a gRPC call becomes, without sending it. Loaded with the descriptors, which no other command needs. */
export function explainGrpc({ name, message, config, asJson, tables }: GrpcArgument, io: Io): number {
  const rpc = openRpc(operationsOf(tables), readFacts())
  const subject = subjectOf()
  if (typeof subject === 'string') return endWith(io, FAILED, subject)
  if (subject.kind === 'other') {
    io.out(`# ${subject.sentence}`)
    return 0
  }
  const { method, url, body } = subject
  const sent = { method, url, headers: { 'content-type': 'application/json' }, ...(body !== undefined && { body }) }
  const place = createRouteRecorded(tables.mappings)(sent)
  if (place.kind !== 'operation') return endWith(io, FAILED, `The call names no resource: ${method} ${url} is another request of v1.`)
  const env = { ...compatSettings(config), dialect: 'published' } as const
  const explanation = explain(place.operation, place.request, env, tables)
  const base = config['upstream.v2'] ?? DEFAULT_BASE
  if (asJson) io.text(JSON.stringify({ ...jsonReport(base, explanation), grpc: grpcReport(rpc, subject, explanation) }, null, 2))
  else for (const line of [grpcHead(subject), ...textReport(base, explanation), ...grpcLines(rpc, base, explanation)]) io.out(line)
  return 0

  /** Returns the refusal as a sentence, if the message is refused. */
  function subjectOf(): GrpcSubject | string {
    try {
      return grpcSubject(rpc, name, message, { v2Grpc: config['upstream.v2Grpc'], v2beta1: config['grpc.v2beta1'] })
    } catch (thrown) {
      const { code, message: said } = asApiError(thrown)
      return `The call is answered ${code}: ${said}.`
    }
  }
}
