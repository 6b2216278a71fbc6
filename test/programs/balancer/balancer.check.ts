import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { buildCli } from '../../app/cli/built.ts'
import { callOf, grpcClient } from '../../contract/rpc/call.ts'
import { until } from '../../stage/clocks.ts'
import { startProxy, startQuietSandbox, type TestProxy } from '../../stage/stage.ts'
import { freePort, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { EDGES, hasEdge, startEdge } from './edges.ts'
import {
  type Changes,
  createProxy,
  exchange,
  hasNginx,
  journalOf,
  type Nginx,
  proxyEnvironment,
  type RestartableProxy,
  runLoad,
  type Served,
  startNginx,
  startSandbox,
  writesIn,
} from './processes.ts'

describe('routing', () => {
  /** `by` says which service answered: the v1 service itself, or Crosswalk from v2. */
  const answering = (by: string) => (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/stream') return void response.write('first')
    response.setHeader('x-answered-by', by)
    response.end('{"groups":[],"repos":[],"response":"pong"}')
  }

  interface Ask {
    readonly path: string
    readonly token?: string
    readonly agent?: string
    readonly headers?: Readonly<Record<string, string>>
  }

  describe.runIf(hasNginx())('nginx as shipped', () => {
    let v1: Upstream
    let v2: Upstream
    let proxy: TestProxy
    let nginx: Nginx

    /** Restarts nginx with another routing and no other change. */
    const route = async (changes: Changes[string] = []) => {
      await nginx?.stop()
      const port = Number(new URL(proxy.url).port)
      nginx = await startNginx([port, port], v1.url, { 'routing.conf': changes })
    }

    beforeAll(async () => {
      v1 = await startUpstream(answering('v1'))
      v2 = await startUpstream(answering('v2'))
      proxy = await startProxy({ 'upstream.v2': v2.url, 'forwarded.trusted': '127.0.0.1' })
      await route()
    })

    afterAll(async () => {
      await nginx?.stop()
      await proxy?.close()
      await Promise.all([v1?.close(), v2?.close()])
    })

    /** Crosswalk puts a request id on v1 answers; the v1 service does not. */
    const answeredBy = async ({ path, token = 'x', agent = 'test', headers }: Ask) => {
      const answer = await fetch(nginx.url + path, { headers: { authorization: `Bearer ${token}`, 'user-agent': agent, ...headers } })
      expect(answer.status).toBe(200)
      return answer.headers.get('x-answered-by') ?? (answer.headers.has('x-request-id') ? 'crosswalk' : 'nobody')
    }

    /** A caller that the share leaves with v1. */
    const callerOfV1 = async () => {
      for (let at = 0; ; at += 1) if ((await answeredBy({ path: '/iam/v1/groups', token: `try-${at}` })) === 'v1') return `try-${at}`
    }

    it('sends some paths to Crosswalk and leaves the others with v1', async () => {
      expect(await answeredBy({ path: '/ping/v1/ping' })).toBe('crosswalk')
      expect(await answeredBy({ path: '/advisory/v1/documents' })).toBe('v1')
      expect(await answeredBy({ path: '/iam/v2/groups' })).toBe('v1')
      expect(await answeredBy({ path: '/anything' })).toBe('v1')
    })

    it('sends some clients there by their user agent, whatever the path', async () => {
      expect(await answeredBy({ path: '/iam/v1/groups', agent: 'crosswalk-pilot/1.0', token: await callerOfV1() })).toBe('crosswalk')
      expect(await answeredBy({ path: '/ping/v1/ping', agent: 'legacy-batch/2' })).toBe('v1')
    })

    it('sends some percent of callers there; a larger share moves no caller back', async () => {
      const callers = Array.from({ length: 300 }, (_, at) => `caller-${at}`)
      const sides = async () => {
        const all: string[] = []
        for (const token of callers) all.push(await answeredBy({ path: '/iam/v1/groups', token }))
        return all
      }
      const half = await sides()
      expect(half.filter((side) => side === 'crosswalk').length).toSatisfy((count: number) => count > 110 && count < 190)
      expect(await sides()).toEqual(half)
      await route([['50% crosswalk;', '80% crosswalk;']])
      const most = await sides()
      expect(most.filter((side) => side === 'crosswalk').length).toSatisfy((count: number) => count > 205 && count < 275)
      expect(callers.filter((_, at) => half[at] === 'crosswalk' && most[at] !== 'crosswalk')).toEqual([])
      await route([['  50% crosswalk;\n', '']])
      expect(new Set(await sides())).toEqual(new Set(['v1']))
    })

    it('sends some addresses there', async () => {
      await route()
      const token = await callerOfV1()
      await route([['# 10.1.0.0/16 crosswalk;', '127.0.0.0/8 crosswalk;']])
      expect(await answeredBy({ path: '/iam/v1/groups', token })).toBe('crosswalk')
      await route()
    })

    it('passes the request target on unchanged', async () => {
      v1.seen.length = 0
      await answeredBy({ path: '/advisory/v1/a%2Fb%20c//d?x=%2F&y=+' })
      expect(v1.seen[0]?.url).toBe('/advisory/v1/a%2Fb%20c//d?x=%2F&y=+')
    })

    it('passes on the real address of the client, whatever the client claims', async () => {
      const spoofed = { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=2.2.2.2', 'x-forwarded-proto': 'https', 'x-request-id': 'from-afar' }
      await answeredBy({ path: '/ping/v1/ping', headers: spoofed })
      expect(await proxy.logged(({ reqId }) => reqId === 'from-afar')).toMatchObject({ client: '127.0.0.1' })
      v1.seen.length = 0
      await answeredBy({ path: '/anything', headers: spoofed })
      expect(v1.seen[0]?.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' })
      expect(v1.seen[0]?.headers).not.toHaveProperty('forwarded')
    })

    it('reuses its connections', async () => {
      const ports = new Set<number | undefined>()
      v1.server.on('connection', ({ remotePort }) => ports.add(remotePort))
      for (let at = 0; at < 10; at += 1) await answeredBy({ path: '/anything' })
      expect(ports.size).toBeLessThanOrEqual(2)
    })

    it('passes a list on while it is still being written', async () => {
      const first = await new Promise<string>((resolve, reject) => {
        const request = http.get(`${nginx.url}/stream`, (answer) => {
          answer.once('data', (chunk) => resolve(String(chunk)))
          answer.once('error', () => {})
          answer.once('data', () => request.destroy())
        })
        request.once('error', reject)
      })
      expect(first).toBe('first')
    })

    it('carries WebSockets, also through Crosswalk', async () => {
      const sockets = new WebSocketServer({ server: v2.server })
      sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(`echo ${message}`)))
      const socket = new WebSocket(`${nginx.url.replace('http', 'ws')}/events`, { headers: { 'user-agent': 'crosswalk-pilot/1' } })
      const heard = new Promise((resolve, reject) => {
        socket.once('message', (message) => resolve(String(message)))
        socket.once('error', reject)
      })
      socket.once('open', () => socket.send('hello'))
      expect(await heard).toBe('echo hello')
      socket.terminate()
      sockets.close()
    })
  })
})

describe('rpc', () => {
  interface Ports {
    readonly port: number
    readonly adminPort: number
    /** Address and port of v1. */
    readonly v1: string
  }

  interface Running {
    /** Where gRPC goes. */
    readonly url: string
    stop(): Promise<void>
  }

  /** How each program starts on its shipped files. */
  const PROGRAMS: readonly (readonly [name: string, isThere: () => boolean, start: (ports: Ports) => Promise<Running>])[] = [
    [
      'nginx',
      hasNginx,
      async ({ port, v1 }) => {
        const { rpcUrl, stop } = await startNginx([port, port], `http://${v1}`)
        return { url: rpcUrl, stop }
      },
    ],
    ...EDGES.map((edge) => [edge.name, () => hasEdge(edge), (ports: Ports) => startEdge(edge, ports)] as const),
  ]

  const PING = callOf({ method: 'GET', path: '/ping/v1/ping' })
  const GROUPS = callOf({ method: 'GET', path: '/iam/v1/groups' })
  const DOCUMENTS = callOf({ method: 'GET', path: '/advisory/v1/documents' })
  const CREATE = callOf({ method: 'POST', path: '/iam/v1/groups/0', text: '{"name":"x"}' })

  describe.each(PROGRAMS)('gRPC through %s as shipped', (_, isThere, start) => {
    if (!isThere()) return it.skip('is not tried')
    let sandbox: Sandbox
    let proxies: readonly TestProxy[]
    let running: Running

    beforeAll(async () => {
      sandbox = await startQuietSandbox({ v1Dialect: 'published' })
      const [port, adminPort] = [await freePort(), await freePort()]
      proxies = await Promise.all(
        ['127.0.0.1', '127.0.0.2'].map((host) =>
          startProxy({
            'upstream.v2': sandbox.url,
            'v1.dialect': 'published',
            'listen.host': host,
            'listen.port': port,
            'admin.host': host,
            'admin.port': adminPort,
            'forwarded.trusted': '127.0.0.1',
          }),
        ),
      )
      running = await start({ port, adminPort, v1: new URL(sandbox.url).host })
    })

    afterAll(async () => {
      await running?.stop()
      await Promise.all([...(proxies ?? []).map((proxy) => proxy.close()), sandbox?.close()])
    })

    /** Calls of the proxies, as their logs have them. */
    const served = () => proxies.flatMap(({ log }) => log.filter(({ protocol }) => protocol === 'grpc')).length

    const client = (agent: string) => {
      const made = grpcClient(running.url, { 'grpc.primary_user_agent': agent })
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

describe('rolling', () => {
  const EVERYBODY = { 'routing.conf': [['50% crosswalk;', '100% crosswalk;']] } as const
  const ORGANIZATION = '588391a69873a06cb99a4ed5a59102644f751ea4'
  const TOKEN = 'demo-owner'

  describe.runIf(hasNginx()).each([1, 2])('two proxies of %i workers behind nginx', (workers) => {
    let sandbox: Served
    let proxies: readonly [RestartableProxy, RestartableProxy]
    let nginx: Nginx

    beforeAll(async () => {
      const cli = buildCli()
      sandbox = await startSandbox(cli)
      const env = {
        ...proxyEnvironment(),
        CROSSWALK_UPSTREAM_V1: sandbox.url,
        CROSSWALK_UPSTREAM_V2: sandbox.url,
        CROSSWALK_LOG_LEVEL: 'error',
        CROSSWALK_WORKERS: String(workers),
      }
      proxies = [await createProxy(cli, env), await createProxy(cli, env)]
      await Promise.all(proxies.map((proxy) => proxy.start()))
      nginx = await startNginx([proxies[0].port, proxies[1].port], sandbox.url, EVERYBODY)
    })

    afterAll(async () => {
      await nginx?.stop()
      await Promise.all((proxies ?? []).map((proxy) => proxy.stop('SIGKILL')))
      sandbox?.child.kill('SIGKILL')
    })

    it('have a configuration that nginx accepts without a warning', () => {
      expect(nginx.test.trim().split('\n')).toEqual([
        expect.stringMatching(/nginx\.conf syntax is ok$/),
        expect.stringMatching(/nginx\.conf test is successful$/),
      ])
    })

    it('restart one by one under load: no request fails, each write arrives once', async () => {
      const over = new AbortController()
      const options = { url: nginx.url, token: TOKEN, organization: ORGANIZATION, clients: 8, atLeast: 2000, until: over.signal }
      const running = runLoad(options)
      const exits = []
      for (const proxy of proxies) {
        await until(async () => (await proxy.metric('crosswalk_requests_total')) > 0, 'it is in use')
        exits.push(await proxy.stop('SIGTERM'))
        await proxy.start()
        await until(async () => (await proxy.metric('crosswalk_requests_total')) > 0, 'it is in use again')
      }
      over.abort()
      const { requests, failures, writes } = await running
      const received = writesIn(await journalOf(sandbox.url))
      console.log(`${requests} requests, ${writes.length} of them writes, ${failures.length} failed; exit codes ${exits.join(', ')}`)
      expect(failures).toEqual([])
      expect(exits).toEqual([0, 0])
      expect(writes.filter((mark) => received.get(mark) !== 1)).toEqual([])
      expect(requests).toBeGreaterThanOrEqual(2000)
    })

    it('do not resend a write when one dies, and send the next ones to the other', async () => {
      const { body } = await exchange(
        { url: `${nginx.url}/registry/v1/repos/${ORGANIZATION}`, method: 'POST', token: TOKEN },
        { name: 'survivor' },
      )
      const repo = `${nginx.url}/registry/v1/repos/${encodeURIComponent(JSON.parse(body).id)}`
      const hang = { match: 'PATCH /registry/v2/repos', delayMs: 30_000, times: 1 }
      await fetch(`${sandbox.url}/-/faults`, { method: 'POST', body: JSON.stringify(hang) })
      const cut = exchange({ url: repo, method: 'PUT', token: TOKEN }, { name: 'survivor', description: 'cut' })
      const busy = await until(async () => {
        const inFlight = await Promise.all(proxies.map((proxy) => proxy.metric('crosswalk_requests_in_flight')))
        return proxies[inFlight.findIndex((count) => count > 0)]
      }, 'one of them has the write')
      await until(async () => writesIn(await journalOf(sandbox.url)).has('PATCH cut'), 'v2 has it')
      await busy.stop('SIGKILL')
      expect((await cut).status).toBe(502)
      for (const at of [1, 2, 3, 4]) {
        const { status } = await exchange({ url: repo, method: 'PUT', token: TOKEN }, { name: 'survivor', description: `after-${at}` })
        expect(status).toBe(200)
      }
      expect((await exchange({ url: repo, method: 'DELETE', token: TOKEN })).status).toBe(200)
      const received = writesIn(await journalOf(sandbox.url))
      expect(['PATCH cut', 'PATCH after-1', 'PATCH after-2', 'PATCH after-3', 'PATCH after-4'].map((mark) => received.get(mark))).toEqual([
        1, 1, 1, 1, 1,
      ])
    })
  })
})
