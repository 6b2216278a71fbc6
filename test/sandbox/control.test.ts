import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { startSandbox } from '../../src/sandbox/start.ts'
import type { Row } from '../../src/sandbox/world/model.ts'
import {
  createClock,
  createRandom,
  isAtOrBelow,
  isBelow,
  lineage,
  newUid,
  parentOf,
  rootOf,
  Table,
  validUid,
} from '../../src/sandbox/world/store.ts'
import { running, START } from './stage.ts'

describe('control', () => {
  const { sandbox, call, get, post } = running({}, { fresh: true })

  const fault = (body: object) => call('POST', '/-/faults', { body, token: null })
  const journal = async () => (await call('GET', '/-/journal', { token: null })).json

  describe('the journal', () => {
    test('shows every request in order, without credentials and control requests', async () => {
      await get('/registry/v2/repos?page_size=2&uidp.ids=a&uidp.ids=b')
      await post('/iam/v2/groups/%2F', { name: 'x' })
      await call('PATCH', '/nowhere', { text: 'plain', token: null })
      await call('GET', '/-/journal')
      const at = new Date(START).toISOString()
      expect(await journal()).toEqual([
        { method: 'GET', path: '/registry/v2/repos', query: { page_size: '2', 'uidp.ids': ['a', 'b'] }, body: null, at },
        { method: 'POST', path: '/iam/v2/groups//', query: {}, body: { name: 'x' }, at },
        { method: 'PATCH', path: '/nowhere', query: {}, body: 'plain', at },
      ])
      expect(JSON.stringify(await journal())).not.toContain('demo-owner')
    })

    test('is cleared by DELETE', async () => {
      await get('/ping/v2/ping')
      await call('DELETE', '/-/journal')
      expect(await journal()).toEqual([])
    })
  })

  describe('faults', () => {
    test('return a status for the given number of matching requests', async () => {
      await fault({ match: 'GET /registry/v2/repos', times: 2, status: 503, headers: { 'retry-after': '1' } })
      expect((await get('/registry/v2/tags')).status).toBe(200)
      for (const path of ['/registry/v2/repos', '/registry/v2/repos?page_size=1']) {
        const reply = await get(path)
        expect([reply.status, reply.json.code, reply.headers.get('retry-after')]).toEqual([503, 14, '1'])
      }
      expect((await get('/registry/v2/repos')).status).toBe(200)
    })

    test('without times last until they are cleared', async () => {
      await fault({ match: 'GET /ping', status: 500 })
      for (let round = 0; round < 3; round++) expect((await get('/ping/v2/ping')).status).toBe(500)
      await call('DELETE', '/-/faults')
      expect((await get('/ping/v2/ping')).status).toBe(200)
    })

    test('are listed with what is left of them', async () => {
      await fault({ match: 'GET /registry/v2/repos', times: 2, status: 503 })
      await fault({ match: 'GET /ping', delayMs: 1 })
      await get('/registry/v2/repos')
      expect((await call('GET', '/-/faults', { token: null })).json).toEqual([
        { match: 'GET /registry/v2/repos', times: 1, status: 503 },
        { match: 'GET /ping', delayMs: 1 },
      ])
      await call('DELETE', '/-/faults')
      expect((await call('GET', '/-/faults', { token: null })).json).toEqual([])
    })

    test('return a body that is not JSON', async () => {
      await fault({ match: 'GET /ping', times: 1, body: '<html>', headers: { 'content-type': 'text/html' } })
      const response = await fetch(`${sandbox().url}/ping/v2/ping`)
      expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([200, '<html>', 'text/html'])
    })

    test('reset a connection', async () => {
      await fault({ match: 'GET /ping', times: 1, reset: true })
      await expect(get('/ping/v2/ping')).rejects.toThrow('fetch failed')
      expect((await get('/ping/v2/ping')).status).toBe(200)
    })

    test('delay a request, then serve it, with headers on request', async () => {
      await fault({ match: 'GET /ping', times: 1, delayMs: 30, headers: { 'x-slow': 'yes' } })
      const before = performance.now()
      const reply = await get('/ping/v2/ping')
      expect(performance.now() - before).toBeGreaterThanOrEqual(25)
      expect([reply.status, reply.headers.get('x-slow')]).toEqual([200, 'yes'])
    })

    test('delay a request for longer than a timer can wait', async () => {
      const { url, close } = await startSandbox({ port: 0 })
      await fetch(`${url}/-/faults`, { method: 'POST', body: JSON.stringify({ match: 'GET /ping', delayMs: 2 ** 31 }) })
      const pending = fetch(`${url}/ping/v2/ping`).then(
        () => 'answered',
        () => 'cut off',
      )
      while ((await (await fetch(`${url}/-/journal`)).text()) === '[]');
      await fetch(`${url}/nowhere`)
      await close()
      expect(await pending).toBe('cut off')
    })

    test('keep requests in the journal and change nothing', async () => {
      await fault({ match: 'POST /registry/v2/repos', times: 1, status: 503 })
      await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'ghost' })
      expect(await journal()).toHaveLength(1)
      expect((await get('/registry/v2/repos?name=ghost')).json.repos).toEqual([])
    })

    test('remove a member or a row from one answer or from every row', async () => {
      const before = (await get('/registry/v2/repos?page_size=3')).json.repos
      await fault({ match: 'GET /registry/v2/repos', times: 1, drop: '/repos/1' })
      expect((await get('/registry/v2/repos?page_size=3')).json.repos).toEqual([before[0], before[2]])
      await fault({ match: 'GET /registry/v2/repos', times: 1, drop: '/repos/*/name' })
      for (const repo of (await get('/registry/v2/repos?page_size=3')).json.repos) expect(repo).not.toHaveProperty('name')
      expect((await get('/registry/v2/repos?page_size=3')).json.repos).toEqual(before)
    })

    test('replace a value, and do nothing where there is none', async () => {
      await fault({ match: 'GET /registry/v2/repos', times: 1, change: { at: '/repos/0/name', to: 5 } })
      expect((await get('/registry/v2/repos')).json.repos[0].name).toBe(5)
      await fault({ match: 'GET /ping', times: 1, change: { at: '/no/such', to: 5 } })
      expect((await get('/ping/v2/ping')).json).toEqual((await get('/ping/v2/ping')).json)
    })

    test('begin a list one row late and continue from there', async () => {
      const before = (await get('/registry/v2/repos?page_size=4')).json.repos
      await fault({ match: 'GET /registry/v2/repos', shift: 1 })
      const first = (await get('/registry/v2/repos?page_size=2')).json
      const second = (await get(`/registry/v2/repos?page_size=1&page_token=${first.nextPageToken}`)).json
      expect([...first.repos, ...second.repos]).toEqual(before.slice(1))
      await call('DELETE', '/-/faults')
    })

    test.each([
      [{ match: 'GET /', drop: 'name' }],
      [{ match: 'GET /' }],
      [{ status: 503 }],
      [{ match: 'GET /', status: 'x' }],
      [{ match: 'GET /', colour: 'red', status: 500 }],
    ])('reject %j', async (body) => {
      expect((await fault(body)).status).toBe(400)
    })
  })

  test('moves the clock forward', async () => {
    const reply = await call('POST', '/-/clock', { body: { advanceMs: 259_200_000 }, token: null })
    expect(reply.json).toEqual({ now: '2026-03-04T12:00:00.000Z' })
    expect((await call('POST', '/-/clock', { body: { advanceMs: -1 } })).status).toBe(400)
  })

  test('keeps the clock before the year 10000', async () => {
    for (const advanceMs of [1e300, Date.parse('9999-12-31T23:59:59.999Z') - START + 1]) {
      expect((await call('POST', '/-/clock', { body: { advanceMs } })).status).toBe(400)
    }
    expect((await get('/registry/v2/repos')).status).toBe(200)
  })

  test('closes despite a running delay', async () => {
    const slow = await startSandbox({ port: 0, latencyMs: 600_000 })
    const pending = fetch(`${slow.url}/ping/v2/ping`).then(
      () => 'answered',
      () => 'cut off',
    )
    const received = async (): Promise<boolean> => (await (await fetch(`${slow.url}/-/journal`)).text()) !== '[]'
    while (!(await received()));
    await slow.close()
    expect(await pending).toBe('cut off')
  })

  describe('a page of another origin', () => {
    const post = (headers: Record<string, string>) =>
      fetch(`${sandbox().url}/-/faults`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain', ...headers },
        body: '{"match":"GET /iam/v2/groups","status":503}',
      })

    test('may not steer the sandbox, and one of its own may', async () => {
      const refused = await post({ origin: 'http://evil.example' })
      expect([refused.status, await refused.json()]).toEqual([403, expect.objectContaining({ code: 7 })])
      expect((await call('GET', '/-/faults', { token: null })).json).toEqual([])
      expect((await post({ origin: new URL(sandbox().url).origin })).status).toBe(200)
      expect((await post({})).status).toBe(200)
    })
  })
})

