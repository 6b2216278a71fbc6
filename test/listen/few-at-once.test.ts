import { EventEmitter } from 'node:events'
import type { ServerHttp2Stream } from 'node:http2'
import { expect, it } from 'vitest'
import { fewAtOnce } from '../../src/serve/listen/http2.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Opens streams in one turn; the numbers of those that have begun are in `begun`. */
function openAll(count: number) {
  const begun: number[] = []
  const open = fewAtOnce((_, number: number) => void begun.push(number))
  const streams = Array.from({ length: count }, () => new EventEmitter() as ServerHttp2Stream)
  for (const [at, stream] of streams.entries()) open(stream, at)
  return { begun, streams, open }
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

it('begins the streams of one packet 8 in a turn, in their order', async () => {
  const { begun } = openAll(20)
  expect(begun).toEqual(upTo(8))
  await turn()
  expect(begun).toEqual(upTo(16))
  await turn()
  expect(begun).toEqual(upTo(20))
})

it('begins a later stream after those that wait', async () => {
  const { begun, open } = openAll(16)
  open(new EventEmitter() as ServerHttp2Stream, 16)
  await turn()
  expect(begun).toEqual(upTo(16))
  await turn()
  expect(begun).toEqual(upTo(17))
})

it('begins the streams of another turn at once', async () => {
  const { begun, open } = openAll(8)
  await turn()
  open(new EventEmitter() as ServerHttp2Stream, 8)
  expect(begun).toEqual(upTo(9))
})

it('survives the error of a stream that waits', () => {
  const { begun, streams } = openAll(9)
  expect(begun).toHaveLength(8)
  expect(() => streams[8]?.emit('error', new Error('reset'))).not.toThrow()
})
