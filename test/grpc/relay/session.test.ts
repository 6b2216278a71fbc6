import dns from 'node:dns'
import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createGrpc, inV2 } from '../../../src/grpc/relay/relay.ts'
import { createSessions } from '../../../src/grpc/relay/session.ts'
import { detailsOf } from '../../../src/grpc/relay/unary.ts'
import { statusBytes } from '../../../src/grpc/wire/status.ts'
import type { OnGrpc } from '../../../src/serve/listen/http2.ts'
import { until } from '../../stage/clocks.ts'
import { startStage } from '../../stage/stage.ts'
import { closedLater, listening } from '../../stage/upstream.ts'
import { answerWith, callPath, connect, startBareService } from '../client.ts'

describe('renamed', () => {
  const TERMS = {
    code: 9,
    message: '5 % of the terms',
    details: [{ type: 'chainguard.platform.iam.v2.TermsNotAcceptedDetail', value: Buffer.from([1]) }],
  }
  const RESOURCE = { code: 5, message: 'gone', details: [{ type: 'google.rpc.ResourceInfo', value: Buffer.from([10, 0]) }] }

  /** Relays calls of v2beta1 to a service that knows them as v2 and refuses each with this status. Returns the trailers and the path. */
  async function refusedWith(status: typeof TERMS) {
    let path: string | undefined
    const trailers = {
      'grpc-status': String(status.code),
      'grpc-message': encodeURI(status.message),
      'grpc-status-details-bin': statusBytes(status).toString('base64'),
    }
    const bare = await startBareService((stream, headers) => {
      path = headers[':path']
      answerWith(stream, Buffer.alloc(0), trailers)
    })
    const grpc = createGrpc(bare.url, { service: 'v2', connections: 1, connectTimeoutMs: 3000, answerBytes: 1000 })
    const onStream: OnGrpc = (stream, headers, raw) =>
      grpc.relay(stream, headers, raw, () => {}, { renamed: inV2(headers[':path'] ?? ''), timed: { moved: 0 } })
    const server = http2.createServer()
    server.on('stream', (stream, headers, ...[, raw]: [number, string[]?]) => onStream(stream, headers, raw ?? []))
    const { url } = await listening(server)
    onTestFinished(grpc.close)
    const { status: end } = await callPath(connect(url), '/chainguard.platform.iam.v2beta1.GroupsService/Create').answer
    return {
      path,
      end,
      details: detailsOf(end.metadata.get('grpc-status-details-bin').map((value) => Buffer.from(value).toString('base64'))[0]),
    }
  }

  it('calls a method of v2beta1 by its name in v2, and gives the client its own names of details', async () => {
    const { path, end, details } = await refusedWith(TERMS)
    expect(path).toBe('/chainguard.platform.iam.v2.GroupsService/Create')
    expect(end).toMatchObject({ code: 9, details: '5 % of the terms' })
    expect(details).toEqual([{ type: 'chainguard.platform.iam.v2beta1.TermsNotAcceptedDetail', value: Buffer.from([1]) }])
  })

  it('leaves details of other packages as they came', async () => {
    expect((await refusedWith(RESOURCE)).details).toEqual(RESOURCE.details)
  })
})

