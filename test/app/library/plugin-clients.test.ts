import { once } from 'node:events'
import net from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCrosswalk, type Settings } from '../../../src/index.ts'
import { until } from '../../stage/clocks.ts'
import { listening } from '../../stage/programs.ts'
import { answering, rawExchange, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { type Host, type HostOptions, startHost } from './stage.ts'

const ROLE = { uid: 'a'.repeat(40), name: 'one', capabilities: [] }
const LIST = answering({ roles: [ROLE], totalCount: '1' })
const ROLES = 'GET /iam/v1/roles HTTP/1.1\r\nhost: a\r\n\r\n'

async function hosted(v2: Pick<Upstream, 'url'>, limits: NonNullable<Settings['limits']> = {}, options: HostOptions = {}) {
  const v1 = await createCrosswalk({ upstream: { v2: v2.url }, limits })
  const host = await startHost({ crosswalk: v1 }, { own: (app) => app.get('/own', async () => 'mine'), ...options })
  return {
    ...host,
    /** Resolves when the Crosswalk serves so many requests. */
    inFlight: (count: number) =>
      until(async () => (await v1.metrics()).includes(`crosswalk_requests_in_flight ${count}\n`), `${count} in flight`),
    /** Sends bytes on a connection of its own. */
    connect(bytes: string) {
      const { hostname, port } = new URL(host.url)
      const socket = net.connect(Number(port), hostname, () => socket.write(bytes))
      return socket.on('error', () => {}).resume()
    },
  }
}

/** An upstream that answers when it is told to. */
async function waiting(): Promise<Upstream & { readonly go: () => void }> {
  let isOpen = false
  const waiters: (() => void)[] = []
  const upstream = await startUpstream((request, response, body) => {
    if (isOpen) LIST(request, response, body)
    else waiters.push(() => LIST(request, response, body))
  })
  const go = () => {
    isOpen = true
    for (const answer of waiters.splice(0)) answer()
  }
  return { ...upstream, go }
}

describe('the places of requests in flight', () => {
  it('are limited, and own routes are not', async () => {
    const v2 = await waiting()
    const { url, inFlight } = await hosted(v2, { requestsInFlight: 1 })
    const first = fetch(`${url}/iam/v1/roles`)
    await inFlight(1)
    const second = await fetch(`${url}/iam/v1/roles`)
    expect([second.status, second.headers.get('retry-after'), (await second.json()) as object]).toEqual([
      503,
      '1',
      expect.objectContaining({ message: expect.stringContaining('limits.requestsInFlight (1)') }),
    ])
    expect((await fetch(`${url}/own`)).status).toBe(200)
    v2.go()
    expect((await first).status).toBe(200)
  })

  it('are free again when a client goes away before its answer', async () => {
    const v2 = await waiting()
    const { url, inFlight, connect } = await hosted(v2, { requestsInFlight: 1 })
    const socket = connect(ROLES)
    await inFlight(1)
    socket.destroy()
    await inFlight(0)
    v2.go()
    expect((await fetch(`${url}/iam/v1/roles`)).status).toBe(200)
  })

  it('are not taken by a pipeline whose first request is still waiting', async () => {
    const v2 = await waiting()
    const { url, inFlight, connect } = await hosted(v2, { requestsInFlight: 2 })
    const socket = connect(ROLES.repeat(5))
    await inFlight(1)
    await until(async () => v2.seen.length === 1, 'one of them asks v2')
    socket.destroy()
    await inFlight(0)
    v2.go()
    expect(await Promise.all([fetch(`${url}/iam/v1/roles`), fetch(`${url}/iam/v1/roles`)])).toMatchObject([
      { status: 200 },
      { status: 200 },
    ])
  })

  it('are given to the requests of a pipeline in turn', async () => {
    const { url } = await hosted(await startUpstream(LIST), { requestsInFlight: 1 })
    const own = 'GET /own HTTP/1.1\r\nhost: a\r\n\r\n'
    const answers = await rawExchange(url, `${ROLES}${own}${ROLES}GET /iam/v1/roles HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n`)
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(Array(4).fill('HTTP/1.1 200'))
    expect(answers.match(/"items"|mine/g)).toEqual(['"items"', 'mine', '"items"', '"items"'])
  })

  it('are not taken by a pipeline behind a route of the owner', async () => {
    let begun = () => {}
    const own = (app: Host['app']) =>
      app.get('/slow', () => {
        begun()
        return new Promise(() => {})
      })
    const { url, inFlight, connect } = await hosted(await startUpstream(LIST), { requestsInFlight: 1 }, { own })
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve
    })
    const socket = connect(`GET /slow HTTP/1.1\r\nhost: a\r\n\r\n${ROLES}`)
    await isBegun
    socket.destroy()
    await once(socket, 'close')
    await inFlight(0)
    expect((await fetch(`${url}/iam/v1/roles`)).status).toBe(200)
  })

  it('are not taken by a client that leaves while a hook of the owner works', async () => {
    let [asked, go] = [() => {}, () => {}]
    let handled = 0
    const own = (app: Host['app']) =>
      app.addHook('onRequest', async () => {
        handled += 1
        if (handled > 1) return
        const wait = new Promise<void>((resolve) => {
          go = resolve
        })
        asked()
        await wait
      })
    const { url, app, inFlight, connect } = await hosted(await startUpstream(LIST), { requestsInFlight: 1 }, { own })
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const socket = connect(ROLES)
    await isAsked
    socket.destroy()
    await until(async () => (await connections(app)) === 0, 'the connection is gone')
    go()
    await inFlight(0)
    expect((await fetch(`${url}/iam/v1/roles`)).status).toBe(200)
  })
})

