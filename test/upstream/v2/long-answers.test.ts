import { afterEach, describe, expect, it } from 'vitest'
import { startProxy } from '../../stage/proxy.ts'
import { startUpstream } from '../../stage/upstream.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A proxy before a v2 that answers what `answer` says of a path. */
async function setUp(answer: (url: URL) => { readonly status?: number; readonly body: unknown }) {
  const upstream = await startUpstream((request, response) => {
    const { status = 200, body } = answer(new URL(request.url ?? '', 'http://v2'))
    response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const proxy = await startProxy({ 'upstream.v2': upstream.url })
  closing.push(proxy.close, upstream.close)
  return {
    async get(path: string) {
      const answered = await fetch(`${proxy.url}${path}`)
      return { status: answered.status, text: await answered.text() }
    },
    async call(method: string) {
      const headers = { 'content-type': 'application/json' }
      return (await fetch(`${proxy.url}/chainguard.platform.iam.${method}`, { method: 'POST', headers, body: '{}' })).text()
    },
  }
}

const uidOf = (nth: number) => String(nth).padStart(40, '0')

/** Rows of v2 whose texts have so many letters; `odd` members are read by no table. */
const groupsOf = (count: number, letters: number, more: object = {}) =>
  Array.from({ length: count }, (_, nth) => ({
    uid: uidOf(nth),
    name: `g${nth}`,
    description: 'é"'.repeat(letters / 2),
    resourceLimits: { repositories: nth, ...(nth % 2 && { idps: 1 }) },
    ...more,
  }))

const ESCAPED = { createTime: '2024-01-01T00:00:00Z', odd: [1, { two: '\\' }] }

describe('an answer of v2 that is read in several turns', () => {
  it.each([
    ['translated as text', 700, {}],
    ['parsed', 4000, {}],
    ['parsed, with odd members', 4000, ESCAPED],
  ])('has the rows that a short one has: %s', async (_, letters, more) => {
    let groups = groupsOf(200, letters, more)
    const { get, call } = await setUp(() => ({ body: { groups, totalCount: String(groups.length) } }))
    const long = await get('/iam/v1/groups')
    const message: { items: object[] } = JSON.parse(await call('Groups/List'))
    expect(long.text.length).toBeGreaterThan(200 * letters)
    const rows = JSON.parse(long.text).items as object[]
    expect([long.status, rows.length, message.items.length]).toEqual([200, 200, 200])
    for (const nth of [0, 1, 100, 199]) {
      groups = groupsOf(200, letters, more).slice(nth, nth + 1)
      expect((await get(`/iam/v1/groups?name=g${nth}`)).text).toBe(JSON.stringify({ items: [rows[nth]] }))
      expect(JSON.parse(await call('Groups/List')).items).toEqual([message.items[nth]])
    }
  })

  it('is walked on page by page, with windows that begin with the last row before', async () => {
    const all = groupsOf(450, 4000)
    const { get } = await setUp(({ searchParams }) => {
      const skip = Number(searchParams.get('skip') ?? 0)
      const groups = all.slice(skip, skip + Number(searchParams.get('page_size')))
      return { body: { groups, totalCount: '450', skipped: skip, nextPageToken: skip + groups.length < 450 ? `t${skip}` : '' } }
    })
    const { items } = JSON.parse((await get('/iam/v1/groups')).text)
    expect(items.map(({ id }: { id: string }) => id)).toEqual(all.map(({ uid }) => uid))
  })

  it('is the whole answer to a write', async () => {
    const [group] = groupsOf(1, 400_000)
    const { get } = await setUp(() => ({ body: { ...group } }))
    expect(JSON.parse((await get(`/iam/v1/groups?id=${uidOf(0)}`)).text).items[0].description).toBe(group?.description)
  })

  const LONG = 'x'.repeat(200_000)
  it.each([
    [
      'a row of too many values',
      { groups: [{ uid: uidOf(0), odd: new Array(50_000).fill(12_345_678) }] },
      'with more than 20000 values in one row, or beside its rows',
    ],
    [
      'a row of too many bytes',
      { groups: [{ uid: uidOf(0), odd: 'x'.repeat(2 ** 22) }] },
      'with more than 4194304 bytes in one row, or beside its rows',
    ],
    ['more rows than were asked for', { groups: groupsOf(201, 1000) }, 'without what it must hold'],
    ['what is no JSON', `{"groups":["${LONG}",]}`, 'that is not JSON'],
    ['no object', `["${LONG}"]`, 'that is not JSON'],
    [
      'a value of a wrong type',
      { groups: groupsOf(200, 1000, { createTime: 7, odd: LONG.slice(0, 3000) }) },
      'a wrong answer: createTime must be an RFC 3339 timestamp',
    ],
  ])('is an error of v2: %s', async (_, body, why) => {
    const { get } = await setUp(() => ({ body }))
    const { status, text } = await get('/iam/v1/groups')
    expect([status, JSON.parse(text)]).toEqual([
      500,
      { code: 13, message: expect.stringContaining(`the v2 service sent ${why.startsWith('a ') ? '' : 'an answer '}${why}`), details: [] },
    ])
  })

  it('is no error body', async () => {
    const { get } = await setUp(() => ({ status: 404, body: { code: 5, message: LONG } }))
    expect((await get(`/iam/v1/groups?id=${uidOf(0)}`)).text).toContain('the v2 service answered HTTP 404 without an error body')
  })
})
