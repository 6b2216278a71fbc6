import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2, { type ClientHttp2Session, constants } from 'node:http2'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Crosswalk, createCrosswalk, crosswalk, type HostedSettings } from '../../../src/index.ts'
import { sampleSeed, sizeOr } from '../../programs/faults/fuzz/hunt.ts'
import { anyRequest } from '../../programs/faults/fuzz/requests.ts'
import { talk } from '../../programs/faults/wire.ts'
import { isFull } from '../../sample.ts'
import { until } from '../../stage/clocks.ts'
import { answering, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { type Host, startHost } from './stage.ts'

describe('the plugin', () => {
  const ROLE = { uid: 'a'.repeat(40), name: 'one', capabilities: [] }

  const hosted = (v2: Upstream, options: Parameters<typeof startHost>[1] = {}, more: { passthrough?: boolean } = {}): Promise<Host> =>
    startHost({ settings: { upstream: { v2: v2.url } }, ...more }, options)

  const upstream = () => startUpstream(answering({ roles: [ROLE], totalCount: '1' }))

  it('serves v1 beside the own routes and the own 404', async () => {
    const { url } = await hosted(await upstream(), { own: (app) => app.get('/iam/v1/own', async () => 'mine') })
    const roles = await fetch(`${url}/iam/v1/roles`)
    expect([roles.status, ((await roles.json()) as { items: { id: string }[] }).items[0]?.id]).toEqual([200, ROLE.uid])
    expect(await (await fetch(`${url}/iam/v1/own`)).text()).toBe('mine')
    const unknown = await fetch(`${url}/iam/v2/roles`)
    expect([unknown.status, await unknown.json()]).toEqual([404, expect.objectContaining({ message: 'Route GET:/iam/v2/roles not found' })])
  })

  it('leaves paths to the owner that only its router takes for v1', async () => {
    const v2 = await upstream()
    const server = { routerOptions: { caseSensitive: false, ignoreDuplicateSlashes: true } }
    const { url } = await hosted(v2, { server, own: (app) => app.setNotFoundHandler((_, reply) => reply.code(404).send('not mine')) })
    for (const path of ['/IAM/v1/roles', '//iam//v1/roles', '/iam%2Fv1/roles']) {
      expect([path, await (await fetch(url + path)).text()]).toEqual([path, 'not mine'])
    }
    expect(v2.seen).toEqual([])
  })

  it.each(['/gateway', '/tenants/:tenant', '/gate%20way'.replace('%20', '-')])('respects the prefix %s', async (prefix) => {
    const v2 = await upstream()
    const urls: (string | undefined)[] = []
    const own = (app: Host['app']) => app.addHook('onResponse', async (request) => void urls.push(request.originalUrl))
    const { url } = await hosted(v2, { prefix, own })
    const path = `${prefix.replace(':tenant', 'a%2Fb')}/iam/v1/roles?limit=1`
    expect((await fetch(url + path)).status).toBe(200)
    expect((await fetch(`${url}/iam/v1/roles`)).status).toBe(404)
    expect(v2.seen.map((one) => one.url)).toEqual([expect.stringMatching(/^\/iam\/v2\/roles\?/)])
    expect(urls[0]).toBe(path)
  })

  it('passes other paths to v2 if it is told to', async () => {
    const v2 = await upstream()
    const { url } = await hosted(v2, { own: (app) => app.get('/own', async () => 'mine') }, { passthrough: true })
    expect(await (await fetch(`${url}/own`)).text()).toBe('mine')
    expect(await (await fetch(`${url}/iam/v2/roles?a=%2f`)).json()).toMatchObject({ totalCount: '1' })
    expect(v2.seen.map((one) => one.url)).toEqual(['/iam/v2/roles?a=%2f'])
  })

  it.each([
    ['application/json', '{"name":"a"}'],
    ['application/json; charset=utf-8; x="', '{"name":"a"}'],
    ['text/plain', '{"name":"a"}'],
    ['odd', '{"name":"a"}'],
    [undefined, '{"name":"a"}'],
    ['application/json', `{"name":"${'a'.repeat(2 ** 20 - 100)}"}`],
  ])('gets the bytes of a body of type %s whatever the parsers and limits of the owner', async (type, body) => {
    const v2 = await startUpstream(answering(ROLE))
    const types: unknown[] = []
    const own = (app: Host['app']) => {
      app.removeAllContentTypeParsers()
      app.addHook('preHandler', async (request) => void types.push(request.headers['content-type']))
    }
    const { url } = await hosted(v2, { server: { bodyLimit: 5 }, own })
    const headers = { ...(type !== undefined && { 'content-type': type }) }
    const answer = await fetch(`${url}/iam/v1/roles/${'b'.repeat(40)}`, { method: 'POST', body: Buffer.from(body), headers })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(ROLE.uid)])
    expect(v2.seen.map((one) => JSON.parse(one.body))).toEqual([{ ...JSON.parse(body) }])
    expect(types).toEqual([type])
  })

  it('leaves parsers, errors and hooks of the own routes alone', async () => {
    const { url } = await hosted(await upstream(), {
      own(app) {
        app.setErrorHandler((_, __, reply) => reply.code(418).send('own error'))
        app.post('/own', async (request) => request.body)
        app.get('/fail', async () => {
          throw new Error('own')
        })
      },
    })
    const headers = { 'content-type': 'application/json' }
    expect(await (await fetch(`${url}/own`, { method: 'POST', body: '{"a":1}', headers })).json()).toEqual({ a: 1 })
    expect(await (await fetch(`${url}/own`, { method: 'POST', body: '{', headers })).text()).toBe('own error')
    expect((await fetch(`${url}/fail`)).status).toBe(418)
    const wrong = await fetch(`${url}/iam/v1/roles?limit=x`)
    expect([wrong.status, await wrong.json()]).toEqual([400, expect.objectContaining({ code: 3 })])
  })

  it('lets the hooks of the owner refuse a request, and keeps the headers that they set', async () => {
    const v2 = await upstream()
    const { url } = await hosted(v2, {
      own(app) {
        app.addHook('onRequest', async (_, reply) => void reply.header('access-control-allow-origin', '*'))
        app.addHook('preHandler', async (request, reply) => {
          if (request.headers['x-key'] === undefined) return reply.code(401).send('who')
        })
      },
    })
    expect((await fetch(`${url}/iam/v1/roles`)).status).toBe(401)
    expect(v2.seen).toEqual([])
    const allowed = await fetch(`${url}/iam/v1/roles`, { headers: { 'x-key': '1' } })
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, '*'])
  })

  it('refuses a body that a hook above it has replaced', async () => {
    const v2 = await upstream()
    const own = (app: Host['app']) =>
      app.addHook('preParsing', async (_, __, payload) => payload.pipe(new (await import('node:stream')).PassThrough()))
    const { url } = await hosted(v2, { own })
    const answer = await fetch(`${url}/iam/v1/roles/x`, { method: 'POST', body: '{}' })
    expect([answer.status, await answer.text()]).toEqual([
      500,
      expect.stringContaining('a preParsing hook of the server replaced the body'),
    ])
    expect(v2.seen).toEqual([])
  })

  it('answers HEAD, OPTIONS and unknown methods as v1 does', async () => {
    const { url } = await hosted(await upstream())
    const head = await fetch(`${url}/iam/v1/roles`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([501, ''])
    expect((await fetch(`${url}/iam/v1/roles`, { method: 'OPTIONS' })).status).toBe(501)
    expect((await fetch(`${url}/iam/v1/nothing`)).status).toBe(404)
  })

  it('finishes requests under way when the server closes', async () => {
    let answer = () => {}
    const v2 = await startUpstream((_, response) => {
      answer = () => answering({ roles: [ROLE], totalCount: '1' })(_, response, '')
    })
    const { app, url } = await hosted(v2, { server: { forceCloseConnections: false } })
    const roles = fetch(`${url}/iam/v1/roles`)
    await until(async () => v2.seen.length === 1, 'v2 is asked')
    const closed = app.close()
    await until(async () => !app.server.listening, 'the server closes')
    answer()
    expect([(await roles).status, (await roles).headers.get('connection')]).toEqual([200, 'close'])
    await closed
  })

  it('works with inject', async () => {
    const v2 = await upstream()
    const app = Fastify()
    onTestFinished(() => app.close().then(() => {}))
    app.register(crosswalk, { settings: { upstream: { v2: v2.url } } })
    const answer = await app.inject('/iam/v1/roles')
    expect([answer.statusCode, answer.json().items]).toEqual([200, [expect.objectContaining({ id: ROLE.uid })]])
  })

  it('refuses settings that belong to the server', async () => {
    const app = Fastify()
    const settings = { upstream: { v2: 'http://127.0.0.1:1' }, listen: { port: 1 } }
    await expect(app.register(crosswalk, { settings: settings as HostedSettings })).rejects.toThrow(
      'listen.port cannot be given here: it belongs to the server that you register Crosswalk in.',
    )
  })
})

