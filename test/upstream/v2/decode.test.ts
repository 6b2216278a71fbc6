import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { decode } from '../../../src/serve/upstream/exchange.ts'

const TEXT = '{"uid":"ü"}'
const LIMIT = 1000

it.each([
  ['gzip', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  ['GZIP', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['br', brotliCompressSync(TEXT)],
  ['identity', Buffer.from(TEXT)],
  ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
])('decodes %s', async (encoding, bytes) => {
  expect((await decode(bytes, encoding, LIMIT)).toString()).toBe(TEXT)
})

it('refuses an answer that grows beyond the limit, which it names', async () => {
  await expect(decode(gzipSync('x'.repeat(LIMIT + 1)), 'gzip', LIMIT)).rejects.toMatchObject({
    code: 'INTERNAL',
    message: 'the v2 service sent an answer of more than limits.answerBytes (1000)',
  })
})

it('decodes as many codings as are usual, and no more', async () => {
  const times = (count: number) => Array.from({ length: count }).reduce((bytes: Buffer) => gzipSync(bytes), Buffer.from(TEXT))
  const named = (count: number) => Array.from({ length: count }, () => 'gzip').join()
  expect((await decode(times(5), named(5), LIMIT)).toString()).toBe(TEXT)
  await expect(decode(times(6), named(6), LIMIT)).rejects.toMatchObject({
    code: 'INTERNAL',
    message: 'the v2 service sent an answer in more than 5 content codings',
  })
})

it.each([
  ['gzip', 'the v2 service sent an answer that is not JSON'],
  ['zstd', 'the v2 service sent an answer in the unknown content coding "zstd"'],
  ['__proto__', 'the v2 service sent an answer in the unknown content coding "__proto__"'],
])('reports bytes that are not %s as an error of v2', async (encoding, message) => {
  await expect(decode(Buffer.from('nonsense'), encoding, LIMIT)).rejects.toMatchObject({ code: 'INTERNAL', message })
})
