import { Writable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { gzipped, inBase64, lengthOf, sendPieces } from '../../src/grpc/wire/framing.ts'
import { startPairs } from './pair-stage.ts'
import { frame } from './stage.ts'

const MEBIBYTE = 2 ** 20

/** Bytes that tell their place, in pieces of odd lengths. */
function piecesOf(length: number): readonly Buffer[] {
  const bytes = Buffer.from(Uint32Array.from({ length: Math.ceil(length / 4) }, (_, at) => at * 2_654_435_761).buffer).subarray(0, length)
  const ends = [...new Set([0, 1, 7, 20_000, Math.floor(length / 3), length - 2, length])]
    .filter((end) => end >= 0 && end <= length)
    .sort((one, other) => one - other)
  return ends.slice(1).map((end, at) => bytes.subarray(ends[at], end))
}

// If the last of several pieces is empty, Node tells that all have gone while its HTTP/2 still sends them.
it.each([
  ['as it is', (pieces: readonly Buffer[]) => pieces],
  ['in base64', (pieces: readonly Buffer[]) => [...inBase64(pieces)]],
])('hands no empty piece over: %s', async (_, written) => {
  const empty = Buffer.alloc(0)
  const pieces = written([Buffer.alloc(6), empty, Buffer.alloc(99_999), empty])
  expect(pieces.at(-1)).toHaveLength(0)
  const lengths: number[] = []
  const taker = new Writable({
    writev(chunks, done) {
      lengths.push(...chunks.map(({ chunk }) => chunk.length))
      done()
    },
  })
  const finished = new Promise((resolve) => taker.once('finish', resolve))
  sendPieces(taker, pieces, lengthOf(pieces))
  await finished
  expect(lengths.length).toBeGreaterThan(1)
  expect(lengths).not.toContain(0)
})

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
  return { bytes: Buffer.concat(all), most }
}

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
