import { mkdtempSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import http, { type IncomingMessage } from 'node:http'
import http2, { type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import https from 'node:https'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { afterAll, describe, expect, it } from 'vitest'
import { readTls } from '../../../src/app/config/certificates.ts'
import type { Config } from '../../../src/app/config/settings.ts'
import { systemReason } from '../../../src/errors.ts'
import { type Dial, http2Options } from '../../../src/serve/upstream/dial.ts'
import { connect, unary } from '../../grpc/client.ts'
import { openAuthorities, replace, selfSigned } from '../../stage/authority.ts'
import { until } from '../../stage/clocks.ts'
import { NOWHERE, startStage, type TestProxy } from '../../stage/stage.ts'
import { listening, rawExchange } from '../../stage/upstream.ts'

describe('dial', () => {
  const authorities = openAuthorities()
  afterAll(authorities.close)

  const old = authorities.authority('old')
  const other = authorities.authority('other')

  /** A service of REST, WebSockets and gRPC that asks its clients for a certificate of `old`, unless it `isOpen`. */
  async function startSecure(isOpen = false) {
    const { key, cert } = old.issue('service').pem
    /** The names in the certificates of the clients, by protocol and path. */
    const peers: [asked: string, name: string | undefined][] = []
    const note = (asked: string, socket: TLSSocket) => peers.push([asked, socket.getPeerCertificate()?.subject?.CN])
    const server = http2.createSecureServer({ key, cert, ca: old.pem, requestCert: !isOpen, rejectUnauthorized: !isOpen, allowHTTP1: true })
    server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => answer(request, response, note))
    server.on('upgrade', (_: IncomingMessage, socket: TLSSocket) => {
      note('WebSocket', socket)
      socket.end('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n')
    })
    return { port: (await listening(server)).port, peers, server }
  }

  function answer(request: Http2ServerRequest, response: Http2ServerResponse, note: (asked: string, socket: TLSSocket) => void): void {
    const isGrpc = request.headers['content-type']?.startsWith('application/grpc')
    note(isGrpc ? 'gRPC' : request.url, (isGrpc ? request.stream.session?.socket : request.socket) as TLSSocket)
    if (isGrpc) {
      response.writeHead(200, { 'content-type': 'application/grpc' })
      response.addTrailers({ 'grpc-status': '0' })
      response.end(Buffer.from([0, 0, 0, 0, 2, 0x68, 0x69]))
    } else {
      response.setHeader('content-type', 'application/json')
      response.end('{"groups":[],"items":[]}')
    }
  }

  async function askAll({ url }: Pick<TestProxy, 'url'>): Promise<Readonly<Record<string, unknown>>> {
    const headers = { authorization: 'Bearer someone' }
    const statusOf = async (path: string) => (await fetch(url + path, { headers })).status
    const client = connect(url)
    const grpc = await unary(client, 'Unary', 'hello').answer
    return {
      translated: await statusOf('/iam/v1/groups'),
      native: await statusOf('/iam/v2/groups'),
      v1: await statusOf('/registry/v1/vuln_reports'),
      webSocket: await switched(url),
      grpc: grpc.messages.map(String).join() || grpc.status.code,
    }
  }

  const HANDSHAKE =
    'host: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'
  const switched = async (url: string) => Number((await rawExchange(url, `GET /stream HTTP/1.1\r\n${HANDSHAKE}`)).slice(9, 12))

  const WELL = { translated: 200, native: 200, v1: 200, webSocket: 101, grpc: 'hi' }
  const FAILED = { translated: 503, native: 503, v1: 503, webSocket: 503, grpc: 14 }

  const startFor = (v2: string, proxy: Partial<Config> = {}, v1: string | null = v2) => startStage({ v1, v2, proxy })

  describe('a service that asks for a certificate', () => {
    const { key, cert } = old.issue('crosswalk')
    const files = { 'upstream.v2Key': key, 'upstream.v2Cert': cert, 'upstream.v1Key': key, 'upstream.v1Cert': cert }
    const trust = { 'upstream.v2Ca': old.ca, 'upstream.v1Ca': old.ca }

    it('gets ours by every carrier, and is trusted by its authority alone', async () => {
      const { port, peers } = await startSecure()
      const proxy = await startFor(`https://127.0.0.1:${port}`, { ...files, ...trust })
      expect(await askAll(proxy)).toEqual(WELL)
      const asked = ['/iam/v2/groups', '/registry/v1/vuln_reports', 'WebSocket', 'gRPC']
      expect(asked.filter((one) => !peers.some(([what, name]) => what === one && name === 'crosswalk'))).toEqual([])
      expect(new Set(peers.map(([, name]) => name))).toEqual(new Set(['crosswalk']))
    })

    it.each([
      ['without our certificate', trust],
      ['with another authority', { ...files, 'upstream.v2Ca': other.ca, 'upstream.v1Ca': other.ca }],
    ])('is reached by no carrier %s', async (_, given) => {
      const { port, peers } = await startSecure()
      expect(await askAll(await startFor(`https://127.0.0.1:${port}`, given))).toEqual(FAILED)
      expect(peers).toEqual([])
    })

    it('and both sides change authority and certificate under traffic: no request is lost', async () => {
      const { port, peers, server } = await startSecure()
      const mine = old.issue('before')
      const trusted = `${authorities.folder}/trusted.crt`
      const put = async (path: string, text: string) => {
        await writeFile(`${path}.new`, text)
        replace(path, `${path}.new`)
      }
      await put(trusted, old.pem)
      const given = { 'upstream.v2Key': mine.key, 'upstream.v2Cert': mine.cert, 'upstream.v2Ca': trusted }
      const own = { 'upstream.v1Key': mine.key, 'upstream.v1Cert': mine.cert, 'upstream.v1Ca': trusted, 'upstream.connectionAgeMs': 50 }
      const proxy = await startFor(`https://127.0.0.1:${port}`, { ...given, ...own })
      const statuses = new Map<string, number>()
      let isOver = false
      const ask = async () => {
        while (!isOver) {
          for (const [what, came] of Object.entries(await askAll(proxy))) {
            statuses.set(`${what} ${came}`, (statuses.get(`${what} ${came}`) ?? 0) + 1)
          }
        }
      }
      const clients = [ask(), ask()]
      await until(async () => peers.length > 20)
      // As certificates are rolled: first both authorities are trusted, then the certificates change, then the old authority goes.
      const after = other.issue('after')
      const service = other.issue('service2')
      await put(trusted, old.pem + other.pem)
      proxy.certify()
      server.setSecureContext({ ...old.issue('service1').pem, ca: [old.pem, other.pem] })
      await put(mine.key, after.pem.key)
      await put(mine.cert, after.pem.cert)
      proxy.certify()
      await until(async () =>
        ['WebSocket', 'gRPC', '/iam/v2/groups'].every((asked) => peers.some(([what, name]) => what === asked && name === 'after')),
      )
      server.setSecureContext({ ...service.pem, ca: other.pem })
      await put(trusted, other.pem)
      proxy.certify()
      const seen = peers.length
      await until(async () => peers.length > seen + 40)
      isOver = true
      await Promise.all(clients)
      expect([...statuses.keys()].sort()).toEqual(
        Object.entries(WELL)
          .map(([what, came]) => `${what} ${came}`)
          .sort(),
      )
      expect(new Set(peers.slice(-20).map(([, name]) => name))).toEqual(new Set(['after']))
    })
  })

  /** An HTTP proxy for CONNECT. It knows where the names of `.test` are. */
  async function startConnectProxy(refused?: number) {
    const asked: [path: string | undefined, credentials: string | undefined][] = []
    const server = http.createServer((_, response) => response.writeHead(500).end())
    server.on('connect', (request, socket) => {
      asked.push([request.url, request.headers['proxy-authorization']])
      socket.on('error', () => {})
      if (refused !== undefined) return void socket.end(`HTTP/1.1 ${refused} No\r\n\r\n`)
      const onward = net.connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connected\r\n\r\n')
        onward.pipe(socket).pipe(onward)
      })
      onward.on('error', () => socket.destroy())
      socket.on('close', () => onward.destroy())
    })
    return { asked, host: `127.0.0.1:${(await listening(server)).port}` }
  }

  describe('upstream.proxy', () => {
    it('is between Crosswalk and both services, by every carrier over TLS, with its own credentials', async () => {
      const { port, peers } = await startSecure()
      const { asked, host } = await startConnectProxy()
      const { key, cert } = old.issue('tunnelled')
      const identity = { 'upstream.v2Key': key, 'upstream.v2Cert': cert, 'upstream.v2Ca': old.ca }
      const v1 = { 'upstream.v1Key': key, 'upstream.v1Cert': cert, 'upstream.v1Ca': old.ca }
      const through = `http://me:s3c%3Aret@${host}`
      const proxy = await startFor(`https://v2.test:${port}`, { ...identity, ...v1, 'upstream.proxy': through })
      expect(await askAll(proxy)).toEqual(WELL)
      expect(new Set(peers.map(([, name]) => name))).toEqual(new Set(['tunnelled']))
      expect(new Set(asked.map(String))).toEqual(new Set([`v2.test:${port},Basic ${Buffer.from('me:s3c:ret').toString('base64')}`]))
      // Translated and native calls, the WebSocket and gRPC have connections of their own.
      expect(asked.length).toBeGreaterThanOrEqual(4)
    })

    it.each(['through it', 'directly'])('lets a native request wait for its answer once it has a connection over TLS, %s', async (how) => {
      const { key, cert } = old.issue('slow').pem
      const { url } = await listening(https.createServer({ key, cert }, (_, response) => void setTimeout(() => response.end(), 600)))
      const through = how === 'directly' ? {} : { 'upstream.proxy': `http://${(await startConnectProxy()).host}` }
      const limits = { 'upstream.v2Ca': old.ca, 'limits.deadlineMs': 300 }
      const proxy = await startFor(url, { ...limits, ...through }, null)
      for (const _ of ['a new connection', 'the same again']) {
        expect((await fetch(`${proxy.url}/iam/v2/groups`, { method: 'POST' })).status).toBe(200)
      }
    })

    it('carries plain text too', async () => {
      const rest = http.createServer((_, response) => response.setHeader('content-type', 'application/json').end('{"groups":[]}'))
      const grpc = http2.createServer((request, response) => answer(request, response, () => {}))
      const { asked, host } = await startConnectProxy()
      const at = async (server: net.Server) => `http://v2.test:${(await listening(server)).port}`
      const first = await startFor(await at(rest), { 'upstream.proxy': `http://${host}` }, null)
      const statuses = ['/iam/v1/groups', '/iam/v2/groups'].map(async (path) => (await fetch(first.url + path)).status)
      expect(await Promise.all(statuses)).toEqual([200, 200])
      const second = await startFor(await at(grpc), { 'upstream.proxy': `http://${host}` }, null)
      const client = connect(second.url)
      expect((await unary(client, 'Unary', 'hello').answer).messages.map(String)).toEqual(['hi'])
      expect(asked.length).toBeGreaterThanOrEqual(3)
    })

    it.each([
      ['a service on this machine', '127.0.0.1', undefined],
      ['a name of upstream.noProxy', 'localhost.', 'localhost.'],
      ['a name below one', 'v2.localhost', '.localhost'],
    ])('is not asked for %s', async (_, name, noProxy) => {
      const { port } = await startSecure(true)
      const { asked, host } = await startConnectProxy()
      const given = { 'upstream.proxy': `http://${host}`, 'upstream.noProxy': noProxy }
      await askAll(await startFor(`https://${name}:${port}`, given))
      expect(asked).toEqual([])
    })

    it('sends no faster than a carrier reads what comes', async () => {
      const tunnel = new PassThrough()
      const dial = { tunnel: () => Promise.resolve(tunnel), identityOf: () => ({}) } as unknown as Dial
      const options = http2Options(dial, 'http://v2.test')
      if (!('createConnection' in options)) throw new Error('no tunnel')
      const connection = options.createConnection()
      const most = connection.readableHighWaterMark
      const piece = Buffer.alloc(1024, 'x')
      for (let bytes = 0; bytes < 2 * most; bytes += piece.length) tunnel.write(piece)
      tunnel.end()
      connection.read(0)
      for (let turn = 0; turn < 100; turn += 1) await setImmediate()
      expect(connection.readableLength).toBe(most)
      let received = 0
      for await (const piece of connection) received += piece.length
      expect(received).toBe(2 * most)
    })

    it('that refuses is an unreachable service, and readyz says what it answered', async () => {
      const { host } = await startConnectProxy(407)
      const proxy = await startFor('https://v2.test:1', { 'upstream.proxy': `http://${host}` })
      expect(await askAll(proxy)).toEqual(FAILED)
      const ready = await (await fetch(`${proxy.adminUrl}/readyz`)).text()
      expect(ready).toContain('upstream.proxy answers HTTP 407 to a connection to v2.test:1')
    })
  })
})

