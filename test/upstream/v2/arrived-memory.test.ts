import { afterEach, describe, expect, it } from 'vitest'
import { createPool } from '../../../src/serve/upstream/exchange.ts'
import { createSend } from '../../../src/serve/upstream/send.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import type { Call } from '../../../src/tables/turn.ts'
import { startUpstream } from '../../stage/upstream.ts'
import { promised } from '../../translate/sends.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A v2 service whose answers hold their path many times. */
async function setUp() {
  const upstream = await startUpstream((request, response) => {
    const text = JSON.stringify(contentOf(request.url ?? ''))
    const cut = request.url?.endsWith('0') ? Math.floor(text.length / 2) : 0
    response.write(text.slice(0, cut) || ' ')
    setImmediate(() => response.end(text.slice(cut)))
  })
  const pool = createPool({ connections: 8, connectTimeoutMs: 5000, callTimeoutMs: 5000 })
  closing.push(
    () => pool.destroy(),
    () => upstream.close(),
  )
  const keep = { entries: 10, ttlMs: 0 }
  const make = createSend({ pool, base: upstream.url, answerBytes: 10 ** 6, keep, bulkCalls: 6 })
  return () => {
    const context = { headers: {}, requestId: 'r', signal: new AbortController().signal, onCall: () => undefined }
    return promised(make(context))
  }
}

const contentOf = (path: string): JsonObject => ({ rows: Array.from({ length: 3000 }, (_, at) => `${path} ${at}`) })

const callOf = (path: string, more: Partial<Call> = {}): Call => ({ method: 'GET', path, query: [], ...more })

describe('the memory of arrived bytes', () => {
  it('holds each of many long answers whole that arrive at the same time, shared or not', async () => {
    const begin = await setUp()
    const paths = Array.from({ length: 60 }, (_, at) => `/${at % 40}`)
    const answers = await Promise.all(paths.map((path, at) => begin()(callOf(path, at % 3 === 0 ? { bulk: true } : {}))))
    expect(answers).toEqual(paths.map(contentOf))
  })

  it('is used again after an answer was read', async () => {
    const begin = await setUp()
    const used = new Set<ArrayBufferLike>()
    let long = 0
    const read = (pieces: readonly Uint8Array[]) => {
      for (const { buffer } of pieces.filter(({ length }) => length > 16 * 1024)) {
        used.add(buffer)
        long += 1
      }
      return {}
    }
    for (let at = 0; at < 60; at += 1) await begin()(callOf(`/${at}`, { read, bulk: true }))
    expect(long).toBeGreaterThan(20)
    expect(used.size).toBeLessThan(10)
  })
})
