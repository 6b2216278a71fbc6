import type { IncomingMessage, ServerResponse } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { startProxy, type TestProxy } from '../../stage/stage.ts'
import { freePort, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { EDGES, hasEdge, type RunningEdge, startEdge } from './edges.ts'
import { exchange } from './processes.ts'

/** `by` says which service answered: the v1 service itself, or Crosswalk from v2. */
const answering = (by: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.setHeader('x-answered-by', by)
  response.end('{"groups":[],"repos":[],"response":"pong"}')
}

/** Addresses of this machine. Envoy tells its own outer one for a client on the same machine. */
const OWN = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))

const HOSTS = ['127.0.0.1', '127.0.0.2']

/** Milliseconds of a drain, and within which a balancer that asks every second must have noticed that the proxy drains. */
const DRAIN = 5000
const NOTICED = 3500

describe.runIf(EDGES.every(hasEdge)).each(EDGES)('$name as shipped', (edge) => {
  let v1: Upstream
  let v2: Upstream
  let proxies: readonly TestProxy[]
  let running: RunningEdge | undefined
  let ports: { readonly port: number; readonly adminPort: number }

  /** Starts the program again with another share and no other change. */
  const withShare = async (percent: number) => {
    await running?.stop()
    running = await startEdge(edge, { ...ports, v1: new URL(v1.url).host }, percent)
  }

  const start = (host: string) =>
    startProxy({
      'upstream.v2': v2.url,
      'listen.host': host,
      'listen.port': ports.port,
      'admin.host': host,
      'admin.port': ports.adminPort,
      'forwarded.trusted': '127.0.0.1',
      'limits.drainMs': DRAIN,
    })

  beforeAll(async () => {
    v1 = await startUpstream(answering('v1'))
    v2 = await startUpstream(answering('v2'))
    ports = { port: await freePort(), adminPort: await freePort() }
    proxies = await Promise.all(HOSTS.map(start))
    await withShare(50)
  })

  afterAll(async () => {
    await running?.stop()
    await Promise.all([...(proxies ?? []).map((proxy) => proxy.close()), v1?.close(), v2?.close()])
  })

  const ask = (path: string, { token = 'x', agent = 'test', headers = {} } = {}, method = 'GET') =>
    exchange({ url: running?.url + path, method, token, headers: { 'user-agent': agent, ...headers } })

  /** Crosswalk puts a request id on v1 answers; the v1 service does not. */
  const answeredBy = async (...asked: Parameters<typeof ask>) => {
    const { status, headers } = await ask(...asked)
    expect(status).toBe(200)
    return headers['x-answered-by'] ?? ('x-request-id' in headers ? 'crosswalk' : 'nobody')
  }

  it('sends some paths to Crosswalk and leaves the others with v1', async () => {
    expect(await answeredBy('/ping/v1/ping')).toBe('crosswalk')
    for (const path of ['/advisory/v1/documents', '/iam/v2/groups', '/anything']) expect(await answeredBy(path), path).toBe('v1')
  })

  it('sends some clients there by their user agent, whatever the path', async () => {
    for (let at = 0; at < 8; at += 1) {
      expect(await answeredBy('/iam/v1/groups', { agent: 'crosswalk-pilot/1.0', token: `${at}` })).toBe('crosswalk')
      expect(await answeredBy('/iam/v1/groups', { agent: 'legacy-batch/2', token: `${at}` })).toBe('v1')
    }
  })

  it('sends a share there, and a larger one moves no caller back where callers keep their side', async () => {
    const callers = Array.from({ length: 200 }, (_, at) => `caller-${at}`)
    const sides = async () => {
      const all: string[] = []
      for (const token of callers) all.push(String(await answeredBy('/iam/v1/groups', { token })))
      return all
    }
    const count = (all: readonly string[]) => all.filter((side) => side === 'crosswalk').length
    const half = await sides()
    expect(count(half)).toSatisfy((moved: number) => moved > 65 && moved < 135)
    if (edge.keepsCallers) expect(await sides()).toEqual(half)
    await withShare(80)
    const most = await sides()
    expect(count(most)).toSatisfy((moved: number) => moved > 130 && moved < 190)
    if (edge.keepsCallers) expect(callers.filter((_, at) => half[at] === 'crosswalk' && most[at] !== 'crosswalk')).toEqual([])
  })

  it('passes the request target on unchanged', async () => {
    v1.seen.length = 0
    const target = '/advisory/v1/a%2Fb%20c//d?x=%2F&y=+'
    await answeredBy(target)
    expect(v1.seen.map(({ url }) => url).filter((url) => url === target)).toEqual([target])
  })

  it('passes on the real address of the client, whatever the client claims', async () => {
    const headers = { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=2.2.2.2', 'x-request-id': `afar-${edge.name}` }
    await answeredBy('/ping/v1/ping', { headers })
    const line = await Promise.race(proxies.map((proxy) => proxy.logged(({ reqId }) => reqId === headers['x-request-id'])))
    expect(OWN).toContain(line['client'])
    v1.seen.length = 0
    await answeredBy('/anything', { headers })
    const [seen] = v1.seen.filter(({ url }) => url === '/anything')
    expect(OWN).toContain(String(seen?.headers['x-forwarded-for']).split(/, ?/).at(-1))
    expect(seen?.headers.forwarded ?? '').toBe('')
  })

  it('carries WebSockets, also through Crosswalk', async () => {
    const sockets = new WebSocketServer({ server: v2.server })
    sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(`echo ${message}`)))
    const socket = new WebSocket(`${running?.url.replace('http', 'ws')}/events`, { headers: { 'user-agent': 'crosswalk-pilot/1' } })
    const heard = new Promise((resolve, reject) => {
      socket.once('message', (message) => resolve(String(message)))
      socket.once('error', reject)
    })
    socket.once('open', () => socket.send('hello'))
    expect(await heard).toBe('echo hello')
    socket.terminate()
    sockets.close()
  })

  it('leaves a proxy that drains before it refuses connections, and loses no request', async () => {
    const failures: string[] = []
    let left = false
    const headers = { 'x-request-id': `first-${edge.name}` }
    await ask('/iam/v2/groups', { agent: 'crosswalk-pilot/1', headers })
    // Traefik sends this machine to one proxy: that one leaves.
    const chosen = await Promise.race(
      proxies.map((proxy) => proxy.logged(({ reqId }) => reqId === headers['x-request-id']).then(() => proxy)),
    )
    const leaving = chosen.close().then(() => {
      left = true
    })
    const started = Date.now()
    const send = async (at: number) => {
      const { status, body } = await ask(
        '/iam/v2/groups',
        { token: `caller-${at % 40}`, agent: 'crosswalk-pilot/1' },
        at % 2 ? 'POST' : 'GET',
      )
      if (status !== 200) failures.push(`${at} after ${Date.now() - started} ms: ${status} ${body}`)
    }
    let at = 0
    while (!left) await send(at++)
    await leaving
    for (const end = at + 80; at < end; at += 1) await send(at)
    expect(failures).toEqual([])
    const served = chosen.log.filter(({ reqId }) => reqId !== undefined).map(({ time }) => Number(time) - started)
    expect(served.length).toBeGreaterThan(0)
    expect(Math.max(...served)).toBeLessThan(NOTICED)
  })
})