describe('clock', () => {
  afterEach(() => void vi.useRealTimers())

  describe('waiting tasks', () => {
    test('run once, in the order they are due, when the clock is moved', () => {
      const clock = createClock(0)
      const ran: string[] = []
      clock.after(20, () => ran.push('second'))
      clock.after(10, () => ran.push('first'))
      clock.advance(9)
      expect(ran).toEqual([])
      clock.advance(11)
      clock.advance(100)
      expect(ran).toEqual(['first', 'second'])
    })

    test('run by themselves on a running clock, sooner if it is moved', () => {
      vi.useFakeTimers({ now: 0 })
      const clock = createClock()
      const task = vi.fn()
      clock.after(1_000, task)
      vi.advanceTimersByTime(400)
      clock.advance(599)
      expect(task).not.toHaveBeenCalled()
      vi.advanceTimersByTime(1_000)
      clock.after(1_000, task)
      clock.advance(1_000)
      expect(task).toHaveBeenCalledTimes(2)
    })

    test('do not run when cancelled', () => {
      const clock = createClock(0)
      const task = vi.fn()
      const cancel = clock.after(10, task)
      cancel()
      clock.advance(10)
      expect(task).not.toHaveBeenCalled()
    })

    test('may wait again from within', () => {
      const clock = createClock(0)
      const task = vi.fn(() => void clock.after(5, task))
      clock.after(5, task)
      clock.advance(5)
      clock.advance(5)
      expect(task).toHaveBeenCalledTimes(2)
    })
  })
})

