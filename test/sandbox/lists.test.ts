import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readQuery } from '../../src/sandbox/http/route.ts'
import { type Order, pageOf, readPaging, sortRows } from '../../src/sandbox/lists.ts'
import type { Row } from '../../src/sandbox/world/model.ts'
import { createClock, createRandom, createStore, type World } from '../../src/sandbox/world/store.ts'
import { running, START } from './stage.ts'

describe('lists', () => {
  const DAY_MS = 24 * 60 * 60 * 1000

  const { sandbox, call, get, post, remove } = running({ data: 'large', tags: 1_000 }, { fresh: true })

  const repoUid = async (name: string): Promise<string> => (await get(`/registry/v2/repos?name=${name}`)).json.repos[0].uid
  const repos = (query: string, token?: string) => get(`/registry/v2/repos?uidp.descendants_of=${sandbox().organization}&${query}`, token)
  const names = (rows: readonly { readonly name: string }[]): readonly string[] => rows.map(({ name }) => name)

  /** Follows nextPageToken to the end. */
  const walk = async (query: string, member = 'repos', collection = '/registry/v2/repos') => {
    const pages: Record<string, never[]>[] = []
    let token: string | undefined = ''
    while (token !== undefined) {
      const reply = await get(`${collection}?${query}&page_token=${encodeURIComponent(token)}`)
      expect(reply.status).toBe(200)
      pages.push(reply.json)
      token = reply.json.nextPageToken
    }
    return { pages, rows: pages.flatMap((page) => page[member] ?? []) as { uid: string; name: string }[] }
  }

  describe('the envelope (specification §2)', () => {
    test('holds the plural name, totalCount as a string, skipped; no token at the end', async () => {
      const { json } = await repos('page_size=200')
      expect(Object.keys(json)).toEqual(['repos', 'totalCount', 'skipped'])
      expect(json).toMatchObject({ totalCount: String(json.repos.length), skipped: 0 })
    })

    test('keeps the array of an empty result', async () => {
      expect((await repos('name=nothing')).json).toEqual({ repos: [], totalCount: '0', skipped: 0 })
    })
  })

  describe('page_size (specification §8)', () => {
    test('is 50 by default', async () => {
      const { json } = await get(`/registry/v2/tags?uidp.children_of=${await repoUid('large')}`)
      expect(json.tags).toHaveLength(50)
      expect(json.totalCount).toBe('1000')
    })

    test('is at most 200', async () => {
      expect((await get(`/registry/v2/tags?uidp.children_of=${await repoUid('large')}&page_size=500`)).json.tags).toHaveLength(200)
    })

    test('is read in both spellings', async () => expect((await repos('pageSize=3')).json.repos).toHaveLength(3))

    test('reports a negative size and a negative skip together', async () => {
      const reply = await repos('page_size=-1&skip=-2')
      expect(reply.json.message).toBe('Invalid argument: page_size: must be non-negative; skip: must be non-negative')
    })
  })

  describe('cursors (specification §4 rules 3 and 4)', () => {
    test('return every row once, by uid by default; no empty last page', async () => {
      const { rows, pages } = await walk(`uidp.children_of=${await repoUid('large')}&page_size=200`, 'tags', '/registry/v2/tags')
      expect(pages).toHaveLength(5)
      const uids = rows.map(({ uid }) => uid)
      expect(new Set(uids).size).toBe(1_000)
      expect(uids).toEqual([...uids].sort())
    })

    test('keep the order across pages, with and without a repeated order_by', async () => {
      const all = names((await repos('order_by=name%20desc&page_size=200')).json.repos)
      const first = (await repos('order_by=name%20desc&page_size=5')).json
      const second = (await repos(`page_size=5&page_token=${first.nextPageToken}`)).json
      const repeated = (await repos(`order_by=name%20desc&page_size=5&page_token=${first.nextPageToken}`)).json
      expect([...names(first.repos), ...names(second.repos)]).toEqual(all.slice(0, 10))
      expect(repeated.repos).toEqual(second.repos)
    })

    test('are not shifted by rows added or removed between pages', async () => {
      const first = (await repos('order_by=name&page_size=4')).json
      await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'aaa' })
      await remove(`/registry/v2/repos/${first.repos[0].uid}`)
      const second = (await repos(`order_by=name&page_size=4&page_token=${first.nextPageToken}`)).json
      expect(names(first.repos)).toEqual(['apko', 'busybox', 'go', 'jdk'])
      expect(names(second.repos)).toEqual(['large', 'nginx', 'node', 'php'])
    })

    test('restart the list after another order_by', async () => {
      const first = (await repos('order_by=name&page_size=4')).json
      const { json } = await repos(`order_by=name%20desc&page_size=4&page_token=${first.nextPageToken}`)
      expect(names(json.repos)).toEqual(['static', 'ruby', 'redis', 'python'])
    })

    test('reject other filters and foreign tokens', async () => {
      const first = (await repos('page_size=4')).json
      const other = await get(`/registry/v2/repos?page_size=4&page_token=${first.nextPageToken}`)
      expect(other.json.message).toBe('Invalid argument: page_token: was made for a listing with other filters')
      const forged = await repos(`page_token=${first.nextPageToken.slice(0, -3)}abc`)
      expect(forged.json.message).toBe('Invalid argument: page_token: is not valid')
    })

    test('are refused by another collection, whose columns may differ', async () => {
      for (const order of ['last_seen_time', 'name']) {
        const { nextPageToken } = (await get(`/iam/v2/identities?order_by=${order}&page_size=1`)).json
        const reply = await get(`/iam/v2/groups?page_token=${nextPageToken}`)
        expect(reply.json.message).toBe('Invalid argument: page_token: was made for a listing with other filters')
      }
    })

    test('expire after three days, and the list silently restarts (specification §8)', async () => {
      const first = (await repos('order_by=name&page_size=4')).json
      await call('POST', '/-/clock', { body: { advanceMs: 3 * DAY_MS - 1 } })
      const inTime = (await repos(`order_by=name&page_size=4&page_token=${first.nextPageToken}`)).json
      expect(names(inTime.repos)).toEqual(['large', 'nginx', 'node', 'php'])
      await call('POST', '/-/clock', { body: { advanceMs: 1 } })
      const late = await repos(`order_by=name&page_size=4&page_token=${first.nextPageToken}`)
      expect([late.status, late.json.repos]).toEqual([200, first.repos])
    })
  })

  describe('skip and skipped (specification §2, §4)', () => {
    test('drop rows, are echoed and keep the total', async () => {
      const { json } = await repos('order_by=name&page_size=2&skip=3')
      expect(names(json.repos)).toEqual(['jdk', 'large'])
      expect(json).toMatchObject({ skipped: 3, totalCount: (await repos('')).json.totalCount })
    })

    test('combine with a cursor and accumulate; a request without skip keeps the sum', async () => {
      const first = (await repos('order_by=name&page_size=2&skip=3')).json
      const second = (await repos(`order_by=name&page_size=2&skip=2&page_token=${first.nextPageToken}`)).json
      expect([names(second.repos), second.skipped]).toEqual([['php', 'postgres'], 5])
      const third = (await repos(`order_by=name&page_size=2&page_token=${second.nextPageToken}`)).json
      expect([names(third.repos), third.skipped]).toEqual([['python', 'redis'], 5])
    })

    test('give an empty page past the end', async () => {
      expect((await repos('skip=100')).json).toEqual({ repos: [], totalCount: (await repos('')).json.totalCount, skipped: 100 })
    })
  })

  describe('order_by (specification §4 rule 2)', () => {
    test('sorts by created_at desc, ties by uid', async () => {
      const { json } = await repos('order_by=created_at%20desc')
      expect(names(json.repos).slice(0, 3)).toEqual(['redis', 'postgres', 'node'])
      const tied = json.repos.filter(({ createTime }: { createTime: string }) => createTime === '2026-01-23T09:00:00.000Z')
      expect(tied[0].uid < tied[1].uid).toBe(true)
    })

    test('refuses an unknown field, a wrong direction and a second column', async () => {
      for (const order of ['colour', 'name sideways', 'name desc,uid', 'name desc uid']) {
        const reply = await repos(`order_by=${encodeURIComponent(order)}`)
        expect(reply.status).toBe(400)
        expect(reply.json.details[1].fieldViolations[0].field).toBe('order_by')
      }
    })
  })

  describe('uidp filters (semantics §1)', () => {
    test('take descendants_of as all below, children_of as the next level', async () => {
      const { organization } = sandbox()
      const groups = (query: string) => get(`/iam/v2/groups?order_by=name&${query}`)
      expect(names((await groups(`uidp.descendants_of=${organization}`)).json.groups)).toEqual([
        'payments',
        'payments-staging',
        'platform',
        'sandbox',
      ])
      expect(names((await groups(`uidp.childrenOf=${organization}`)).json.groups)).toEqual(['payments', 'platform', 'sandbox'])
    })

    test('take ancestors_of, in_root and ids as documented and combine with AND', async () => {
      const below = (await get(`/iam/v2/groups?name=payments-staging`)).json.groups[0].uid
      const groups = async (query: string) => names((await get(`/iam/v2/groups?${query}`)).json.groups)
      expect(await groups(`uidp.ancestors_of=${below}`)).toEqual(['example.com', 'payments', 'payments-staging'])
      expect(await groups('uidp.in_root=true')).toEqual(['example.com'])
      expect(await groups(`uidp.ids=${below}&uidp.ids=${sandbox().organization}`)).toEqual(['example.com', 'payments-staging'])
      expect(await groups(`uidp.ancestors_of=${below}&uidp.in_root=1`)).toEqual(['example.com'])
    })

    test('give an empty list for an invisible scope, not an error', async () => {
      const reply = await repos('', 'demo-outsider')
      expect([reply.status, reply.json.totalCount]).toEqual([200, '0'])
    })

    test("give without a scope the rows that the caller's bindings reach", async () => {
      expect(names((await get('/registry/v2/repos?order_by=name', 'demo-outsider')).json.repos)).toEqual(['gadget', 'widget'])
    })
  })

  describe('the gateway refuses malformed parameters (semantics §4.1)', () => {
    test.each([
      ['page_size=ten', 'parsing field "page_size": strconv.ParseInt: parsing "ten": invalid syntax'],
      ['page_size=99999999999', 'parsing field "page_size": strconv.ParseInt: parsing "99999999999": value out of range'],
      ['uidp.in_root=maybe', 'parsing field "in_root": strconv.ParseBool: parsing "maybe": invalid syntax'],
      ['name=a&name=b', 'too many values for field "name": a, b'],
    ])('%s', async (query, message) => {
      const reply = await get(`/registry/v2/repos?${query}`)
      expect([reply.status, reply.json]).toEqual([400, { code: 3, message, details: [] }])
    })

    test('but ignores unknown ones', async () => expect((await repos('colour=red')).status).toBe(200))
  })

  test('takes times from the clock of the sandbox', async () => {
    const { json } = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'now' })
    expect(Date.parse(json.createTime)).toBe(START)
  })
})

