import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'
import { type Changes, hasNginx, type Nginx, startNginx } from './nginx.ts'

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
