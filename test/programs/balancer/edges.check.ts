import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { networkInterfaces } from 'node:os'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { callOf, grpcClient } from '../../contract/rpc/call.ts'
import { until } from '../../stage/clocks.ts'
import { startProxy, startQuietSandbox, type TestProxy } from '../../stage/stage.ts'
import { freePort, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { EDGES, type Edits, hasEdge, nginx, type RunningEdge, type Services, startEdge } from './edges.ts'
import { exchange } from './processes.ts'

/** `by` says which service answered: the v1 service itself, or Crosswalk from v2. */
const answering = (by: string) => (request: IncomingMessage, response: ServerResponse) => {
  if (request.url === '/stream') return void response.write('first')
  response.setHeader('x-answered-by', by)
  response.end('{"groups":[],"repos":[],"response":"pong"}')
}

/** Addresses of this machine. Envoy tells its own outer one for a client on the same machine. */
const OWN = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))

const HOSTS = ['127.0.0.1', '127.0.0.2']

/** Milliseconds of a drain, and within which a balancer that asks every second must have noticed that the proxy drains. */
const DRAIN = 5000
const NOTICED = 3500

type Settings = Parameters<typeof startProxy>[0]

/** Starts two proxies on the same ports of two addresses of this machine. */
async function startProxies(settings: Settings) {
  const [port, adminPort] = [await freePort(), await freePort()]
  const ports = { 'listen.port': port, 'admin.port': adminPort, 'forwarded.trusted': '127.0.0.1' }
  const proxies = await Promise.all(HOSTS.map((host) => startProxy({ ...settings, ...ports, 'listen.host': host, 'admin.host': host })))
  const services = (v1: string): Services => ({
    crosswalk: [`${HOSTS[0]}:${port}`, `${HOSTS[1]}:${port}`],
    adminPort,
    v1: new URL(v1).host,
  })
  return { proxies, services }
}