describe('paging', () => {
  type Named = Row & { readonly name: string }

  const world: World = {
    store: createStore(),
    clock: createClock(0),
    random: createRandom(1),
    options: { v1Dialect: 'specification', serviceDomain: 'example.test' },
    tokens: new Map(),
    baseUrl: () => '',
    pageKey: 'key',
  }

  const sortable = { uid: ({ uid }: Named) => uid, name: ({ name }: Named) => name }
  const byUid: Order = { name: 'uid', descending: false }

  const page = (rows: readonly Named[], parameters: Readonly<Record<string, string>>) => {
    const paging = readPaging(readQuery(Object.entries(parameters)), world, { sortable, order: byUid, filterKey: '' })
    return pageOf(world, sortRows(rows, paging.order, sortable), paging, sortable)
  }

  const walk = (rows: readonly Named[], sizes: readonly number[], parameters: Readonly<Record<string, string>>) => {
    const seen: Named[] = []
    let token: string | undefined = ''
    for (let index = 0; token !== undefined; index++) {
      const size = sizes[index % sizes.length]!
      const found = page(rows, { ...parameters, page_size: String(size), page_token: token })
      expect(found.totalCount).toBe(String(rows.length))
      expect(found.rows.length).toBeGreaterThan(rows.length === 0 ? -1 : 0)
      seen.push(...found.rows)
      token = found.nextPageToken
    }
    return seen
  }

  /** Few names, so that most rows tie. Uids are in ascending order, as in a table. */
  const rowSet = fc
    .uniqueArray(fc.record({ uid: fc.stringMatching(/^[0-9a-f]{4}$/), name: fc.constantFrom('a', 'b', 'c') }), {
      selector: ({ uid }) => uid,
      maxLength: 40,
    })
    .map((rows) => rows.sort((left, right) => (left.uid < right.uid ? -1 : 1)))

  test('returns every row once for any page sizes and order, ties by uid', () => {
    fc.assert(
      fc.property(
        rowSet,
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        fc.constantFrom('uid', 'uid desc', 'name', 'name desc'),
        (rows, sizes, order) => {
          const [field = 'uid', direction] = order.split(' ')
          const read = field === 'uid' ? sortable.uid : sortable.name
          const expected = [...rows].sort((left, right) => {
            const sign = direction === 'desc' ? -1 : 1
            if (read(left) !== read(right)) return read(left) < read(right) ? -sign : sign
            return left.uid < right.uid ? -1 : 1
          })
          expect(walk(rows, sizes, { order_by: order })).toEqual(expected)
        },
      ),
    )
  })

  test('neither repeats nor hides a row if another is added or removed between pages', () => {
    fc.assert(
      fc.property(rowSet, fc.integer({ min: 1, max: 5 }), fc.nat(), (rows, size, pick) => {
        const first = page(rows, { page_size: String(size) })
        if (first.nextPageToken === undefined) return
        const gone = rows[pick % rows.length]!
        const left = rows.filter((row) => row !== gone)
        const rest = page(left, { page_size: '200', page_token: first.nextPageToken })
        expect(rest.rows).toEqual(rows.slice(size).filter((row) => row !== gone))
      }),
    )
  })
})

