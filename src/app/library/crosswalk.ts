import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { type BaseLogger, type Logger, pino } from 'pino'
import type { ModeRules, WrittenModes } from '../../migrate/modes/rules.ts'
import type { Clocks } from '../../serve/bounds.ts'
import { createClassify } from '../../serve/classify.ts'
import type { Mode } from '../../serve/sides.ts'
import { openMetricsExport } from '../../serve/watch/metrics-export.ts'
import { openTracing } from '../../serve/watch/spans.ts'
import { prefixOf } from '../../tables/operation.ts'
import type { IgnoreRule } from '../../tables/signs.ts'
import type { Tables } from '../../tables/tables.ts'
import { readGivenSettings } from '../config/config.ts'
import { loadTables } from '../config/config-file.ts'
import type { Config, SettingKey } from '../config/settings.ts'
import { checked } from '../server/migration.ts'
import { openFleet, type Reads } from '../server/process.ts'
import { createServer, type Server } from '../server/server.ts'

type Several = string | readonly string[]

/** How these settings are written; every other one is written as it is read. */
interface WrittenSettings {
  readonly modes: Mode | WrittenModes
  readonly 'upstream.noProxy': Several
  readonly 'v1.deprecation': string
  readonly 'v1.sunset': string
  readonly 'admin.names': Several
  readonly 'admin.tokens': string | Readonly<Record<string, string>>
  readonly 'admin.oidc.audience': Several
  readonly 'admin.oidc.write': Several
  readonly 'admin.oidc.read': Several
  readonly 'forwarded.trusted': Several
  readonly 'grpc.corsOrigins': Several
  readonly 'notify.secret': Several
  readonly 'diff.ignore': readonly (Omit<IgnoreRule, 'until'> & { readonly until: string })[]
}

type ValueOf<Key extends SettingKey> = Key extends keyof WrittenSettings ? WrittenSettings[Key] : NonNullable<Config[Key]>

/** Settings that a program cannot give, and what to do instead. */
const ELSEWHERE = {
  tables: 'give the tables themselves as an option, { tables }',
  workers: 'a program starts processes of its own, and each makes its own Crosswalk',
  'log.level': 'the logger of the option log has a level of its own',
} as const satisfies Partial<Record<SettingKey, string>>

const OWNERS = 'it belongs to the server that you register Crosswalk in'

/** Settings of the port for clients. Inside a server of somebody else, its owner decides about the port. */
const PORT = {
  'listen.host': OWNERS,
  'listen.port': OWNERS,
  'tls.key': OWNERS,
  'tls.cert': OWNERS,
  'tls.clientCa': OWNERS,
  'limits.headerBytes': OWNERS,
  'limits.headersTimeoutMs': OWNERS,
  'limits.idleTimeoutMs': OWNERS,
  'limits.clientConnections': OWNERS,
  'limits.streams': OWNERS,
  'limits.refusalsPerSecond': OWNERS,
  'limits.drainMs': OWNERS,
  'limits.lingerMs': OWNERS,
} as const satisfies Partial<Record<SettingKey, string>>

/** Settings nested at the dots of their keys, as in a configuration file. */
export type Nested<Key extends SettingKey> = {
  readonly [Name in Key as Name extends `${string}.${string}` ? never : Name]?: ValueOf<Name> | undefined
} & {
  readonly [Section in Key as Section extends `${infer Name}.${string}` ? Name : never]?: Section extends `${infer Name}.${string}`
    ? {
        readonly [Member in Extract<Key, `${Name}.${string}`> as Member extends `${Name}.${infer Rest}` ? Rest : never]?:
          | ValueOf<Member>
          | undefined
      }
    : never
}

/** `upstream.v2` is the only setting without which nothing can be served. */
type WithV2<Settings> = Settings & { readonly upstream: { readonly v2: string } }

/**
 * The settings of docs/reference/configuration.md, by the same names and with the same defaults, nested as in a configuration file:
 *
 *     const settings: Settings = { upstream: { v2: 'https://api.example.com' }, limits: { deadlineMs: 20_000 } }
 *
 * Only two defaults differ: without `listen.port` any free port is taken, and without `admin.port` there is no admin port.
 */
export type Settings = WithV2<Nested<Exclude<SettingKey, keyof typeof ELSEWHERE>>>

/** The settings without those of the port for clients, which somebody else's server has. */
export type HostedSettings = WithV2<Nested<Exclude<SettingKey, keyof typeof ELSEWHERE | keyof typeof PORT>>>

