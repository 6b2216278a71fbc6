import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { Readable } from 'node:stream'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../../stage/clocks.ts'
import { NOWHERE, type Stage, startStage, type TestProxy } from '../../stage/stage.ts'
import { answering, type Handler, listening, rawExchange, startUpstream, type Upstream } from '../../stage/upstream.ts'

describe('passthrough', () => {
  const BODY = Buffer.from(Array.from({ length: 256 }, (_, at) => at))

  let v2: Upstream
  let proxy: TestProxy

  beforeAll(async () => {
    v2 = await startUpstream((request, response, body) => {
      if (request.url === '/hang') return
      if (request.url === '/again') return void response.end()
      if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': 100 })
        response.write('half')
        return void setImmediate(() => response.destroy())
      }
      response.sendDate = false
      response.writeHead(
        203,
        'Odd But Fine',
        [
          ['X-Custom-CASE', 'one'],
          ['x-custom-case', 'two'],
          ['Set-Cookie', 'a=1'],
          ['Set-Cookie', 'b=2'],
          ['Date', 'Thu, 01 Jan 2026 00:00:00 GMT'],
          ['Content-Type', 'application/octet-stream'],
          ['Content-Length', String(BODY.length)],
          ['Connection', 'close, x-hop'],
          ['X-Hop', 'only here'],
          ['Keep-Alive', 'timeout=9'],
          ['X-Sha', createHash('sha256').update(body).digest('hex')],
        ].flat(),
      )
      response.end(BODY)
    })
    proxy = await startStage({ v1: null, v2: v2.url })
  })

  beforeEach(() => {
    v2.seen.length = 0
  })

  const HOP = /^(connection|keep-alive|transfer-encoding|x-hop):/i
  const withoutHop = (answer: string) =>
    answer
      .split('\r\n')
      .filter((line) => !HOP.test(line))
      .join('\r\n')

  describe('a native request', () => {
    const bytes = (target: string) => `GET ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\nauthorization: Bearer t\r\n\r\n`

    it('gets v2’s answer byte for byte, except hop-by-hop headers', async () => {
      const direct = await rawExchange(v2.url, bytes('/iam/v2/groups'))
      const through = await rawExchange(proxy.url, bytes('/iam/v2/groups'))
      expect(withoutHop(through)).toBe(withoutHop(direct))
      expect(through).not.toContain('only here')
    })

    it.each(['/a/../b', '//twice', '/%2F%zz', '/a?b=c?d&e=%20+|', '/x/%2e%2e/iam/v1/groups'])('keeps its target %s', async (target) => {
      await rawExchange(proxy.url, bytes(target))
      expect(v2.seen[0]?.url).toBe(target)
    })

    it('keeps its headers and loses those of the connection', async () => {
      await rawExchange(
        proxy.url,
        'GET /x HTTP/1.1\r\nhost: x\r\nconnection: close, x-mine\r\nx-mine: 1\r\nx-kept: 2\r\nte: trailers\r\nproxy-authorization: secret\r\nx-request-id: 7\r\n\r\n',
      )
      const { host } = new URL(v2.url)
      expect(v2.seen[0]?.headers).toEqual({
        host,
        'x-kept': '2',
        'x-request-id': '7',
        'cdn-loop': expect.stringMatching(/^crosswalk-[\w-]{12}$/),
        connection: 'keep-alive',
        'x-forwarded-for': '127.0.0.1',
        'x-forwarded-proto': 'http',
        'x-forwarded-host': 'x',
      })
    })

    it('carries large bodies, with a length and in chunks', async () => {
      const body = 'y'.repeat(3_000_000)
      const sha = createHash('sha256').update(body).digest('hex')
      const stream = new Blob([body]).stream()
      const sized = await fetch(`${proxy.url}/upload`, { method: 'PUT', body })
      const chunked = await fetch(`${proxy.url}/upload`, { method: 'POST', body: stream, duplex: 'half' } as RequestInit)
      expect([sized.headers.get('x-sha'), chunked.headers.get('x-sha')]).toEqual([sha, sha])
    })

    it('reuses connections to v2', async () => {
      let connections = 0
      v2.server.on('connection', () => {
        connections += 1
      })
      for (let at = 0; at < 5; at += 1) await (await fetch(`${proxy.url}/again`)).arrayBuffer()
      expect(connections).toBeLessThanOrEqual(1)
    })

    it.each(['GET', 'POST'])('is broken off if v2 breaks a %s off, which is a failure of v2', async (method) => {
      const id = `cut-${method}`
      const answer = await fetch(`${proxy.url}/cut`, { method, headers: { 'x-request-id': id } })
      await expect(answer.text()).rejects.toThrow()
      const error = { code: 'UNAVAILABLE', message: 'the connection to the v2 service broke' }
      expect(await proxy.logged(({ reqId }) => reqId === id)).toMatchObject({ level: 50, status: 503, error })
    })

    it('is 502 if v2 switches protocols unasked', async () => {
      const sockets: net.Socket[] = []
      const odd = net.createServer((socket) => {
        sockets.push(socket)
        socket.once('data', () => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n'))
      })
      const other = await startStage({ v1: null, v2: (await listening(odd)).url })
      expect((await fetch(`${other.url}/iam/v2/groups`)).status).toBe(502)
      await other.close()
      expect(sockets.every(({ readableEnded, destroyed }) => readableEnded || destroyed)).toBe(true)
    })

    it('is cancelled and logged as 499 when its client goes away', async () => {
      const arrived = once(v2.server, 'request')
      const request = http.get(`${proxy.url}/hang`).on('error', () => {})
      const [{ socket }] = await arrived
      const closed = once(socket, 'close')
      request.destroy()
      await closed
      expect(await proxy.logged(({ path }) => path === '/hang')).toMatchObject({ status: 499, mode: 'native' })
    })

    it.each(['DELETE', 'OPTIONS'])('requires a length instead of chunks for a %s', async (method) => {
      const request = `${method} /x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`
      const answer = await rawExchange(proxy.url, request)
      expect(answer).toMatch(
        /^HTTP\/1\.1 411 .*"code":3,"message":"a DELETE or OPTIONS request with a body needs a content-length header"/s,
      )
      expect(v2.seen).toEqual([])
    })
  })

  describe('a native request with v2 down', () => {
    it('is 503 in the common form, and a WebSocket is refused', async () => {
      const alone = await startStage({ v1: null, v2: NOWHERE })
      const answer = await fetch(`${alone.url}/iam/v2/groups`)
      expect(answer.status).toBe(503)
      expect(await answer.json()).toEqual({ code: 14, message: 'the v2 service cannot be reached', details: [] })
      expect(await alone.logged(() => true)).toMatchObject({ status: 503, mode: 'native', error: { code: 'UNAVAILABLE' } })
      const socket = new WebSocket(`${alone.url.replace('http', 'ws')}/socket`)
      const refused = await new Promise<Error>((resolve) => socket.once('error', resolve))
      expect(refused.message).toContain('503')
    })

    it.each(['GET', 'POST'])('is 503 for a %s if v2 never finishes the TLS handshake', async (method) => {
      const { url } = await listening(net.createServer())
      const alone = await startStage({ v1: null, v2: url.replace('http', 'https'), proxy: { 'limits.deadlineMs': 200 } })
      const answer = await fetch(`${alone.url}/iam/v2/groups`, { method })
      const message = 'no connection to the v2 service became free within limits.deadlineMs (200)'
      expect([answer.status, await answer.json()]).toEqual([503, { code: 14, message, details: [] }])
    })
  })

  it('ignores an offer of h2c, even with a body in pieces', async () => {
    const { hostname, port } = new URL(proxy.url)
    const head =
      'POST /h2c HTTP/1.1\r\nhost: x\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\ncontent-length: 10\r\n\r\n'
    const socket = net.connect(Number(port), hostname, () => socket.write(`${head}hello`))
    v2.server.once('request', () => socket.write('world'))
    await new Promise((resolve) => socket.once('data', resolve))
    socket.destroy()
    expect(v2.seen[0]).toMatchObject({ method: 'POST', url: '/h2c', body: 'helloworld' })
    expect(v2.seen[0]?.headers).not.toHaveProperty('http2-settings')
  })
})

