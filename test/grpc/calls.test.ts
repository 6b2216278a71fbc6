import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type Client, Metadata, status } from '@grpc/grpc-js'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { both, connect, down, read, unary, up } from './client.ts'
import { type Echo, startEcho } from './echo.ts'

const KEY = 'test/certificates/localhost.key'
const CERT = 'test/certificates/localhost.crt'
const MEBIBYTE = 2 ** 20

/** The same calls directly to the server and through the proxy: no difference may be visible. */
describe.each(['direct', 'through h2c', 'through TLS'])('%s', (way) => {
  let echo: Echo
  let proxy: TestProxy | undefined
  let client: Client

  beforeAll(async () => {
    echo = await startEcho()
    if (way === 'direct') {
      client = connect(`http://${echo.address}`)
      return
    }
    const tls = way === 'through TLS' ? { 'tls.key': KEY, 'tls.cert': CERT } : {}
    proxy = await startProxy({ 'upstream.v2': `http://${echo.address}`, ...tls })
    client = connect(proxy.url, way === 'through TLS' ? readFileSync(CERT, 'utf8') : undefined)
  })

  afterAll(async () => {
    client.close()
    await proxy?.close()
    echo.kill()
  })

  beforeEach(() => echo.events.removeAllListeners())

  it('returns the message of a unary call', async () => {
    const { messages, status: end } = await unary(client, 'Unary', 'hello').answer
    expect(messages.map(String)).toEqual(['hello'])
    // A call that is passed on is no traffic of v1, whoever makes it.
    if (proxy) expect(await (await fetch(`${proxy.adminUrl}/clients`)).json()).toEqual([])
    expect(end.code).toBe(status.OK)
  })

  it('carries empty and large messages', async () => {
    const large = Buffer.alloc(8 * MEBIBYTE, 'x')
    expect((await unary(client, 'Unary').answer).messages).toEqual([Buffer.alloc(0)])
    expect((await unary(client, 'Unary', large).answer).messages[0]?.equals(large)).toBe(true)
  })

  it('carries metadata both ways: texts, bytes, and several of one name', async () => {
    const metadata = new Metadata()
    metadata.set('x-text', 'a, b; c="d"')
    metadata.add('x-many', '1')
    metadata.add('x-many', '2')
    metadata.set('x-one-bin', Buffer.from([0, 255, 13, 10]))
    metadata.add('x-two-bin', Buffer.from([1]))
    metadata.add('x-two-bin', Buffer.from([2, 3]))
    const { initial, status: end } = await unary(client, 'Unary', '', { metadata }).answer
    for (const brought of [initial, end.metadata]) {
      expect(brought?.get('x-text')).toEqual(['a, b; c="d"'])
      expect(brought?.get('x-many').join(', ')).toBe('1, 2')
      expect(brought?.get('x-one-bin')).toEqual([Buffer.from([0, 255, 13, 10])])
      expect(brought?.get('x-two-bin')).toEqual([Buffer.from([1]), Buffer.from([2, 3])])
    }
  })

  it('answers an error with trailers only, with its text and details', async () => {
    const { messages, initial, status: end } = await unary(client, 'Refuse').answer
    expect(messages).toEqual([])
    expect(end).toMatchObject({ code: status.NOT_FOUND, details: 'Straße nicht gefunden: 100 %' })
    expect(end.metadata.get('grpc-status-details-bin')).toEqual([Buffer.from([8, 5, 0, 255])])
    expect(initial?.get('x-text') ?? []).toEqual([])
  })

  it('answers an unknown method with the service’s UNIMPLEMENTED', async () => {
    expect((await unary(client, 'Nothing').answer).status.code).toBe(status.UNIMPLEMENTED)
  })

  it('carries a stream down whole and in order', async () => {
    const { messages, status: end } = await read(down(client, 'Down', '500 1000'))
    expect(messages).toHaveLength(500)
    expect(messages.every((message, at) => message.equals(Buffer.alloc(1000, at)))).toBe(true)
    expect(end.code).toBe(status.OK)
  })

  it('keeps the messages of a stream that breaks', async () => {
    const { messages, status: end } = await read(down(client, 'Break'))
    expect(messages.map(String)).toEqual(['one', 'two'])
    expect(end).toMatchObject({ code: status.DATA_LOSS, details: 'no third' })
  })

  it('carries a stream up', async () => {
    const { call, answer } = up(client, 'Up')
    for (let at = 0; at < 200; at += 1) if (!call.write(Buffer.alloc(10_000))) await once(call, 'drain')
    call.end()
    expect((await answer).messages.map(String)).toEqual(['2000000'])
  })

  it('lets a stream up be answered before its end', async () => {
    const { call, answer } = up(client, 'Impatient')
    call.write(Buffer.from('first'))
    const { status: end } = await answer
    expect(end).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: 'enough' })
    expect((await unary(client, 'Unary', 'still there').answer).messages.map(String)).toEqual(['still there'])
  })

  it('carries both directions at once', async () => {
    const call = both(client, 'Both')
    const answer = read(call)
    for (const word of ['a', 'b', 'c']) {
      call.write(Buffer.from(word))
      await once(call, 'data')
    }
    call.end()
    expect((await answer).messages.map(String)).toEqual(['a', 'b', 'c'])
  })

  it('passes the deadline to the service and ends the call there', async () => {
    const deadline = Date.now() + 5000
    await unary(client, 'Unary', '', { deadline }).answer
    expect(Math.abs(echo.deadline - deadline)).toBeLessThan(1000)
    const cancelled = once(echo.events, 'cancelled')
    expect((await unary(client, 'Hang', '', { deadline: Date.now() + 200 }).answer).status.code).toBe(status.DEADLINE_EXCEEDED)
    await cancelled
  })

  it('ends a cancelled call at the service', async () => {
    const [hangs, cancelled] = [once(echo.events, 'hang'), once(echo.events, 'cancelled')]
    const { call, answer } = unary(client, 'Hang')
    await hangs
    call.cancel()
    expect((await answer).status.code).toBe(status.CANCELLED)
    await cancelled
  })

  it('stops the service when a reader stops, while others go on', async () => {
    const call = down(client, 'Down', `2000 ${64 * 1024}`)
    await once(call, 'data')
    call.pause()
    for (let at = 0; at < 20; at += 1) await unary(client, 'Unary').answer
    const before = echo.written
    for (let at = 0; at < 20; at += 1) await unary(client, 'Unary').answer
    expect(echo.written).toBe(before)
    expect(echo.written).toBeLessThan(100)
    const cancelled = once(echo.events, 'cancelled')
    call.on('error', () => {})
    call.cancel()
    await cancelled
  })
})