/**
 * Makes a Crosswalk that is ready to serve:
 *
 *     const v1 = await createCrosswalk({ upstream: { v2: 'https://api.example.com' }, listen: { port: 8080 } })
 *     await v1.listen()
 *     process.once('SIGTERM', () => v1.close())
 *
 * It reads no environment, listens to no signal, writes nothing and opens no port unless the settings say so. Rejects with sentences that name
 * the settings that are wrong.
 */
export async function createCrosswalk(settings: Settings, options: CrosswalkOptions = {}): Promise<Crosswalk> {
  return openCrosswalk(settings, options, ELSEWHERE)
}

/** `refused` are the settings that cannot be given here, with what to do instead. */
async function openCrosswalk(
  settings: unknown,
  { tables, log = false, tracing = {}, clocks }: CrosswalkOptions,
  refused: Partial<Record<SettingKey, string>>,
): Promise<Crosswalk> {
  const read = readGivenSettings(settings, refused, { 'listen.port': 0, 'admin.port': 0 })
  if ('problem' in read) throw new Error(read.problem)
  const { config, given } = read
  const hasAdmin = given.has('admin.port')
  const idle = [...given].find((key) => key.startsWith('admin.'))
  if (!hasAdmin && idle !== undefined) throw new Error(`${idle} has no effect without admin.port: give the port, or leave out the first.`)
  const known = tables ?? (await loadTables(undefined))
  const made = checked(config, known)
  const logger = loggerOf(log)
  const [traced, exportMetrics] = await Promise.all([openTracing(tracing, logger), openMetricsExport(tracing)])
  const join = await openFleet(config)
  const role = { hasAdmin: false }
  const server = createServer(config, known, { known: made, log: logger, tracing: traced, exportMetrics, join, clocks, role })
  try {
    await server.begin()
    if (hasAdmin) await server.openAdmin()
  } catch (error) {
    await server.close()
    throw error
  }
  return crosswalkOf(server, known)
}

function crosswalkOf(server: Server, { mappings }: Tables): Crosswalk {
  const classify = createClassify(mappings)
  let closed: Promise<void> | undefined
  return {
    ...server.reads,
    listen() {
      if (closed !== undefined) return Promise.reject(new Error('This Crosswalk is closed: make another one.'))
      return server.listen()
    },
    get url() {
      return server.url || undefined
    },
    get adminUrl() {
      return server.adminUrl || undefined
    },
    handler: (request, response) => server.handler?.(request, response),
    prefixes: [...new Set(mappings.map((mapping) => `/${prefixOf(mapping)}`))],
    servesPath: (target) => classify(target).kind !== 'native',
    changeModes(modes) {
      const problem = server.changeModes(modes as ModeRules, { source: 'program' })
      if (problem !== undefined) throw new Error(problem)
    },
    closeCircuit(operation) {
      const problem = server.closeCircuit(operation, { source: 'program' })
      if (problem !== undefined) throw new Error(problem)
    },
    metrics: () => server.metrics.text('prometheus'),
    notReady: server.notReady,
    idle: server.idle,
    close() {
      closed ??= server.close()
      return closed
    },
  }
}

/** Other loggers than pino do not tell their level. */
function loggerOf(log: Log | false): Logger {
  if (log === false) return pino({ enabled: false })
  if (log.isLevelEnabled) return log as Logger
  const { error, info, warn } = log
  return { error: error.bind(log), info: info.bind(log), warn: warn.bind(log), isLevelEnabled: () => true } as unknown as Logger
}

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
export type CrosswalkClocks = Clocks

/**
 * One Crosswalk in your program. It shares nothing with another one in the same process: each has its own connections, modes, evidence,
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
   * Serves a request that your server has accepted, of `node:http` or, in the form of HTTP/1.1, of `node:http2`. Nobody may have read its
   * body. It answers every path: v1 is translated, everything else passes to v2. It never throws. WebSockets and gRPC need `listen`.
   */
  handler(request: IncomingMessage, response: ServerResponse): void
  /** How v1 paths begin: `['/iam/v1', '/registry/v1', …]`. */
  readonly prefixes: readonly string[]
  /** Whether the path of a request target belongs to v1: `servesPath('/iam/v1/roles?limit=1')`. Malformed v1 paths do too; they are refused. */
  servesPath(target: string): boolean
  /** Changes who answers. Throws a sentence if the rules are wrong. Replicas that share a store take them over within seconds. */
  changeModes(modes: WrittenModes): void
  /** Closes the open circuit of an operation. Throws a sentence if it is not open, or a rollout that it turned back keeps it. */
  closeCircuit(operation: string): void
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

