import { Writable } from 'node:stream'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gzipped, inBase64, lengthOf, sendPieces } from '../../../src/grpc/wire/framing.ts'
import { framed as frame } from '../client.ts'
import { answerSpecially, type PairAnswered, SPECIAL, startPairs } from './stage.ts'

describe('grpc web', () => {
  const WEB = { 'content-type': 'application/grpc-web+proto' }
  const HELLO = frame('hello')
  const OK = frame('grpc-status: 0\r\n', 0x80)
  const TRAILERS = 0x80

  function framesIn({ body }: Pick<PairAnswered, 'body'>): readonly (readonly [flags: number, text: string])[] {
    if (body.length === 0) return []
    const end = 5 + body.readUInt32BE(1)
    return [[body[0] ?? 0, body.subarray(5, end).toString()], ...framesIn({ body: body.subarray(end) })]
  }

  const codeIn = (answered: PairAnswered) => Number(/grpc-status: (\d+)/.exec(framesIn(answered).at(-1)?.[1] ?? '')?.[1])

  describe.each([1, 2] as const)('a unary call of gRPC-Web over HTTP/%d', (version) => {
    it('gets the message and the status in one body', async () => {
      const { call, ended } = await startPairs(version)
      const end = ended()
      expect(await call(HELLO, WEB)).toMatchObject({ status: 200, headers: WEB, body: Buffer.concat([HELLO, OK]) })
      expect(await end).toBe(0)
    })

    it('gets an error with its metadata', async () => {
      const stage = await startPairs(version)
      const details = [{ type: 'google.rpc.ErrorInfo', value: Buffer.from('abcd') }]
      const reply = { headers: { 'X-Head': 'h' }, trailers: { 'X-Tail': ['a', 'b'] } }
      stage.handler = async () => ({ status: { code: 5, message: '100%', details }, ...reply })
      const answered = await stage.call(HELLO, WEB)
      expect(answered).toMatchObject({ status: 200, headers: { 'x-head': 'h' } })
      expect(framesIn(answered)).toEqual([
        [
          TRAILERS,
          'x-tail: a\r\nx-tail: b\r\ngrpc-status: 5\r\ngrpc-message: 100%25\r\ngrpc-status-details-bin: CAUSBDEwMCUaMAoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW5mbxIEYWJjZA\r\n',
        ],
      ])
    })
  })

  describe('a call of gRPC-Web', () => {
    it.each([
      ['no message', '', {}, 12],
      ['two messages', Buffer.concat([HELLO, HELLO]), {}, 12],
      ['part of a message', HELLO.subarray(0, 8), {}, 13],
      ['trailers', OK, {}, 13],
      ['a message over the limit', frame(Buffer.alloc(1001)), {}, 8],
      ['an unknown encoding', HELLO, { 'grpc-encoding': 'br' }, 12],
      ['a compressed message without an encoding', frame(gzipSync('hello'), 1), {}, 13],
      ['a malformed timeout', HELLO, { 'grpc-timeout': '1' }, 13],
      ['no time left', HELLO, { 'grpc-timeout': '0m' }, 4],
    ] as const)('with %s is refused', async (_, body, headers, code) => {
      const { call, failures } = await startPairs()
      expect(codeIn(await call(body, { ...WEB, ...headers }))).toBe(code)
      expect(failures).toEqual([])
    })

    it('has the special status message of gRPC in its trailers', async () => {
      const stage = await startPairs(1, { handler: answerSpecially })
      expect(framesIn(await stage.call(HELLO, WEB))).toEqual([[TRAILERS, `grpc-status: 2\r\ngrpc-message: ${SPECIAL.encoded}\r\n`]])
    })

    it('is compressed both ways', async () => {
      const stage = await startPairs(1, { handler: async ({ message }) => ({ message: [message, Buffer.alloc(5000)] }) })
      const answered = await stage.call(frame(gzipSync('hello'), 1), { ...WEB, 'grpc-encoding': 'gzip' })
      expect(answered.headers['grpc-encoding']).toBe('gzip')
      expect([answered.body[0], answered.body.length < 200, codeIn({ ...answered, body: answered.body.subarray(-21) })]).toEqual([
        1,
        true,
        0,
      ])
    })

    it('is base64 both ways where a browser cannot read bytes', async () => {
      const { call } = await startPairs()
      const type = { 'content-type': 'application/grpc-web-text' }
      const answered = await call(HELLO.toString('base64'), type)
      expect(answered).toMatchObject({ headers: type, body: Buffer.from(Buffer.concat([HELLO, OK]).toString('base64')) })
      const refused = await call('AAAA=AAAA', type)
      expect(codeIn({ ...refused, body: Buffer.from(refused.body.toString(), 'base64') })).toBe(13)
      const most = await call(frame(Buffer.alloc(1000)).toString('base64'), type)
      expect(codeIn({ ...most, body: Buffer.from(most.body.toString(), 'base64') })).toBe(0)
    })
  })

  describe('the client', () => {
    it('is CANCELLED when it goes away', async () => {
      const stage = await startPairs()
      const end = stage.ended()
      const gone = new AbortController()
      stage.handler = ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          gone.abort()
        })
      const { signal } = gone
      await expect(
        fetch(`${stage.url}/test.Echo/Unary`, { method: 'POST', headers: WEB, body: new Uint8Array(HELLO), signal }),
      ).rejects.toThrow()
      expect(await end).toBe(1)
      expect(stage.failures).toEqual([])
    })
  })
})

