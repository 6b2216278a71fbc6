import http from 'node:http'
import { Readable } from 'node:stream'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { createNameForLog, type KnownRead, KnownReads } from '../../src/serve/core.ts'
import { givingBack } from '../../src/serve/http/v1-surface.ts'
import { ROWS_MEMORY } from '../../src/tables/text/engine.ts'
import { bearer, type Stage, startQuietSandbox, startStage, type TestProxy } from '../stage/stage.ts'
import { type Handler, startUpstream } from '../stage/upstream.ts'

describe('known reads', () => {
  const read = {} as KnownRead

  it('identifies a URL by its method and text', () => {
    const reads = new KnownReads()
    reads.keep({ method: 'GET', url: '/a' }, read)
    reads.keep({ method: 'POST', url: '/b' }, read)
    const found = [
      { method: 'GET', url: '/a' },
      { method: 'POST', url: '/a' },
      { method: 'GET', url: '/b' },
      { method: 'GET', url: '/a?' },
    ].map((request) => reads.find(request))
    expect(found).toEqual([read, undefined, undefined, undefined])
  })

  it('caches neither very long URLs nor very many', () => {
    const reads = new KnownReads()
    reads.keep({ method: 'GET', url: `/${'a'.repeat(2000)}` }, read)
    expect(reads.find({ method: 'GET', url: `/${'a'.repeat(2000)}` })).toBeUndefined()
    for (let at = 0; at < 2000; at += 1) reads.keep({ method: 'GET', url: `/${at}` }, read)
    expect([0, 1999].map((at) => reads.find({ method: 'GET', url: `/${at}` }))).toEqual([undefined, read])
  })

  it('are read anew once settings changed', () => {
    const reads = new KnownReads()
    reads.keep({ method: 'GET', url: '/a' }, read)
    reads.forget()
    expect(reads.find({ method: 'GET', url: '/a' })).toBeUndefined()
  })

  let proxy: Stage<null, Handler>

  beforeAll(async () => {
    proxy = await startStage({
      v1: null,
      v2: ({ headers }, response) => {
        if (headers.authorization === 'Bearer b') response.statusCode = 403
        const answer = { uid: '4d2e'.repeat(10), name: String(headers.authorization) }
        const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'PERMISSION_DENIED' }]
        response.end(JSON.stringify(response.statusCode === 403 ? { code: 7, message: 'no', details } : answer))
      },
    })
  })

  beforeEach(() => {
    proxy.v2.seen.length = 0
  })

  it('asks v2 anew for each caller and each request of a known URL', async () => {
    const ask = async (token: string) =>
      (await fetch(`${proxy.url}/iam/v1/groups?id=${'4d2e'.repeat(10)}`, { headers: bearer(token) })).text()
    const [first, second] = [await ask('a'), await ask('a')]
    expect(first).toContain('"name":"Bearer a"')
    expect(second).toBe(first)
    expect(await ask('b')).toBe('{"items":[]}')
    expect(await ask('c')).toContain('"name":"Bearer c"')
    expect(proxy.v2.seen).toHaveLength(4)
  })

  it('repeats a refusal, and keeps the methods of a URL apart', async () => {
    const ask = async (method: string) => {
      const answer = await fetch(`${proxy.url}/iam/v1/groups?page_size=x`, { method, headers: bearer('a') })
      return [answer.status, ((await answer.json()) as { code: number }).code]
    }
    expect([await ask('GET'), await ask('GET')]).toEqual([
      [400, 3],
      [400, 3],
    ])
    expect(await ask('PATCH')).toEqual([501, 12])
    expect(proxy.v2.seen).toHaveLength(0)
  })
})

describe('name for log', () => {
  const nameForLog = createNameForLog(mappings.flatMap(({ operations }) => operations))

  it.each(['limit', 'page_size', 'pageSize', 'exclude_dates', 'excludeDates', 'uidp.childrenOf', 'order_by'])(
    'returns the known name %s',
    (name) => {
      expect(nameForLog(name)).toBe(name)
    },
  )

  it.each([
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'hunter2',
    'token',
    'colour',
    '',
    'constructor',
    '__proto__',
  ])('hides the unknown name %j', (name) => {
    expect(nameForLog(name)).toBe('(no name)')
  })
})

describe('no v2', () => {
  /** The answer of the sandbox's gateway to paths that it does not serve. */
  const GATEWAY = { code: 14, message: 'the v2 service answered HTTP 404 without naming a missing resource', details: [] }

  /** Bodies and queries that the tables require in a request. */
  const BODY = JSON.stringify({ name: 'x', digest: 'sha256:0' })

  let sandbox: Sandbox
  let proxy: TestProxy

  beforeAll(async () => {
    sandbox = await startQuietSandbox()
    proxy = await startStage({ v1: null, v2: `${sandbox.url}/wrong/base` })
  })

  const served = mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined)
  it.each([
    ...served.map(({ id, method, template }) => [id, method, template.replace(/\{[^}]+\}/g, '$')] as const),
    ...['/iam/v1/groups', '/registry/v1/repos', '/registry/v1/tags'].map((path) => [`${path} by id`, 'GET', `${path}?id=$`] as const),
  ])('reports an outage for %s if v2 is not there', async (id, method, path) => {
    const body = method === 'GET' || method === 'DELETE' ? undefined : id.endsWith('create_batch') ? '[]' : BODY
    const target = proxy.url + path.replaceAll('$', sandbox.organization)
    const answer = await fetch(target, { method, headers: bearer(sandbox.tokens.owner), ...(body && { body }) })
    expect([answer.status, await answer.json()]).toEqual([503, GATEWAY])
  })
})

describe('give back', () => {
  const SIZE = 64 * 1024
  const PIECES = 200

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
    const { url } = await startUpstream((_, response) => {
      Readable.from(givingBack(numbered(used), response), { objectMode: true, highWaterMark: 1 }).pipe(response)
    })
    const answer = await new Promise<http.IncomingMessage>((resolve) => http.get(url, { agent: false }, resolve))
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
})
