import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import { describe, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import type { Config } from '../../../src/app/config/settings.ts'
import { addressIn, createTrust, elementText, parseForwarded, peerOf, vouchedHops } from '../../../src/serve/http/forwarded.ts'
import { startBareService } from '../../grpc/client.ts'
import { processorMs } from '../../stage/clocks.ts'
import { startStage } from '../../stage/stage.ts'
import { answering, type Handler, type Upstream } from '../../stage/upstream.ts'

describe('forwarded chain', () => {
  const isTrusted = createTrust(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32'])

  describe('trust', () => {
    it.each(['10.1.2.3', '192.0.2.7', '2001:db8::1', '2001:db8:ffff::1'])('is given to %s', (address) =>
      expect(isTrusted(address)).toBe(true),
    )

    it.each(['11.0.0.1', '192.0.2.8', '2001:db9::1', 'unknown', '', '10.0.0.1, 10.0.0.2', '010.1.2.3'])('is refused to %j', (address) =>
      expect(isTrusted(address)).toBe(false),
    )

    it('is given to no address by default', () => expect(createTrust([])('127.0.0.1')).toBe(false))
  })

  describe('hops', () => {
    it.each([
      ['a client that an untrusted peer claims is not believed', '203.0.113.9', ['198.51.100.1'], ['203.0.113.9']],
      ['a trusted peer names the client', '10.0.0.1', ['198.51.100.1'], ['198.51.100.1', '10.0.0.1']],
      ['what the client claims about itself is left out', '10.0.0.1', ['1.1.1.1', '198.51.100.1'], ['198.51.100.1', '10.0.0.1']],
      ['several trusted proxies', '10.0.0.1', ['1.1.1.1', '198.51.100.1', '2001:db8::2'], ['198.51.100.1', '2001:db8::2', '10.0.0.1']],
      ['trusted all the way', '10.0.0.1', ['10.0.0.3', '10.0.0.2'], ['10.0.0.3', '10.0.0.2', '10.0.0.1']],
      ['a name ends it', '10.0.0.1', ['198.51.100.1', 'unknown'], ['10.0.0.1']],
      ['an obfuscated name ends it', '10.0.0.1', ['_hidden', '10.0.0.2'], ['10.0.0.2', '10.0.0.1']],
      ['nothing claimed', '10.0.0.1', [], ['10.0.0.1']],
      ['ports are taken off', '10.0.0.1', ['198.51.100.1:4711'], ['198.51.100.1', '10.0.0.1']],
      ['an address hidden in IPv6', '10.0.0.1', ['198.51.100.1', '::ffff:10.9.9.9'], ['198.51.100.1', '10.9.9.9', '10.0.0.1']],
    ])('%s', (_, peer, claimed, hops) => expect(vouchedHops(peer, claimed, isTrusted)).toEqual(hops))

    it.each([
      ['::ffff:127.0.0.1', '127.0.0.1'],
      ['fe80::1%eth0', 'fe80::1'],
      ['::1', '::1'],
      [undefined, 'unknown'],
    ])('normalise the peer %j to %s', (address, peer) => expect(peerOf(address)).toBe(peer))

    it.each([
      ['[2001:db8::1]:80', '2001:db8::1'],
      ['[2001:db8::1]', '2001:db8::1'],
      ['2001:db8::1', '2001:db8::1'],
      ['192.0.2.1:80', '192.0.2.1'],
      ['192.0.2.1:x', undefined],
      ['[192.0.2.1', undefined],
      ['192.0.2.256', undefined],
      ['localhost', undefined],
      ['', undefined],
    ])('read the node %j as %s', (node, address) => expect(addressIn(node)).toBe(address))
  })

  describe('Forwarded', () => {
    const parsed = (text: string) => parseForwarded(text).map((element) => Object.fromEntries(element))

    it.each([
      ['for=192.0.2.43', [{ for: '192.0.2.43' }]],
      [
        'For="[2001:db8::17]:4711";proto=HTTPS;host="a.example:8000", for=10.0.0.1;by=x',
        [
          { for: '[2001:db8::17]:4711', proto: 'HTTPS', host: 'a.example:8000' },
          { for: '10.0.0.1', by: 'x' },
        ],
      ],
      ['for="a, for=1.1.1.1"', [{ for: 'a, for=1.1.1.1' }]],
      ['for="a\\"b"', [{ for: 'a"b' }]],
      ['', []],
      ['for=1.1.1.1,', [{ for: '1.1.1.1' }]],
      [', for=1.1.1.1, ,, for=2.2.2.2 , ', [{ for: '1.1.1.1' }, { for: '2.2.2.2' }]],
    ])('%s', (text, elements) => expect(parsed(text)).toEqual(elements))

    it.each(['for', 'for=a b', 'for="a', '=x', 'for=1.1.1.1;,', 'for=1.1.1.1, x y'])('is discarded whole if malformed: %j', (text) =>
      expect(parsed(text)).toEqual([]),
    )

    it('is written so that it can be read again', () => {
      const element = { for: '[::1]', host: 'a"b\\c,d;e', proto: 'https' }
      expect(elementText(element)).toBe('for="[::1]";host="a\\"b\\\\c,d;e";proto=https')
      expect(parsed(elementText(element))).toEqual([element])
    })

    it('is read in linear time', () => {
      expect(processorMs(() => parsed(`for="${'\\a'.repeat(30_000)}`))).toBeLessThan(500)
      expect(processorMs(() => parsed(', '.repeat(30_000)))).toBeLessThan(500)
      expect(processorMs(() => parsed('a=b;'.repeat(15_000)))).toBeLessThan(500)
    })
  })
})

describe('forwarded', () => {
  const SPOOFED = {
    host: 'api.example.com:8443',
    'x-forwarded-for': '1.1.1.1, 198.51.100.4',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'v1.example.com',
    'x-forwarded-port': '443',
    'x-forwarded-client-cert': 'Subject="CN=admin"',
    'x-real-ip': '1.1.1.1',
    forwarded: 'for=2.2.2.2, for=198.51.100.9;proto=https;host=v1.example.com',
  }

  const both: Handler = answering({ groups: [] })
  const start = (proxy: Partial<Config>) => startStage({ v1: both, v2: both, proxy })

  /** Returns the forwarding headers at the upstream, and the client in the log. */
  async function told(path: string, values: Partial<Config>, headers: Record<string, string> = SPOOFED) {
    const { url, logged, v2 } = await start(values)
    await new Promise<void>((resolve, reject) => {
      http
        .get(url + path, { headers: { connection: 'close', ...headers } }, (answer) => answer.resume().once('end', resolve))
        .once('error', reject)
    })
    const seen = v2.seen[0]?.headers ?? {}
    const { client } = await logged(({ method }) => method === 'GET')
    return { client, headers: forwarding(seen) }
  }

  const forwarding = (headers: http.IncomingHttpHeaders) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => /^(forwarded|x-forwarded-.*|x-real-ip)$/.test(name)))

  const CARRIERS = [
    ['native', '/uploads/x'],
    ['v1', '/registry/v1/vuln_reports'],
  ] as const

  describe.each(CARRIERS)('a request carried to %s', (_, path) => {
    const OURS = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http', 'x-forwarded-host': 'api.example.com:8443' }

    it.each<[what: string, proxy: Partial<Config>, client: string, headers: object]>([
      ['our peer, whatever it claimed', {}, '127.0.0.1', OURS],
      ['our peer if another is trusted', { 'forwarded.trusted': '10.0.0.0/8' }, '127.0.0.1', OURS],
      [
        'the client that a trusted proxy names',
        { 'forwarded.trusted': '10.0.0.0/8,127.0.0.1' },
        '198.51.100.4',
        { 'x-forwarded-for': '198.51.100.4, 127.0.0.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'v1.example.com' },
      ],
      [
        'it by RFC 7239 if the trusted proxy does',
        { 'forwarded.trusted': '127.0.0.1', 'forwarded.header': 'forwarded' },
        '198.51.100.9',
        { forwarded: 'for=198.51.100.9;host=v1.example.com;proto=https, for=127.0.0.1' },
      ],
    ])('names %s', async (_, values, client, headers) => {
      expect(await told(path, values)).toEqual({ client, headers })
    })

    it.each(['203.0.113.7,', '203.0.113.7, , 127.0.0.1', ', 203.0.113.7'])('passes over empty elements of a list: %j', async (list) => {
      const headers = { host: 'x', 'x-forwarded-for': list, 'x-forwarded-proto': 'https,' }
      const seen = await told(path, { 'forwarded.trusted': '127.0.0.1' }, headers)
      expect(seen).toMatchObject({ client: '203.0.113.7', headers: { 'x-forwarded-proto': 'https' } })
    })

    it('believes the scheme of a trusted proxy that names no address', async () => {
      const seen = await told(path, { 'forwarded.trusted': '127.0.0.1' }, { host: 'x', 'x-forwarded-proto': 'https' })
      expect(seen).toMatchObject({ client: '127.0.0.1', headers: { 'x-forwarded-proto': 'https' } })
    })
  })

  describe('a call of gRPC', () => {
    const PING_V2 = '/chainguard.platform.ping.v2.PingService/Ping'
    const ROLES = '/chainguard.platform.iam.Roles/List'
    const { host: _, ...CLAIMED } = SPOOFED
    const REST = { 'upstream.v2Grpc': 'rest', 'upstream.v1Grpc': 'rest' } as const

    const v2 = answering({ roles: [] })
    const startBoth = (mode: 'v1' | 'v2', proxy: Partial<Config> = {}) =>
      startStage({ v1: answering({ items: [] }), v2, mode, proxy: { ...REST, ...proxy } })

    /** Returns the clients that v1 and v2 were told for a call of gRPC and one of Connect. */
    async function toldOf(
      path: string,
      stage: Promise<{ readonly url: string; readonly v1?: Partial<Upstream>; readonly v2: Partial<Upstream> }>,
    ) {
      const { url, v1, v2 } = await stage
      const session = http2.connect(url)
      const grpc = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...CLAIMED }
      await once(session.request(grpc).end(Buffer.alloc(5)).resume(), 'close')
      session.close()
      await (await fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json', ...CLAIMED }, body: '{}' })).text()
      return [v1, v2].map((side) => side?.seen?.map(({ headers }) => forwarding(headers)['x-forwarded-for']))
    }

    it('names our peer to the service that gets it, unless that is trusted', async () => {
      expect(await toldOf(PING_V2, startBoth('v2'))).toEqual([[], ['127.0.0.1', '127.0.0.1']])
      expect(await toldOf(ROLES, startBoth('v1'))).toEqual([['127.0.0.1', '127.0.0.1'], []])
      const [trusted, named] = [{ 'forwarded.trusted': '127.0.0.1' }, '198.51.100.4, 127.0.0.1']
      expect(await toldOf(PING_V2, startBoth('v2', trusted))).toEqual([[], [named, named]])
      expect(await toldOf(ROLES, startBoth('v1', trusted))).toEqual([[named, named], []])
    })

    it('tells v2 nothing about the client where it is translated', async () => {
      expect(await toldOf(ROLES, startBoth('v2'))).toEqual([[], [undefined, undefined]])
      const alone = startStage({ v1: null, v2, proxy: { 'upstream.v2Grpc': 'rest' } })
      expect(await toldOf(ROLES, alone)).toEqual([undefined, [undefined, undefined]])
    })

    it('names our peer where it is relayed', async () => {
      const seen: http.IncomingHttpHeaders[] = []
      const service = await startBareService((stream, headers) => {
        seen.push(headers)
        stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '0' }, { endStream: true })
      })
      const { url } = await startStage({ v1: null, v2: service.url })
      const session = http2.connect(url)
      for (const path of [PING_V2, '/test.Echo/Unary']) {
        const call = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers', ...CLAIMED }
        await once(session.request(call).end(Buffer.alloc(5)).resume(), 'close')
      }
      session.close()
      const calls = seen.filter(({ 'user-agent': agent }) => agent !== 'crosswalk')
      expect(calls.map((headers) => forwarding(headers)['x-forwarded-for'])).toEqual(['127.0.0.1', '127.0.0.1'])
    })
  })

  it('logs the client of a translated request and tells v2 nothing about it', async () => {
    expect(await told('/iam/v1/groups', { 'forwarded.trusted': '127.0.0.1' })).toEqual({ client: '198.51.100.4', headers: {} })
  })

  it.each([
    ['a scheme', { 'x-forwarded-proto': 'javascript' }],
    ['a host', { 'x-forwarded-host': 'a b"><' }],
    ['nothing', {}],
  ])('replaces an invalid %s with ours', async (_, wrong) => {
    const headers = { host: 'x', 'x-forwarded-for': '198.51.100.4', ...wrong }
    expect((await told('/x', { 'forwarded.trusted': '127.0.0.1' }, headers)).headers).toEqual({
      'x-forwarded-for': '198.51.100.4, 127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'x',
    })
  })

  it('keeps a client from adding a scheme before that of its proxy', async () => {
    const headers = { host: 'x', 'x-forwarded-for': '1.1.1.1, 198.51.100.4', 'x-forwarded-proto': 'http, https' }
    expect((await told('/x', { 'forwarded.trusted': '127.0.0.1' }, headers)).headers).toMatchObject({ 'x-forwarded-proto': 'https' })
  })

  it('names the client of a WebSocket too', async () => {
    const { url, v2 } = await start({ 'forwarded.trusted': undefined })
    const sockets = new WebSocketServer({ server: v2.server })
    const told = new Promise<http.IncomingHttpHeaders>((resolve) => sockets.once('connection', (_, { headers }) => resolve(headers)))
    const socket = new WebSocket(`${url.replace('http', 'ws')}/events`, { headers: SPOOFED })
    expect(forwarding(await told)).toEqual({
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'api.example.com:8443',
    })
    socket.on('error', () => {})
    socket.terminate()
    sockets.close()
  })
})
