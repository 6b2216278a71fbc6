import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { afterEach, expect, it } from 'vitest'
import { createCrosswalk, crosswalk } from '../../src/index.ts'
import { until } from '../stage/until.ts'
import { answering, startUpstream } from '../stage/upstream.ts'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** A host that misbehaves for a request with this header, and what its sender then sees: a status, or nothing. */
interface HostileHost {
  readonly server?: FastifyServerOptions
  readonly own: (app: FastifyInstance) => unknown
  readonly sees: number | undefined
}

const SPOILT = 'x-spoilt'

/** Adds a hook that spoils marked requests alone. */
const spoiling =
  (hook: 'onRequest' | 'preValidation' | 'preHandler', spoil: (...given: Parameters<Hook>) => unknown) => (app: FastifyInstance) =>
    app.addHook(hook, async (request, reply) => (request.headers[SPOILT] === undefined ? undefined : spoil(request, reply)))

type Hook = (request: Parameters<FastifyInstance['errorHandler']>[1], reply: Parameters<FastifyInstance['errorHandler']>[2]) => void

const failing = () => {
  throw new Error('own')
}

const HOSTS: Readonly<Record<string, HostileHost>> = {
  'ends the connection before the handler': { own: spoiling('preHandler', ({ raw }) => raw.destroy()), sees: undefined },
  'ends the answer before the handler': { own: spoiling('preHandler', (_, { raw }) => raw.destroy()), sees: undefined },
  'has begun the answer': { own: spoiling('preHandler', (_, { raw }) => void raw.writeHead(299).write('own')), sees: 299 },
  'has answered': { own: spoiling('preHandler', (_, { raw }) => void raw.writeHead(298).end('own')), sees: 298 },
  'has read the body': { own: spoiling('onRequest', ({ raw }) => void raw.resume()), sees: 200 },
  'has made the path another one': { own: spoiling('preHandler', ({ raw }) => Object.assign(raw, { url: '//[::1' })), sees: 404 },
  'sets a header twice': { own: spoiling('preHandler', (_, reply) => void reply.header('x-own', ['a', 'b'])), sees: 200 },
  'sets a length and a coding': {
    own: spoiling('preHandler', (_, reply) => void reply.header('content-length', '3').header('transfer-encoding', 'chunked')),
    sees: 200,
  },
  'throws in a hook, and in its error handler': {
    own(app) {
      app.setErrorHandler(failing)
      spoiling('preHandler', failing)(app)
    },
    sees: 500,
  },
  'reads requests of its own kind': {
    own(app) {
      app.decorateRequest('user', { getter: failing })
      app.addContentTypeParser('*', failing)
    },
    sees: 200,
  },
  'gives ids that are none': { server: { genReqId: () => '\r\nx: y' }, own: () => {}, sees: 200 },
  'validates and writes in its own way': {
    own: (app) => app.setValidatorCompiler(() => failing).setSerializerCompiler(() => failing),
    sees: 200,
  },
}

it.each(Object.entries(HOSTS))('holds in a host that %s', async (_, { server = {}, own, sees }) => {
  const v2 = await startUpstream(answering({ roles: [{ uid: 'a'.repeat(40), name: 'one', capabilities: [] }], totalCount: '1' }))
  const served = await createCrosswalk({ upstream: { v2: v2.url } })
  const app = Fastify({ forceCloseConnections: true, ...server })
  own(app)
  await app.register(crosswalk, { crosswalk: served })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  closing.push(
    () => v2.close(),
    () => app.close(),
  )
  const ask = (headers: Readonly<Record<string, string>>) =>
    fetch(`${url}/iam/v1/roles`, { headers, signal: AbortSignal.timeout(1000) }).then(
      ({ status }) => status,
      () => undefined,
    )
  expect(await ask({ [SPOILT]: '1' })).toBe(sees)
  await until(async () => /^crosswalk_requests_in_flight 0$/m.test(await served.metrics()), 'its place is free')
  expect(await ask({})).toBe(200)
})
