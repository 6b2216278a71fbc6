import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { openCrosswalk } from './create-crosswalk.ts'
import type { Crosswalk, CrosswalkOptions } from './crosswalk.ts'
import { ELSEWHERE, type HostedSettings, PORT } from './settings-value.ts'

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
 * Serves v1 inside a Fastify 5 server of yours:
 *
 *     await app.register(crosswalk, { settings: { upstream: { v2: 'https://api.example.com' } } })
 *
 * It adds a route for each v1 prefix of the tables below the `prefix` of the registration. Your routes, parsers, hooks and error handlers stay as
 * they are. Your hooks before the handler and `onResponse` run for v1 requests too. The server closes it.
 */
export const crosswalk: FastifyPluginAsync<CrosswalkPluginOptions> = async (app, options) => {
  const served = await servedBy(app, options)
  let closed: Promise<void> | undefined
  app.addHook('preClose', async () => {
    // The server waits for its requests next, so that this may only begin here.
    closed = served.close()
    closed.catch(() => {})
  })
  app.addHook('onClose', () => closed ?? served.close())
  leaveBodies(app)
  const paths = served.prefixes.map((prefix) => prefix.replaceAll(':', '::')).flatMap((prefix) => [prefix, `${prefix}/*`])
  const handler = createHandler(served, depthOf(app.prefix), options.passthrough === true)
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

async function servedBy({ log }: FastifyInstance, options: CrosswalkPluginOptions): Promise<Crosswalk> {
  if ('crosswalk' in options) return options.crosswalk
  return openCrosswalk(options.settings, { log, ...options }, { ...ELSEWHERE, ...PORT })
}

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

function createHandler(served: Crosswalk, depth: number, passes: boolean) {
  return (request: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    const { raw } = request
    const target = below(raw.url ?? '', depth)
    if (!passes && !served.servesPath(target)) {
      reply.callNotFound()
      return reply
    }
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
    reply.hijack()
    if (depth > 0) Object.assign(raw, { originalUrl: request.originalUrl, url: target })
    served.handler(raw, reply.raw)
    return undefined
  }
}

/** The number of segments of a prefix; those that are variables count like others. */
function depthOf(prefix: string): number {
  return prefix.split('/').filter((segment) => segment !== '').length
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