describe('long answers', () => {
  const MEBIBYTE = 2 ** 20

  /** Bytes that tell their place, in pieces of odd lengths. */
  function piecesOf(length: number): readonly Buffer[] {
    const bytes = Buffer.from(Uint32Array.from({ length: Math.ceil(length / 4) }, (_, at) => at * 2_654_435_761).buffer).subarray(0, length)
    const ends = [...new Set([0, 1, 7, 20_000, Math.floor(length / 3), length - 2, length])]
      .filter((end) => end >= 0 && end <= length)
      .sort((one, other) => one - other)
    return ends.slice(1).map((end, at) => bytes.subarray(ends[at], end))
  }

  /** Takes what is written, a turn of the event loop later, and tells the most bytes that it was given in one turn. */
  async function taken(pieces: Iterable<Uint8Array>, length: number) {
    const all: Buffer[] = []
    let [inTurn, most] = [0, 0]
    const taker = new Writable({
      writev(chunks, done) {
        for (const { chunk } of chunks) {
          all.push(chunk)
          inTurn += chunk.length
        }
        most = Math.max(most, inTurn)
        setImmediate(() => {
          inTurn = 0
          done()
        })
      },
    })
    const finished = new Promise((resolve) => taker.once('finish', resolve))
    sendPieces(taker, pieces, length)
    await finished
    return { bytes: Buffer.concat(all), lengths: all.map(({ length }) => length), most }
  }

  // If the last of several pieces is empty, Node tells that all have gone while its HTTP/2 still sends them.
  it.each([
    ['as it is', (pieces: readonly Buffer[]) => pieces],
    ['in base64', (pieces: readonly Buffer[]) => [...inBase64(pieces)]],
  ])('hands no empty piece over: %s', async (_, written) => {
    const empty = Buffer.alloc(0)
    const pieces = written([Buffer.alloc(6), empty, Buffer.alloc(99_999), empty])
    expect(pieces.at(-1)).toHaveLength(0)
    const { lengths } = await taken(pieces, lengthOf(pieces))
    expect(lengths.length).toBeGreaterThan(1)
    expect(lengths).not.toContain(0)
  })

  describe('the pieces of an answer', () => {
    it.each([0, 1, 65_536, 65_537, 300_000, MEBIBYTE, MEBIBYTE + 1, 5 * MEBIBYTE + 3])(
      'of %d bytes arrive, a MiB in a turn at most',
      async (length) => {
        const pieces = piecesOf(length)
        const { bytes, most } = await taken(pieces, length)
        expect(bytes.equals(Buffer.concat(pieces))).toBe(true)
        expect(most).toBeLessThanOrEqual(MEBIBYTE)
      },
    )

    it.each([0, 1, 2, 3, 65_535, 65_536, 65_537, 2 * MEBIBYTE + 1])('of %d bytes are one base64', (length) => {
      const pieces = piecesOf(length)
      const text = Buffer.concat([...inBase64(pieces)]).toString()
      expect(text === Buffer.concat(pieces).toString('base64')).toBe(true)
    })

    it.each([1024, 2 * MEBIBYTE])('of %d bytes are one gzip', async (length) => {
      const pieces = piecesOf(length)
      expect(gunzipSync(Buffer.concat((await gzipped(pieces)) ?? [])).equals(Buffer.concat(pieces))).toBe(true)
    })
  })

  it.each([1, 2] as const)('a long answer arrives whole as text of gRPC-Web over HTTP/%d', async (version) => {
    const stage = await startPairs(version)
    const long = piecesOf(3 * MEBIBYTE)
    stage.handler = async () => ({ message: long })
    const type = { 'content-type': 'application/grpc-web-text' }
    const { body } = await stage.call(frame('hello').toString('base64'), type)
    const bytes = Buffer.from(body.toString(), 'base64')
    const end = Buffer.concat([frame(Buffer.concat(long)), frame('grpc-status: 0\r\n', 0x80)])
    expect(bytes.equals(end)).toBe(true)
  })
})
