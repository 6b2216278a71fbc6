import { afterAll, beforeAll, expect, it } from 'vitest'
import { bearer, startProxy, type TestProxy } from '../stage/proxy.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

const REPO = `${'a'.repeat(40)}/${'b'.repeat(16)}`

let v2: Upstream
let proxy: TestProxy
/** Answers that wait for `release`, so that requests overlap. */
let held: (() => void)[] = []
let look = () => {}

const hold = (answer: () => void) => {
  held.push(answer)
  look()
}

beforeAll(async () => {
  v2 = await startUpstream((request, response) => {
    const caller = request.headers.authorization
    const body = request.url?.endsWith('/readme')
      ? { uid: REPO, content: `readme for ${caller}` }
      : { repos: [{ uid: REPO, name: 'r', updateTime: '2026-01-01T00:00:00.000Z' }], groups: [{ uid: 'a'.repeat(40), name: caller }] }
    const answer = () => void response.end(JSON.stringify(body))
    if (request.url?.startsWith('/iam/v2/groups') && request.method === 'GET') hold(answer)
    else answer()
  })
  proxy = await startProxy({ 'upstream.v2': v2.url, 'keep.ttlMs': 60_000 })
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

const get = async (path: string, token: string) =>
  (await fetch(proxy.url + path, { headers: bearer(token) })).json() as Promise<{ items: { name: string; readme: string }[] }>

/** Resolves when `count` answers wait. */
const waiting = (count: number) =>
  new Promise<void>((resolve) => {
    look = () => {
      if (held.length >= count) resolve()
    }
    look()
  })

const release = () => {
  for (const answer of held) answer()
  held = []
}

it('shows a cached readme only to the caller who read it', async () => {
  const path = '/registry/v1/repos?name=r'
  const answers = [await get(path, 'alice'), await get(path, 'alice'), await get(path, 'bob')]
  expect(answers.map(({ items }) => items[0]?.readme)).toEqual([
    'readme for Bearer alice',
    'readme for Bearer alice',
    'readme for Bearer bob',
  ])
  expect(v2.seen.filter(({ url }) => url.endsWith('/readme'))).toHaveLength(2)
})

it('gives two callers with the same read their own answers', async () => {
  const answers = Promise.all([get('/iam/v1/groups', 'alice'), get('/iam/v1/groups', 'bob')])
  await waiting(2)
  release()
  expect((await answers).map(({ items }) => items[0]?.name)).toEqual(['Bearer alice', 'Bearer bob'])
})

it('lets a caller read anew after a write, despite an older read in flight', async () => {
  const before = get('/iam/v1/groups', 'alice')
  await waiting(1)
  await fetch(`${proxy.url}/iam/v1/groups/${'a'.repeat(40)}`, { method: 'POST', body: '{"name":"x"}', headers: bearer('alice') })
  const after = get('/iam/v1/groups', 'alice')
  await waiting(2)
  release()
  await Promise.all([before, after])
})