/** What is served besides v1. */
interface Hosting {
  /** Passes every path that the server has no route for to v2, too. Without it, such a path is the server's own 404. */
  readonly passthrough?: boolean | undefined
}

/** The settings of a Crosswalk that the plugin makes; its log is the server's unless another is given. */
interface MadeHere extends CrosswalkOptions, Hosting {
  readonly settings: HostedSettings
}

/** A Crosswalk that exists, for programs that read its metrics or change its modes. The plugin closes it with the server. */
interface MadeBefore extends Hosting {
  readonly crosswalk: Crosswalk
}

export type CrosswalkPluginOptions = MadeHere | MadeBefore

/**
 * Serves v1 inside your Fastify 5 server:
 *
 *     await app.register(crosswalk, { settings: { upstream: { v2: 'https://api.example.com' } } })
 *
 * It adds a route for each v1 prefix of the tables below the `prefix` of the registration. Your routes, parsers, hooks and error handlers stay as
 * they are. Your hooks before the handler and `onResponse` run for v1 requests too. The server closes it.
 */
export const crosswalk: FastifyPluginAsync<CrosswalkPluginOptions> = async (app, options) => {
  const { log } = app
  const served =
    'crosswalk' in options ? options.crosswalk : await openCrosswalk(options.settings, { log, ...options }, { ...ELSEWHERE, ...PORT })
  let closed: Promise<void> | undefined
  app.addHook('preClose', async () => {
    // The server waits for its requests next, so that this may only begin here.
    closed = served.close()
    closed.catch(() => {})
  })
  app.addHook('onClose', () => closed ?? served.close())
  leaveBodies(app)
  const paths = served.prefixes.map((prefix) => prefix.replaceAll(':', '::')).flatMap((prefix) => [prefix, `${prefix}/*`])
  // The segments of the prefix; those that are variables count like others.
  const depth = app.prefix.split('/').filter((segment) => segment !== '').length
  const handler = createHandler(served, depth, options.passthrough === true)
  for (const url of options.passthrough ? ['/*', ...paths] : paths) {
    app.route({ method: app.supportedMethods, url, exposeHeadRoute: false, schema: HIDDEN, handler })
  }
}

Object.assign(crosswalk, {
  [Symbol.for('fastify.display-name')]: 'crosswalk',
  [Symbol.for('plugin-meta')]: { fastify: '5.x', name: 'crosswalk' },
})

/** Programs that describe routes, such as @fastify/swagger, pass over them. */
const HIDDEN: object = { hide: true }

/**
 * Keeps Fastify from reading bodies, or refusing their types, in this context alone. For that, it gets to see a type that is always well-formed;
 * `request.raw` keeps the client's.
 */
function leaveBodies(app: FastifyInstance): void {
  const given = new WeakMap<FastifyRequest, FastifyRequest['headers']>()
  app.addHook('preParsing', (request, _, payload, done) => {
    if ((payload as unknown) !== request.raw) return done(new Error(REPLACED))
    const { headers } = request
    if (headers['content-type'] !== undefined) {
      given.set(request, headers)
      request.headers = { 'content-type': 'application/octet-stream' }
    }
    done(null, payload)
  })
  app.addHook('preValidation', (request, _, done) => {
    const headers = given.get(request)
    if (headers) request.headers = headers
    done()
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_, __, done) => done(null))
}

const REPLACED =
  'a preParsing hook of the server replaced the body, which crosswalk must read itself: add that hook beside crosswalk, not above it'

/** Headers about a body that the server would have sent. Beside the answer of Crosswalk they would lie about where it ends. */
const OF_A_BODY: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'content-encoding', 'trailer'])

function createHandler(served: Crosswalk, depth: number, passes: boolean) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    const { raw } = request
    const target = below(raw.url ?? '', depth)
    if (!passes && !served.servesPath(target)) {
      reply.callNotFound()
      return reply
    }
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined && !OF_A_BODY.has(name)) reply.raw.setHeader(name, value)
    reply.hijack()
    if (depth > 0) Object.assign(raw, { originalUrl: request.originalUrl, url: target })
    served.handler(raw, reply.raw)
    return undefined
  }
}

/** Removes the first segments of a request target. One that does not begin with a slash is left: it is refused as it is. */
function below(target: string, depth: number): string {
  let end = 0
  for (let segment = 0; segment < depth && target.startsWith('/'); segment += 1) {
    end = target.indexOf('/', end + 1)
    if (end < 0) return '/'
  }
  return target.slice(end)
}