describe('hostile hosts', () => {
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
    const { url } = await startHost({ crosswalk: served }, { server, own })
    const ask = (headers: Readonly<Record<string, string>>) =>
      fetch(`${url}/iam/v1/roles`, { headers, signal: AbortSignal.timeout(1000) }).then(
        ({ status }) => status,
        () => undefined,
      )
    expect(await ask({ [SPOILT]: '1' })).toBe(sees)
    await until(async () => /^crosswalk_requests_in_flight 0$/m.test(await served.metrics()), 'its place is free')
    expect(await ask({})).toBe(200)
  })
})

describe('plugin http2', () => {
  const ROLE = { uid: 'a'.repeat(40), name: 'one', capabilities: [] }
  const LIST = answering({ roles: [ROLE], totalCount: '1' })

  const pem = (name: string) => readFileSync(`test/certificates/localhost.${name}`, 'utf8')

  /** An HTTP/2 server of somebody else with the plugin in it, in plain text or over TLS with HTTP/1.1 beside it, and a client of it. */
  async function hosted(v2: Upstream, isSecure = false) {
    const v1 = await createCrosswalk({ upstream: { v2: v2.url }, limits: { requestsInFlight: 1 } })
    const https = { key: pem('key'), cert: pem('crt'), allowHTTP1: true }
    const app = Fastify({ http2: true, ...(isSecure && { https }) } as FastifyServerOptions)
    app.get('/own', async () => 'mine')
    await app.register(crosswalk, { crosswalk: v1 })
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const client = http2.connect(url, { rejectUnauthorized: false }).on('error', () => {})
    onTestFinished(() => {
      client.destroy()
      return app.close().then(() => {})
    })
    return { v1, client, url }
  }

  async function ask(client: ClientHttp2Session, headers: http2.OutgoingHttpHeaders, body?: string) {
    const stream = client.request(headers, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [head] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
    return { status: Number(head[':status']), body: await text(stream) }
  }

  const inFlight = (v1: Crosswalk, count: number) =>
    until(async () => (await v1.metrics()).includes(`crosswalk_requests_in_flight ${count}\n`), `${count} in flight`)

  it.each([false, true])('serves v1 beside own routes over HTTP/2 (TLS: %s)', async (isSecure) => {
    const v2 = await startUpstream((request, response, body) =>
      (request.method === 'GET' ? LIST : answering(ROLE))(request, response, body),
    )
    const { client } = await hosted(v2, isSecure)
    const list = await ask(client, { ':path': '/iam/v1/roles' })
    expect([list.status, JSON.parse(list.body).items[0].id]).toEqual([200, ROLE.uid])
    const made = await ask(client, { ':path': '/iam/v1/roles/x', ':method': 'POST', 'content-type': 'odd' }, '{"name":"a"}')
    expect([made.status, JSON.parse(v2.seen.at(-1)?.body ?? '')]).toEqual([200, { name: 'a' }])
    expect((await ask(client, { ':path': '/iam/v1/roles', ':method': 'HEAD' })).status).toBe(501)
    expect(await ask(client, { ':path': '/own' })).toEqual({ status: 200, body: 'mine' })
    expect((await ask(client, { ':path': '/iam/v2/roles' })).status).toBe(404)
  })

  it('serves HTTP/1.1 beside HTTP/2', async () => {
    const { url } = await hosted(await startUpstream(LIST), true)
    const { default: https } = await import('node:https')
    const request = https.get(`${url}/iam/v1/roles`, { rejectUnauthorized: false, agent: false })
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
    expect(JSON.parse(await text(response)).items).toHaveLength(1)
  })

  it.each([
    ['resets its stream', (_: ClientHttp2Session, stream: http2.ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL)],
    ['leaves', (client: ClientHttp2Session) => client.destroy()],
  ])('frees the place of a client that %s', async (_, leave) => {
    let isWaiting = true
    const v2 = await startUpstream((request, response, body) => {
      if (!isWaiting) LIST(request, response, body)
    })
    const { v1, client, url } = await hosted(v2)
    const stream = client.request({ ':path': '/iam/v1/roles' }).on('error', () => {})
    await inFlight(v1, 1)
    leave(client, stream)
    await inFlight(v1, 0)
    isWaiting = false
    const other = http2.connect(url)
    expect((await ask(other, { ':path': '/iam/v1/roles' })).status).toBe(200)
    other.destroy()
  })

  it('does not serve gRPC, which stays a 404 of the owner', async () => {
    const { client } = await hosted(await startUpstream(LIST))
    const call = { ':path': '/chainguard.platform.iam.Roles/List', ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }
    expect((await ask(client, call, '\0\0\0\0\0')).status).toBe(404)
  })
})

describe('plugin random', () => {
  let [v2, v1, host, alone]: [Upstream?, Crosswalk?, Host?, Crosswalk?] = []
  beforeAll(async () => {
    v2 = await startUpstream(answering({ items: [], totalCount: '0' }))
    const settings = { upstream: { v2: v2.url } }
    v1 = await createCrosswalk(settings)
    alone = await createCrosswalk(settings)
    await alone.listen()
    host = await startHost({ crosswalk: v1 }, { own: (app) => app.get('/own', async () => 'mine') })
  })
  afterAll(() => alone?.close())

  it('answers random requests as a server of its own does, unless the owner refuses them', async () => {
    const [inside, outside] = [host?.url ?? '', alone?.url ?? '']
    let same = 0
    await fc.assert(
      fc.asyncProperty(anyRequest, async ({ text, isHead }) => {
        const ask = async (url: string) => (await talk(url, text, 1, isHead ? [0] : [])).answers[0]
        const [hosted, own] = [await ask(inside), await ask(outside)]
        if (isFromOwner(hosted)) return
        expect({ status: hosted?.status, body: hosted?.body }).toEqual({ status: own?.status, body: own?.body })
        same += 1
      }),
      { numRuns: sizeOr(isFull ? 300 : 40), seed: sampleSeed },
    )
    expect(same).toBeGreaterThan(10)
    expect(await (await fetch(`${inside}/own`)).text()).toBe('mine')
    await until(async () => (await v1?.metrics())?.includes('crosswalk_requests_in_flight 0\n'), 'no request is in flight')
  })

  /** Node and Fastify refuse what is no HTTP, no URL, and no path or method of a route. Their answers have other forms than those of v1. */
  function isFromOwner(answer: { readonly status: number; readonly body: string } | undefined): boolean {
    return answer === undefined || /"statusCode":|^$|FST_ERR/.test(answer.body)
  }
})
