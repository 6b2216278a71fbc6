import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { givingBack } from '../../src/serve/http/v1-surface.ts'
import { ROWS_MEMORY } from '../../src/tables/text/engine.ts'

const SIZE = 64 * 1024
const PIECES = 200

const closing: (() => void)[] = []

afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Pieces that are each filled with their number. */
async function* numbered(used: Set<ArrayBufferLike>) {
  for (let number = 0; number < PIECES; number += 1) {
    const piece = ROWS_MEMORY.take(SIZE).fill(number)
    used.add(piece.buffer)
    yield piece
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Reads such pieces from a server; `wait` tells whether the client stops reading for a moment after a chunk. */
async function readNumbered(used: Set<ArrayBufferLike>, wait: (chunk: number) => boolean): Promise<Buffer> {
  const server = http.createServer((_, response) => {
    Readable.from(givingBack(numbered(used), response), { objectMode: true, highWaterMark: 1 }).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const answer = await new Promise<http.IncomingMessage>((resolve) => http.get({ port, host: '127.0.0.1', agent: false }, resolve))
  const chunks: Buffer[] = []
  for await (const chunk of answer) {
    chunks.push(chunk)
    if (wait(chunks.length)) await new Promise((resolve) => setImmediate(resolve))
  }
  return Buffer.concat(chunks)
}

const EXPECTED = Buffer.concat(Array.from({ length: PIECES }, (_, number) => Buffer.alloc(SIZE, number)))

describe('the memory of a streamed answer', () => {
  it.each([
    ['reads at once', () => false],
    ['stops after every chunk', () => true],
    ['stops now and then', (chunk: number) => chunk % 7 === 0],
  ])('is used again, and the answer stays whole for a client that %s', async (_, wait) => {
    const used = new Set<ArrayBufferLike>()
    const got = await readNumbered(used, wait)
    expect(got.equals(EXPECTED)).toBe(true)
    expect(used.size).toBeLessThan(PIECES / 2)
  })

  it('stays with a response that has not passed it on', async () => {
    const used = new Set<ArrayBufferLike>()
    for await (const _ of givingBack(numbered(used), { writableLength: 1 }));
    expect(used.size).toBe(PIECES)
  })

  it('reaches the stream with the error that ends the answer', async () => {
    const used = new Set<ArrayBufferLike>()
    const pieces = givingBack(numbered(used), { writableLength: 0 })
    await pieces.next()
    await expect(pieces.throw(new Error('gone'))).rejects.toThrow('gone')
    expect(await pieces.next()).toEqual({ done: true, value: undefined })
  })
})