describe('updates', () => {
  const { sandbox, call, get, patch } = running({}, { fresh: true })

  /** The repo `php`. It is not synced and has an overlay, so all of it can be changed. */
  const php = async () => (await get(`/registry/v2/repos?name=php&uidp.children_of=${sandbox().organization}`)).json.repos[0]

  describe('PATCH without a mask (specification §4 rule 5)', () => {
    test('changes the members present in the body and keeps the others', async () => {
      const before = await php()
      const { json } = await patch(`/registry/v2/repos/${before.uid}`, { description: 'new' })
      expect(json).toEqual({ ...before, description: 'new', updateTime: '2026-03-01T12:00:00.000Z' })
    })

    test('resets explicit empty values', async () => {
      const before = await php()
      const { json } = await patch(`/registry/v2/repos/${before.uid}`, { description: '', bundles: [], customOverlay: null })
      expect(json).not.toHaveProperty('description')
      expect(json).not.toHaveProperty('bundles')
      expect(json).not.toHaveProperty('customOverlay')
      expect(json.aliases).toEqual(before.aliases)
    })

    test('changes only the present members of a sub-message', async () => {
      const before = await php()
      const { json } = await patch(`/registry/v2/repos/${before.uid}`, { custom_overlay: { environment: { A: '1' } } })
      expect(json.customOverlay).toEqual({ ...before.customOverlay, environment: { A: '1' } })
    })

    test('is refused by the gateway for an unknown member', async () => {
      const reply = await patch(`/registry/v2/repos/${(await php()).uid}`, { colour: 'red' })
      expect([reply.status, reply.json]).toEqual([
        400,
        { code: 3, message: 'could not find field "colour" in "chainguard.platform.registry.v2.Repo"', details: [] },
      ])
    })

    test('changes nothing with an empty body, not even the time', async () => {
      const before = await php()
      expect((await patch(`/registry/v2/repos/${before.uid}`, {})).json).toEqual(before)
      expect((await call('PATCH', `/registry/v2/repos/${before.uid}`)).json).toEqual(before)
    })

    test('ignores echoed output-only members; the path wins over the uid', async () => {
      const before = await php()
      const echo = { ...before, uid: 'other', createTime: '2000-01-01T00:00:00Z' }
      const { json } = await patch(`/registry/v2/repos/${before.uid}`, echo)
      expect(json).toEqual({ ...before, updateTime: '2026-03-01T12:00:00.000Z' })
    })
  })

  describe('PATCH with updateMask', () => {
    test('changes the listed members only, whatever else the body holds', async () => {
      const before = await php()
      const body = { name: 'NOT ALLOWED', description: 'new', catalogTier: 'CATALOG_TIER_BASE' }
      const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=description,catalog_tier`, body)
      expect(json).toMatchObject({ name: 'php', description: 'new', catalogTier: 'CATALOG_TIER_BASE' })
    })

    test('reads both spellings of parameter and path', async () => {
      const before = await php()
      const { json } = await patch(`/registry/v2/repos/${before.uid}?update_mask=catalogTier,activeTags`, {
        catalogTier: 'CATALOG_TIER_BASE',
      })
      expect(json).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE', description: before.description })
      expect(json).not.toHaveProperty('activeTags')
    })

    test('resets a listed member that the body lacks, also inside a sub-message', async () => {
      const before = await php()
      const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=custom_overlay.environment`, {})
      const { environment: _environment, ...rest } = before.customOverlay
      expect(json.customOverlay).toEqual(rest)
    })

    test('replaces everything that a client can set with *', async () => {
      const before = await php()
      const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=*`, { name: 'php' })
      expect(json).toEqual({ uid: before.uid, name: 'php', createTime: before.createTime, updateTime: '2026-03-01T12:00:00.000Z' })
    })

    test('requires the required members with *', async () => {
      const reply = await patch(`/registry/v2/repos/${(await php()).uid}?updateMask=*`, { description: 'x' })
      expect(reply.json.message).toBe('Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"')
    })

    test.each([
      ['colour', 'update_mask: unknown path "colour"'],
      ['*,name', 'update_mask: the wildcard "*" cannot be combined with other paths'],
      ['bundles.first', 'update_mask: unknown path "bundles.first"'],
    ])('rejects %s', async (mask, text) => {
      const reply = await patch(`/registry/v2/repos/${(await php()).uid}?updateMask=${mask}`, { name: 'php' })
      expect([reply.status, reply.json.message]).toEqual([400, `Invalid argument: ${text}`])
    })

    test('ignores paths to output-only members', async () => {
      const before = await php()
      const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=uid,create_time`, { uid: 'x' })
      expect(json).toMatchObject({ uid: before.uid, createTime: before.createTime })
    })
  })

  test('answers NOT_FOUND for a missing resource', async () => {
    expect((await patch(`/registry/v2/repos/${sandbox().organization}/0123456789abcdef`, { description: 'x' })).status).toBe(404)
  })

  test('answers ALREADY_EXISTS for a new name that is taken', async () => {
    expect((await patch(`/registry/v2/repos/${(await php()).uid}`, { name: 'python' })).status).toBe(409)
  })
})
