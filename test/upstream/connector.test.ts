import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setImmediate as turn } from 'node:timers/promises'
import { Agent } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { createConnector } from '../../src/upstream/connector.ts'
import { selfSigned } from './self-signed.ts'

const closing: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const PROTOCOLS = {
  http: (handle: RequestListener) => http.createServer(handle),
  https: (handle: RequestListener) => https.createServer(selfSigned, handle),
}

/** A server, and one connection to it. */
async function setUp(protocol: keyof typeof PROTOCOLS, handle: RequestListener) {
  const server = PROTOCOLS[protocol](handle)
  const connections: Socket[] = []
  server.on(protocol === 'http' ? 'connection' : 'secureConnection', (socket: Socket) => connections.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const pool = new Agent({ connections: 1, connect: createConnector({ timeout: 1000, ca: selfSigned.cert }) })
  closing.push(
    () => pool.destroy(),
    () => new Promise((resolve) => server.close(resolve)),
  )
  const origin = `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = async (path: string) => (await pool.request({ origin, path, method: 'GET' })).body
  return { connections, ask }
}

/** Bytes that differ from place to place, and from one answer to the next. */
function bytes(length: number, seed: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, at) => (at * 31 + (at >> 8) + seed * 7) % 251))
}

/** A number, once it has not changed for a hundred turns of the event loop. */
async function settled(of: () => number): Promise<number> {
  let last = of()
  for (let same = 0; same < 100; same += 1) {
    await turn()
    if (of() !== last) same = 0
    last = of()
  }
  return last
}

const LENGTHS = [0, 1, 350, 4096, 4097, 70_000, 350, 200_000, 12]

describe.each(['http', 'https'] as const)('answers over %s', (protocol) => {
  it('are whole, and stay as they are when later ones arrive on the same connection', async () => {
    const { connections, ask } = await setUp(protocol, ({ url = '' }, response) => {
      const [length = 0, seed = 0] = url.slice(1).split('-').map(Number)
      response.end(bytes(length, seed))
    })
    const got: Buffer[][] = []
    for (const [seed, length] of LENGTHS.entries()) got.push(await (await ask(`/${length}-${seed}`)).toArray())
    const whole = got.map((pieces, seed) => Buffer.concat(pieces).equals(bytes(LENGTHS[seed] ?? 0, seed)))
    expect(whole).toEqual(LENGTHS.map(() => true))
    expect(connections).toHaveLength(1)
  })

  it('that end with their connection are whole', async () => {
    const { ask } = await setUp(protocol, (_, response) => {
      response.useChunkedEncodingByDefault = false
      response.writeHead(200, { connection: 'close' }).end(bytes(100_000, 1))
    })
    expect((await buffer(await ask('/'))).equals(bytes(100_000, 1))).toBe(true)
  })

  it('wait on the other side while nobody reads them, and are whole in the end', async () => {
    const whole = bytes(20_000_000, 3)
    const { connections, ask } = await setUp(protocol, (_, response) => void response.end(whole))
    const body = await ask('/')
    await once(body, 'readable')
    const held = await settled(() => connections[0]?.writableLength ?? 0)
    const got = await buffer(body)
    expect(held).toBeGreaterThan(0)
    expect(got.equals(whole)).toBe(true)
  })
})

it('a broken connection is an error', async () => {
  const { ask } = await setUp('http', (request, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('x'.repeat(400), () => request.socket.destroy())
  })
  await expect(buffer(await ask('/'))).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
})