describe('table', () => {
  type Named = Row & { readonly name: string }

  const segment = fc.constantFrom('0', '1', 'f')
  const uid = fc
    .array(segment, { minLength: 1, maxLength: 4 })
    .map((parts) => [parts[0]!.repeat(40), ...parts.slice(1).map((part) => part.repeat(16))].join('/'))
  const step = fc.record({ uid, name: fc.constantFrom('a', 'b'), remove: fc.boolean(), read: fc.boolean() })

  describe('uids (semantics §1)', () => {
    test('have the documented form and lie below their parent', () => {
      const random = createRandom(7)
      const root = newUid(random)
      const child = newUid(random, root)
      expect([root, child].every(validUid)).toBe(true)
      expect([parentOf(root), parentOf(child), rootOf(child)]).toEqual(['', root, root])
      expect([isBelow(root, child), isBelow(root, root), isAtOrBelow(root, root), isBelow(root, `${root}0`)]).toEqual([
        true,
        false,
        true,
        false,
      ])
      expect(lineage(`${child}/x`)).toEqual([`${child}/x`, child, root])
    })

    test('are the same for the same seed', () => {
      expect(newUid(createRandom(3))).toBe(newUid(createRandom(3)))
      expect(newUid(createRandom(3))).not.toBe(newUid(createRandom(4)))
    })

    test.each(['', '/', 'A'.repeat(40), '0'.repeat(39), `${'0'.repeat(40)}/`, `${'0'.repeat(40)}/${'0'.repeat(15)}`])(
      '%j is none',
      (text) => {
        expect(validUid(text)).toBe(false)
      },
    )
  })

  test('answers like a plain list after any sequence of writes', () => {
    fc.assert(
      fc.property(fc.array(step), uid, (steps, probe) => {
        const table = new Table<Named>()
        const plain = new Map<string, Named>()
        for (const { remove, read, ...row } of steps) {
          if (read) table.values()
          if (remove) expect(table.delete(row.uid)).toBe(plain.delete(row.uid))
          else {
            table.put(row)
            plain.set(row.uid, row)
          }
        }
        const rows = [...plain.values()].sort((left, right) => (left.uid < right.uid ? -1 : 1))
        expect(table.values()).toEqual(rows)
        expect(table.size()).toBe(rows.length)
        expect(table.get(probe)).toEqual(plain.get(probe))
        expect(table.below(probe)).toEqual(rows.filter((row) => isBelow(probe, row.uid)))
        expect(table.children(probe)).toEqual(rows.filter((row) => parentOf(row.uid) === probe))
        expect(table.children('')).toEqual(rows.filter((row) => parentOf(row.uid) === ''))
        expect(table.named(probe, 'a')).toEqual(rows.filter((row) => parentOf(row.uid) === probe && row.name === 'a'))
      }),
    )
  })

  test('keeps derived results until the next write', () => {
    const table = new Table<Named>()
    let made = 0
    const count = () => table.derived('count', () => ++made)
    expect([count(), count()]).toEqual([1, 1])
    table.put({ uid: '0'.repeat(40), name: 'a' })
    expect(count()).toBe(2)
  })
})

describe('ticking clock', () => {
  test('does not mistake a clock tick for a requested expiry', async () => {
    let now = Date.UTC(2026, 4, 1)
    const tick = () => {
      now += 1
      return now
    }
    const { url, organization, tokens, close } = await startSandbox({ port: 0, now: tick })
    try {
      const create = async (body: object) => {
        const headers = { authorization: `Bearer ${tokens.owner}` }
        const answer = await fetch(`${url}/registry/v2/repos/${organization}`, { method: 'POST', headers, body: JSON.stringify(body) })
        return { status: answer.status, body: (await answer.json()) as { uid: string } }
      }
      const { body: source } = await create({ name: 'source' })
      expect(await create({ name: 'copy', sync_config: { source: source.uid } })).toMatchObject({ status: 200 })
    } finally {
      await close()
    }
  })
})