describe('moving', () => {
  const AGE = 200
  const ADDRESSES = ['127.0.0.1', '127.0.0.2'] as const

  /** Where the name of the service leads now. */
  let place: string = ADDRESSES[0]

  /** Two services at one port, which say their address. */
  async function startTwins(create: (address: string) => Server): Promise<number> {
    let port = 0
    for (const address of ADDRESSES) {
      const server = create(address).listen(port, address)
      closedLater(async () => void server.close())
      await once(server, 'listening')
      port = (server.address() as AddressInfo).port
    }
    return port
  }

  /** Answers after a while, so that requests overlap with the end of a connection. */
  const answering = (address: string) =>
    http.createServer((_, response) => {
      setTimeout(() => response.setHeader('content-type', 'application/json').end('{"groups":[]}'), 5)
      seen.push(address)
    })

  const seen: string[] = []

  beforeAll(() => {
    const { lookup } = dns
    const moved = (name: string, options: dns.LookupOptions, done: (...found: unknown[]) => void) => {
      if (!name.endsWith('.test')) return lookup(name, options, done as never)
      return process.nextTick(() => (options.all ? done(null, [{ address: place, family: 4 }]) : done(null, place, 4)))
    }
    vi.spyOn(dns, 'lookup').mockImplementation(moved as never)
  })
  afterAll(() => void vi.restoreAllMocks())

  /** Every carrier of requests, the number of its connections, and what it asks. */
  const CARRIERS = [
    ['translated calls', 'GET /iam/v1/groups', 64, { v2: 'http://moving.test' }],
    ['translated calls on one connection', 'GET /iam/v1/groups', 1, { v2: 'http://moving.test' }],
    ['native reads', 'GET /iam/v2/groups', 64, { v2: 'http://moving.test' }],
    ['native writes', 'POST /iam/v2/groups', 64, { v2: 'http://moving.test' }],
    ['requests that v1 answers', 'GET /iam/v1/groups', 64, { v2: 'http://other.test', v1: 'http://moving.test' }],
  ] as const

  /** Starts both places of the service, and a proxy in front of it. */
  async function startMoving(connections: number, upstreams: { readonly v1?: string; readonly v2: string }) {
    place = ADDRESSES[0]
    seen.length = 0
    const port = await startTwins(answering)
    const at = (base: string | undefined) => (base === undefined ? null : `${base}:${port}`)
    return startStage({
      ...{ v1: at(upstreams.v1), v2: at(upstreams.v2), mode: upstreams.v1 ? 'v1' : 'v2' },
      proxy: { 'upstream.connections': connections, 'upstream.connectionAgeMs': AGE },
    })
  }

  describe('a service whose name moves to another address', () => {
    it.each(CARRIERS)('gets no request after the age, however long a connection rested: %s', async (_, asked, connections, upstreams) => {
      const proxy = await startMoving(connections, upstreams)
      const [method = '', path = ''] = asked.split(' ')
      const ask = async (nth: number) =>
        (await fetch(`${proxy.url}${path}?limit=${nth}`, { method, headers: { authorization: `Bearer ${nth}` } })).status
      const askAll = () => Promise.all(Array.from({ length: 8 }, (_, nth) => ask(nth + 1)))
      await askAll()
      place = ADDRESSES[1]
      // The time is what this is about.
      await delay(2 * AGE)
      const before = seen.length
      expect(new Set(await askAll())).toEqual(new Set([200]))
      expect([before, new Set(seen.slice(before))]).toEqual([8, new Set([ADDRESSES[1]])])
    })

    it.each(CARRIERS)('is followed under traffic without a lost request: %s', async (_, asked, connections, upstreams) => {
      const proxy = await startMoving(connections, upstreams)
      const [method = '', path = ''] = asked.split(' ')
      const statuses = new Set<number>()
      let isOver = false
      const ask = async () => {
        while (!isOver) statuses.add((await fetch(proxy.url + path, { method, headers: { authorization: 'Bearer someone' } })).status)
      }
      const clients = [ask(), ask(), ask()]
      await until(async () => seen.includes(ADDRESSES[0]))
      place = ADDRESSES[1]
      await until(async () => seen.length > 20 && seen.slice(-20).every((address) => address === ADDRESSES[1]), `${seen.slice(-20)}`)
      isOver = true
      await Promise.all(clients)
      expect({ statuses: [...statuses], failed: proxy.log.filter((line) => line['status'] !== 200 && 'status' in line) }).toEqual({
        statuses: [200],
        failed: [],
      })
    })

    it('is followed by streams of gRPC, and a stream that is open ends in its own time', async () => {
      place = ADDRESSES[0]
      const port = await startTwins((address) =>
        http2.createServer().on('stream', (stream, headers) => {
          stream.respond({ ':status': 200, at: address })
          if (headers[':path'] !== '/long') stream.end()
          else stream.on('data', () => stream.end('done'))
        }),
      )
      const settings = { service: 'v2', connections: 2, connectTimeoutMs: 3000, connectionAgeMs: AGE } as const
      const sessions = createSessions({ ...settings, origin: `http://moving.test:${port}` })
      const open = async (path: string, endAfterHeaders: boolean) => {
        const sent = await sessions.request({ ':method': 'POST', ':path': path }, { closed: false, endAfterHeaders })
        const [headers] = await once(sent?.stream as NodeJS.EventEmitter, 'response')
        return { stream: sent?.stream as http2.ClientHttp2Stream, address: headers.at }
      }
      const long = await open('/long', false)
      expect(long.address).toBe(ADDRESSES[0])
      place = ADDRESSES[1]
      await until(async () => (await open('/', true)).address === ADDRESSES[1])
      const pieces: Buffer[] = []
      long.stream.on('data', (piece) => pieces.push(piece))
      long.stream.end('x')
      await once(long.stream, 'close')
      expect([long.stream.rstCode, String(Buffer.concat(pieces))]).toEqual([0, 'done'])
      sessions.close()
    })
  })
})
