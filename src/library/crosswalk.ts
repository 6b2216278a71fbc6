import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BaseLogger } from 'pino'
import type { WrittenModes } from '../migrate/modes/rules.ts'
import type { Reads } from '../server/reads/reads.ts'
import type { Tables } from '../tables/tables.ts'

/** A logger of pino, or one with its methods, such as the `log` of a Fastify server. */
export type Log = Pick<BaseLogger, 'error' | 'info' | 'warn'> & { isLevelEnabled?(level: string): boolean }

/** What settings cannot say. */
export interface CrosswalkOptions {
  /** The tables of the API; those of this package unless they are given. */
  readonly tables?: Tables | undefined
  /** Gets a line for each request and each warning. `false` and nothing at all mean no log. */
  readonly log?: Log | false | undefined
  /** OpenTelemetry's own variables, such as `{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }`. Without them, nothing is traced or sent. */
  readonly tracing?: Readonly<Record<string, string | undefined>> | undefined
  /** Another clock than that of the machine, for tests. */
  readonly clocks?: CrosswalkClocks | undefined
}

/** The times that modes, comparisons and rollouts go by. */
export interface CrosswalkClocks {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of a clock that never goes back. */
  ticks(): number
  /** Calls a function again and again, after so many milliseconds. Returns a function that ends this. */
  repeat(run: () => void, ms: number): () => void
}

/**
 * One Crosswalk in a program of yours. It shares nothing with another one in the same process: each has its own connections, modes, evidence,
 * metrics and kept answers.
 */
export interface Crosswalk extends Reads {
  /** Opens `listen.port` for v1, native and gRPC requests. Rejects if the port is taken; then everything is closed. */
  listen(): Promise<void>
  /** `http://127.0.0.1:8080`, without a trailing slash; undefined until `listen` has resolved. */
  readonly url: string | undefined
  /** The address of the admin port; undefined without `admin.port`. */
  readonly adminUrl: string | undefined
  /**
   * Serves a request that a server of yours has accepted, of `node:http` or, in the form of HTTP/1.1, of `node:http2`. Nobody may have read its
   * body. It answers every path: v1 is translated, everything else passes to v2. It never throws. WebSockets and gRPC need `listen`.
   */
  handler(request: IncomingMessage, response: ServerResponse): void
  /** How v1 paths begin: `['/iam/v1', '/registry/v1', …]`. */
  readonly prefixes: readonly string[]
  /** Whether the path of a request target belongs to v1: `servesPath('/iam/v1/roles?limit=1')`. Malformed v1 paths do too; they are refused. */
  servesPath(target: string): boolean
  /** Changes who answers. Throws a sentence if the rules are wrong. Replicas that share a store take them over within seconds. */
  changeModes(modes: WrittenModes): void
  /** The metrics in the Prometheus text format. */
  metrics(): Promise<string>
  /** Whether both services answer: a sentence that says why requests would fail, or undefined. */
  notReady(): Promise<string | undefined>
  /** Resolves when no comparison waits or runs. */
  idle(): Promise<void>
  /**
   * Lets requests under way finish within `limits.shutdownMs`, breaks off the rest, writes the records and closes every connection. Later
   * calls wait for the first.
   */
  close(): Promise<void>
}
