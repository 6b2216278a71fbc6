import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { callOf } from '../compat/rpc/call.ts'
import { grpcClient } from '../compat/rpc/grpc-client.ts'
import { freePort } from '../stage/free-port.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { until } from '../stage/until.ts'
import { EDGES } from './edges/all.ts'
import { hasEdge, startEdge } from './edges/edge.ts'
import { hasNginx, startNginx } from './nginx.ts'

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