describe('says in words what is wrong with TLS:', () => {
  const readiness = async ({ 'upstream.v2': v2, ...settings }: Partial<Config>) => {
    const proxy = await startStage({ v1: null, v2: v2 ?? NOWHERE, proxy: settings })
    return ((await (await fetch(`${proxy.adminUrl}/readyz`)).json()) as { readonly message: string }).message
  }

  it('plain text behind https://', async () => {
    const plain = http.createServer((_, response) => response.end('{}'))
    const address = (await listening(plain)).url.replace('http', 'https')
    const said = 'it speaks plain text there: give the address as http://, or another port'
    expect(await readiness({ 'upstream.v2': address })).toBe(`the v2 service does not answer its ping: ${said}`)
    // A write of Node fails without a code of OpenSSL.
    const failed = await new Promise<Error>((resolve) => https.get(address).on('error', resolve))
    expect(systemReason(failed)).toBe(said)
  })

  it('a certificate that nobody vouches for', async () => {
    const { url } = await listening(https.createServer(selfSigned))
    expect(await readiness({ 'upstream.v2': url })).toMatch(/: self-signed certificate; name its authority in .*upstream\.v2Ca/)
  })

  it('files that are no key and certificate', () => {
    const nonsense = join(mkdtempSync(join(tmpdir(), 'crosswalk-tls-')), 'nonsense.pem')
    writeFileSync(nonsense, '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')
    const read = () => readTls({ 'tls.key': nonsense, 'tls.cert': nonsense } as unknown as Parameters<typeof readTls>[0])
    expect(read).toThrow('are not a key and its certificate in PEM: one of them is not in PEM, or is damaged')
  })
})