const connections = ({ server }: Host['app']) => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)))

describe('the time and size limits', () => {
  it('answer a body that comes too slowly', async () => {
    const { url } = await hosted(await startUpstream(answering(ROLE)), { bodyTimeoutMs: 50 })
    const answer = await rawExchange(url, `POST /iam/v1/roles/x HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{"name"`)
    expect(answer).toMatch(/^HTTP\/1.1 408 .*limits.bodyTimeoutMs \(50\)/s)
  })

  it('refuse a body that is too large, in the form of v1', async () => {
    const { url } = await hosted(await startUpstream(answering(ROLE)), { requestBytes: 1024 })
    const answer = await fetch(`${url}/iam/v1/roles/x`, { method: 'POST', body: JSON.stringify({ name: 'a'.repeat(10_000) }) })
    expect(await answer.json()).toMatchObject({ message: expect.stringContaining('limits.requestBytes (1024)') })
  })

  it('end a request that v2 does not answer', async () => {
    const { url } = await hosted(await waiting(), { deadlineMs: 50 })
    const answer = await fetch(`${url}/iam/v1/roles`)
    expect([answer.status, await answer.json()]).toEqual([
      504,
      expect.objectContaining({ message: expect.stringContaining('limits.deadlineMs (50)') }),
    ])
  })

  it('do not bound what passes to v2', async () => {
    const size = 2 ** 24
    let received = 0
    const v2 = await startUpstream((_, response, body) => {
      received = body.length
      response.end('done')
    })
    const settings = { upstream: { v2: v2.url }, limits: { requestBytes: 1 } }
    const { url } = await startHost({ settings, passthrough: true }, { server: { bodyLimit: 1 } })
    const answer = await fetch(`${url}/upload`, { method: 'PUT', body: 'a'.repeat(size), headers: { 'content-type': 'application/json' } })
    expect([answer.status, await answer.text(), received]).toEqual([200, 'done', size])
  })

  it('end the close of the server though v2 never answers', async () => {
    const v2 = await waiting()
    const { url, app, inFlight } = await hosted(v2, { shutdownMs: 20 }, { server: { forceCloseConnections: false } })
    const broken = fetch(`${url}/iam/v1/roles`).catch(() => 'broken')
    await inFlight(1)
    await app.close()
    expect(await broken).toBe('broken')
  })
})