it.each([
  ['GET', '/iam/v2/events'],
  ['POST', '/iam/v2/events'],
  ['GET', '/iam/v1/unknown'],
])('%s %s has its head before the first piece of its body', async (method, path) => {
  let finish = () => {}
  const begin: Handler = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    finish = () => response.end('data: 1\n\n')
  }
  const stage = await startStage({ v1: begin, v2: begin })
  const answer = await fetch(stage.url + path, { method })
  finish()
  expect(await answer.text()).toBe('data: 1\n\n')
})

describe('carriers, v1', () => {
  /** Pieces of an answer: more than all buffers between v1 and a client hold. */
  const PIECES = 512
  const PIECE = Buffer.alloc(64 * 1024, 'x')
  let written = 0

  function* pieces(): Generator<Buffer> {
    for (written = 0; written < PIECES; written += 1) yield PIECE
  }

  let v1: Upstream
  let proxy: Stage<string, Handler>

  beforeAll(async () => {
    v1 = await startUpstream((request, response) => {
      if (request.url?.includes('hang')) return
      if (request.url?.includes('busy')) {
        response.writeHead(503, { 'retry-after': '1', 'content-type': 'text/plain' })
        return void response.end('busy')
      }
      if (request.url?.includes('cut')) {
        response.writeHead(200, { 'content-length': 100 })
        response.write('half')
        return void setImmediate(() => response.destroy())
      }
      if (request.url?.includes('odd')) {
        response.writeHead(999)
        return void response.write('it goes on')
      }
      if (request.url?.includes('large')) return void Readable.from(pieces()).pipe(response)
      response.writeHead(203, { 'content-type': 'text/html', 'x-v1': 'yes', 'x-request-id': 'of v1', connection: 'x-hop', 'x-hop': 'no' })
      response.end('<v1>')
    })
    proxy = await startStage({ v1: `${v1.url}/base/`, v2: answering({ groups: [] }) })
  })

  beforeEach(() => {
    v1.seen.length = 0
  })

  describe('a v1-only operation', () => {
    it('is answered by v1 with unchanged headers and bytes', async () => {
      const answer = await fetch(`${proxy.url}/registry/v1/vuln_reports?repo=a%2Fb&x=%20+`, { headers: { authorization: 'Bearer t' } })
      expect([answer.status, await answer.text()]).toEqual([203, '<v1>'])
      expect(Object.fromEntries(answer.headers)).toMatchObject({ 'content-type': 'text/html', 'x-v1': 'yes' })
      expect(answer.headers.has('x-hop')).toBe(false)
      expect(v1.seen[0]).toMatchObject({
        method: 'GET',
        url: '/base/registry/v1/vuln_reports?repo=a%2Fb&x=%20+',
        headers: { authorization: 'Bearer t', 'x-request-id': answer.headers.get('x-request-id'), host: new URL(v1.url).host },
      })
      const line = await proxy.logged(({ reqId }) => reqId === answer.headers.get('x-request-id'))
      expect(line).toMatchObject({ mode: 'v1', operation: 'registry.vuln_reports.list', calls: 0, status: 203 })
    })

    it('carries a body untouched, number for number', async () => {
      const body = '{"n":12345678901234567890,"f":1.0,"d":1,"d":2}'
      await fetch(`${proxy.url}/registry/v1/repos/a:addChart`, { method: 'POST', body, headers: { 'content-type': 'application/json' } })
      expect(v1.seen[0]).toMatchObject({ body, headers: { 'content-length': String(body.length), 'content-type': 'application/json' } })
    })

    it('carries a form on a GET route as the POST that it is', async () => {
      await fetch(`${proxy.url}/registry/v1/vuln_reports/counts`, { method: 'POST', body: new URLSearchParams({ repo: 'x' }) })
      expect(v1.seen[0]).toMatchObject({ method: 'POST', body: 'repo=x' })
    })

    it('arrives whole with chunks, an Expect and connection headers', async () => {
      const head = `POST /registry/v1/repos/a:addChart HTTP/1.1\r\nhost: x\r\nconnection: close, x-mine\r\nx-mine: 1\r\nkeep-alive: 1\r\nexpect: 100-continue\r\n`
      const answer = await rawExchange(proxy.url, `${head}transfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`)
      expect(answer).toContain('HTTP/1.1 203')
      expect(v1.seen[0]?.body).toBe('abc')
      for (const name of ['x-mine', 'keep-alive', 'expect']) expect(v1.seen[0]?.headers).not.toHaveProperty(name)
    })

    it('loses the body of a GET', async () => {
      const request = 'GET /registry/v1/vuln_reports HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 3\r\n\r\nabc'
      expect(await rawExchange(proxy.url, request)).toContain('HTTP/1.1 203')
      expect(v1.seen[0]).toMatchObject({ method: 'GET', body: '' })
    })
  })

  describe('a domain of v1 that v2 lacks', () => {
    it('is answered by v1, and the parts that v2 has by v2', async () => {
      await fetch(`${proxy.url}/argos/v1/osv/vulns/CVE-2026-1`)
      await fetch(`${proxy.url}/policies/v1/nothing-known`)
      await fetch(`${proxy.url}/sts/exchange`)
      expect(v1.seen.map(({ url }) => url)).toEqual(['/base/argos/v1/osv/vulns/CVE-2026-1', '/base/policies/v1/nothing-known'])
      expect(proxy.log.map(({ operation, mode }) => `${operation} ${mode}`).slice(-3)).toEqual([
        'argos.osv.get v1',
        'unknown v1',
        'native native',
      ])
    })

    it('needs a v1 service', async () => {
      const alone = await startStage({ v1: null, v2: proxy.v2.url })
      const answer = await fetch(`${alone.url}/auth/v1/ok`)
      const message =
        'auth.auth.validate needs a v1 service: v2 describes no tokens and removes no users; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on'
      expect([answer.status, await answer.json()]).toEqual([501, { code: 12, message, details: [] }])
    })
  })

  it('creates an identity of events at v1, and one of a group at v2', async () => {
    const body = '{ "subject": "s",  "issuer": "i" }'
    await fetch(`${proxy.url}/iam/v1/identities`, { method: 'POST', body })
    await fetch(`${proxy.url}/iam/v1/identities/`, { method: 'POST', body })
    expect(v1.seen.map(({ url, body }) => [url, body])).toEqual([
      ['/base/iam/v1/identities', body],
      ['/base/iam/v1/identities/', body],
    ])
    v1.seen.length = 0
    await fetch(`${proxy.url}/iam/v1/identities/${'0'.repeat(40)}`, { method: 'POST', body: '{"name":"x"}' })
    expect(v1.seen).toEqual([])
  })

  it('sends unknown paths and methods to v1 too', async () => {
    await fetch(`${proxy.url}/libraries/v1/nothing`)
    await fetch(`${proxy.url}/iam/v1/groups`, { method: 'OPTIONS' })
    expect(v1.seen.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /base/libraries/v1/nothing', 'OPTIONS /base/iam/v1/groups'])
  })

  it('passes a 503 of v1 on without a retry', async () => {
    const answer = await fetch(`${proxy.url}/registry/v1/vuln_reports?busy`)
    expect([answer.status, answer.headers.get('retry-after'), await answer.text()]).toEqual([503, '1', 'busy'])
    expect(v1.seen).toHaveLength(1)
  })

  it('breaks off an answer that v1 breaks off, which is a failure of v1', async () => {
    const answer = await fetch(`${proxy.url}/registry/v1/vuln_reports?cut`)
    await expect(answer.text()).rejects.toThrow()
    const line = await proxy.logged(({ reqId }) => reqId === answer.headers.get('x-request-id'))
    expect(line).toMatchObject({ level: 50, status: 503, error: { message: 'the connection to the v1 service broke' } })
  })

  it('answers 503 in v1’s form when v1 is down, 504 when it is silent', async () => {
    const down = await startStage({ v1: NOWHERE, v2: proxy.v2.url })
    const refused = await fetch(`${down.url}/registry/v1/vuln_reports`)
    expect([refused.status, await refused.json()]).toEqual([503, { code: 14, message: 'the v1 service cannot be reached', details: [] }])
    const silent = await startStage({ v1: v1.url, v2: proxy.v2.url, proxy: { 'limits.deadlineMs': 100 } })
    const late = await fetch(`${silent.url}/registry/v1/vuln_reports?hang`)
    expect([late.status, await late.json()]).toEqual([504, { code: 4, message: 'the v1 service did not answer in time', details: [] }])
  })

  it('answers 500 where no client can be given the answer, and breaks it off', async () => {
    const arrived = once(v1.server, 'request')
    const asked = fetch(`${proxy.url}/registry/v1/vuln_reports?odd`)
    const [{ socket }] = await arrived
    const closed = once(socket, 'close')
    const answer = await asked
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      { code: 13, message: 'the v1 service sent an answer that cannot be passed on' },
    ])
    await closed
  })

  it('reads from v1 at the pace of the client', async () => {
    const slow = await new Promise<http.IncomingMessage>((resolve) => http.get(`${proxy.url}/registry/v1/vuln_reports?large`, resolve))
    slow.pause()
    let before = -1
    await until(async () => {
      const isStill = written === before
      before = written
      return isStill
    }, 'v1 waits')
    expect(before).toBeLessThan(PIECES)
    let length = 0
    for await (const piece of slow) length += piece.length
    expect(length).toBe(PIECES * PIECE.length)
  })

  it('ends the call to v1 when the client goes away', async () => {
    const arrived = once(v1.server, 'request')
    const request = http.get(`${proxy.url}/registry/v1/vuln_reports?hang`).on('error', () => {})
    const [{ socket }] = await arrived
    const closed = once(socket, 'close')
    request.destroy()
    await closed
    expect(await proxy.logged(({ status }) => status === 499)).toMatchObject({ mode: 'v1' })
  })
})