describe.each(EDGES)('$name as shipped', (edge) => {
  if (!hasEdge(edge)) return it.skip('is not tried')
  let v1: Upstream
  let v2: Upstream
  let proxies: readonly TestProxy[]
  let running: RunningEdge | undefined
  let services: Services

  /** Starts the program again with these changes and no others. */
  const route = async (changes: Edits = []) => {
    await running?.stop()
    running = await startEdge(edge, services, changes)
  }

  beforeAll(async () => {
    v1 = await startUpstream(answering('v1'))
    v2 = await startUpstream(answering('v2'))
    const started = await startProxies({ 'upstream.v2': v2.url, 'limits.drainMs': DRAIN })
    proxies = started.proxies
    services = started.services(v1.url)
    await route()
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

  /** A caller that the share leaves with v1. */
  const callerOfV1 = async () => {
    for (let at = 0; ; at += 1) if ((await answeredBy('/iam/v1/groups', { token: `try-${at}` })) === 'v1') return `try-${at}`
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
    if (edge !== nginx) return
    expect(await answeredBy('/iam/v1/groups', { agent: 'crosswalk-pilot/1.0', token: await callerOfV1() })).toBe('crosswalk')
    expect(await answeredBy('/ping/v1/ping', { agent: 'legacy-batch/2' })).toBe('v1')
  })

  it('sends a share there, and a larger one moves no caller back where callers keep their side', async () => {
    const callers = Array.from({ length: edge.callers }, (_, at) => `caller-${at}`)
    const sides = async () => {
      const all: string[] = []
      for (const token of callers) all.push(String(await answeredBy('/iam/v1/groups', { token })))
      return all
    }
    const count = (all: readonly string[]) => all.filter((side) => side === 'crosswalk').length
    const half = await sides()
    expect(count(half)).toSatisfy((moved: number) => moved > edge.half[0] && moved < edge.half[1])
    if (edge.keepsCallers) expect(await sides()).toEqual(half)
    await route([[edge.share(50), edge.share(80)]])
    const most = await sides()
    expect(count(most)).toSatisfy((moved: number) => moved > edge.most[0] && moved < edge.most[1])
    if (edge.keepsCallers) expect(callers.filter((_, at) => half[at] === 'crosswalk' && most[at] !== 'crosswalk')).toEqual([])
    if (edge !== nginx) return
    await route([['  50% crosswalk;\n', '']])
    expect(new Set(await sides())).toEqual(new Set(['v1']))
    await route()
  })

  it.runIf(edge === nginx)('sends some addresses there', async () => {
    const token = await callerOfV1()
    await route([['# 10.1.0.0/16 crosswalk;', '127.0.0.0/8 crosswalk;']])
    expect(await answeredBy('/iam/v1/groups', { token })).toBe('crosswalk')
    await route()
  })

  it('passes the request target on unchanged', async () => {
    v1.seen.length = 0
    const target = '/advisory/v1/a%2Fb%20c//d?x=%2F&y=+'
    await answeredBy(target)
    expect(v1.seen.map(({ url }) => url).filter((url) => url === target)).toEqual([target])
  })

  it('passes on the real address of the client, whatever the client claims', async () => {
    const claims = { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=2.2.2.2', 'x-forwarded-proto': 'https' }
    const headers = { ...claims, 'x-request-id': `afar-${edge.name}` }
    const own = edge.replacesAddresses ? ['127.0.0.1'] : OWN
    await answeredBy('/ping/v1/ping', { headers })
    const line = await Promise.race(proxies.map((proxy) => proxy.logged(({ reqId }) => reqId === headers['x-request-id'])))
    expect(own).toContain(line['client'])
    v1.seen.length = 0
    await answeredBy('/anything', { headers })
    const [seen] = v1.seen.filter(({ url }) => url === '/anything')
    const addresses = String(seen?.headers['x-forwarded-for']).split(/, ?/)
    if (edge.replacesAddresses) {
      expect([addresses, seen?.headers['x-forwarded-proto']]).toEqual([own, 'http'])
      expect(seen?.headers).not.toHaveProperty('forwarded')
    }
    expect(own).toContain(addresses.at(-1))
    expect(seen?.headers.forwarded ?? '').toBe('')
  })

  it('reuses its connections', async () => {
    const ports = new Set<number | undefined>()
    v1.server.on('connection', ({ remotePort }) => ports.add(remotePort))
    for (let at = 0; at < 10; at += 1) await answeredBy('/anything')
    expect(ports.size).toBeLessThanOrEqual(2)
  })

  it('passes a list on while it is still being written', async () => {
    const first = await new Promise<string>((resolve, reject) => {
      const request = http.get(`${running?.url}/stream`, (answer) => {
        answer
          .once('error', () => {})
          .once('data', (chunk) => {
            resolve(String(chunk))
            request.destroy()
          })
      })
      request.once('error', reject)
    })
    expect(first).toBe('first')
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

  it.runIf(edge.asksHealth)('leaves a proxy that drains before it refuses connections, and loses no request', async () => {
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

describe('rpc', () => {
  const PING = callOf({ method: 'GET', path: '/ping/v1/ping' })
  const GROUPS = callOf({ method: 'GET', path: '/iam/v1/groups' })
  const DOCUMENTS = callOf({ method: 'GET', path: '/advisory/v1/documents' })
  const CREATE = callOf({ method: 'POST', path: '/iam/v1/groups/0', text: '{"name":"x"}' })

  describe.each(EDGES)('gRPC through $name as shipped', (edge) => {
    if (!hasEdge(edge)) return it.skip('is not tried')
    let sandbox: Sandbox
    let proxies: readonly TestProxy[]
    let running: RunningEdge

    beforeAll(async () => {
      sandbox = await startQuietSandbox({ v1Dialect: 'published' })
      const started = await startProxies({ 'upstream.v2': sandbox.url, 'v1.dialect': 'published' })
      proxies = started.proxies
      running = await startEdge(edge, started.services(sandbox.url))
    })

    afterAll(async () => {
      await running?.stop()
      await Promise.all([...(proxies ?? []).map((proxy) => proxy.close()), sandbox?.close()])
    })

    /** Calls of the proxies, as their logs have them. */
    const served = () => proxies.flatMap(({ log }) => log.filter(({ protocol }) => protocol === 'grpc')).length

    const client = (agent: string) => {
      const made = grpcClient(running.rpcUrl, { 'grpc.primary_user_agent': agent })
      onTestFinished(() => made.close())
      return (call: typeof PING, token = sandbox.tokens.owner) => made.call(call, token)
    }

    it('carries messages, and errors with their details, of a client that goes to Crosswalk', async () => {
      const ask = client('crosswalk-pilot/1')
      await until(async () => (await ask(PING)).status === 200, 'a call arrives')
      const before = served()
      expect((await ask(GROUPS)).body.items.length).toBeGreaterThan(0)
      expect((await ask(CREATE)).body).toMatchObject({ code: expect.any(Number), message: expect.stringMatching(/./) })
      expect((await ask(GROUPS, 'unknown')).status).toBe(401)
      expect(served() - before).toBe(3)
    })

    it('goes to Crosswalk by its method, and otherwise stays with v1', async () => {
      const ask = client('test')
      await until(async () => (await ask(PING)).status === 200, 'a call arrives')
      const before = served()
      expect((await ask(PING)).status).toBe(200)
      expect(served() - before).toBe(1)
      expect((await ask(DOCUMENTS)).status).toBe(200)
      expect(served() - before).toBe(1)
    })

    it('still goes there when the health checks have decided', async () => {
      const ask = client('crosswalk-pilot/1')
      // Longer than inter × fall of every shipped file.
      const end = Date.now() + 4000
      while (Date.now() < end) expect(await ask(PING)).toMatchObject({ status: 200 })
    })

    it('goes there for a share of the callers', async () => {
      const ask = client('test')
      const before = served()
      const callers = Array.from({ length: 60 }, (_, at) => `demo-viewer-${at}`)
      for (const token of callers) expect((await ask(GROUPS, token)).status).toBe(200)
      expect(served() - before).toSatisfy((count: number) => count > 12 && count < 48)
    })
  })
})