describe('what clients and v2 do wrong', () => {
  const [HEAD, BODY] = ['host: a\r\nconnection: close\r\n', '{"name":"a"}']

  it.each([
    ['a target that is no path', `GET http://a/iam/v1/roles HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 400/],
    ['a target that is not UTF-8', `GET /iam/v1/roles/%ff HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 400/],
    ['a target with bytes', `GET /iam/v1/roles/\xff HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 400/],
    ['a target that climbs', `GET /iam/v1/../v2/roles HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 400/],
    ['an asterisk', `OPTIONS * HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 404/],
    ['a method of its own', `FROB /iam/v1/roles HTTP/1.1\r\n${HEAD}\r\n`, /^HTTP\/1.1 400/],
    ['a head that is too large', `GET /iam/v1/roles HTTP/1.1\r\n${HEAD}a: ${'a'.repeat(100_000)}\r\n\r\n`, /^HTTP\/1.1 431/],
    ['no host', 'GET /iam/v1/roles HTTP/1.1\r\nconnection: close\r\n\r\n', /^HTTP\/1.1 400/],
    [
      'an offer to switch over',
      `GET /iam/v1/roles HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
      /^HTTP\/1.1 200/,
    ],
    ['two lengths', `POST /iam/v1/roles/x HTTP/1.1\r\n${HEAD}content-length: 1\r\ncontent-length: 2\r\n\r\n{}`, /^HTTP\/1.1 400/],
    ['a chunk that is none', `POST /iam/v1/roles/x HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\nzz\r\n`, /^HTTP\/1.1 400|^$/],
    ['another expectation', `GET /iam/v1/roles HTTP/1.1\r\n${HEAD}expect: tea\r\n\r\n`, /^HTTP\/1.1 417/],
    [
      'a trailer',
      `POST /iam/v1/roles/x HTTP/1.1\r\n${HEAD}transfer-encoding: chunked\r\n\r\nc\r\n${BODY}\r\n0\r\na: b\r\n\r\n`,
      /^HTTP\/1.1 (200|500)/,
    ],
    ['a body of the wrong JSON', `POST /iam/v1/roles/x HTTP/1.1\r\n${HEAD}content-length: 2\r\n\r\n{]`, /^HTTP\/1.1 400/],
    [
      'an expectation',
      `POST /iam/v1/roles/x HTTP/1.1\r\n${HEAD}expect: 100-continue\r\ncontent-length: 12\r\n\r\n${BODY}`,
      /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1/,
    ],
  ])('does not reach the owner: %s', async (_, bytes, expected) => {
    const { url, connect, inFlight } = await hosted(await startUpstream(LIST))
    const socket = connect(bytes)
    socket.setEncoding('latin1')
    let received = ''
    socket.on('data', (chunk: string) => {
      received += chunk
    })
    await until(async () => expected.test(received) && (received !== '' || socket.destroyed), 'an answer')
    socket.destroy()
    await inFlight(0)
    expect((await fetch(`${url}/own`)).status).toBe(200)
    expect((await fetch(`${url}/iam/v1/roles`)).status).toBe(200)
  })

  it('does not reach the owner: bodies that break off', async () => {
    const { url, connect, inFlight } = await hosted(await startUpstream(LIST))
    for (const part of ['', '{', BODY.slice(0, -1)]) {
      const socket = connect(`POST /iam/v1/roles/x HTTP/1.1\r\nhost: a\r\ncontent-length: ${BODY.length}\r\n\r\n${part}`)
      await inFlight(1)
      socket.resetAndDestroy()
      await inFlight(0)
    }
    expect((await fetch(`${url}/own`)).status).toBe(200)
  })

  it.each([
    ['before its head', (socket: net.Socket) => socket.resetAndDestroy()],
    ['within its head', (socket: net.Socket) => socket.write('HTTP/1.1 200 O', () => socket.resetAndDestroy())],
    [
      'within its body',
      (socket: net.Socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"ro', () => socket.resetAndDestroy()),
    ],
    ['with no HTTP', (socket: net.Socket) => socket.end('hello\r\n\r\n')],
  ])('does not reach the owner: v2 breaks off %s', async (_, end) => {
    const server = net.createServer((socket) => void socket.on('error', () => {}).once('data', () => end(socket)))
    onTestFinished(() => void server.close())
    const { url, inFlight } = await hosted(await listening(server))
    const answer = await fetch(`${url}/iam/v1/roles`)
    expect(answer.status).toBe(503)
    await inFlight(0)
    expect((await fetch(`${url}/own`)).status).toBe(200)
  })
})
