import Fastify from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { crosswalk, type HostedSettings } from '../../src/index.ts'
import { until } from '../stage/until.ts'
import { answering, startUpstream, type Upstream } from '../stage/upstream.ts'
import { type Host, startHost } from './host.ts'

const ROLE = { uid: 'a'.repeat(40), name: 'one', capabilities: [] }

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function hosted(v2: Upstream, options: Parameters<typeof startHost>[1] = {}, more: { passthrough?: boolean } = {}): Promise<Host> {
  const host = await startHost({ settings: { upstream: { v2: v2.url } }, ...more }, options)
  closing.push(
    () => v2.close(),
    () => host.app.close(),
  )
  return host
}

const upstream = () => startUpstream(answering({ roles: [ROLE], totalCount: '1' }))

describe('the plugin', () => {
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
    closing.push(
      () => v2.close(),
      () => app.close(),
    )
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
