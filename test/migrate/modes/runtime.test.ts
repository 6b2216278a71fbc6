import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../../src/migrate/clients.ts'
import { ALL_V2, type ModeRules } from '../../../src/migrate/modes/rules.ts'
import { until } from '../../stage/clocks.ts'
import { bearer, NOWHERE, type Stage, startStage, type TestProxy } from '../../stage/stage.ts'

describe('runtime', () => {
  describe('the admin port', () => {
    let stage: Stage
    const put = async (body: string, type = 'application/json') => {
      const answer = await fetch(`${stage.adminUrl}/modes`, { method: 'PUT', body, headers: { 'content-type': type } })
      return { status: answer.status, body: (await answer.json()) as { message?: string } }
    }
    const served = async () => {
      await stage.clearJournal()
      await stage.request('GET', '/registry/v1/repos?limit=1')
      return (await stage.journal())[0]?.path.split('/')[2]
    }

    it('shows the modes and changes them for the next request', async () => {
      stage = await startStage()
      expect(await (await fetch(`${stage.adminUrl}/modes`)).json()).toEqual({
        ...ALL_V2,
        version: 1,
        changed: { at: expect.any(String), by: { source: 'start' } },
      })
      expect(await served()).toBe('v2')
      const rules: ModeRules = { default: 'v2', rules: [{ operations: 'registry.*', clients: '*', mode: 'v1' }], testers: [] }
      const changed = { at: expect.any(String), by: { source: 'admin', address: '127.0.0.1' } }
      expect(await put(JSON.stringify(rules))).toEqual({ status: 200, body: { ...rules, version: 2, changed } })
      const shown = await (await fetch(`${stage.adminUrl}/modes`)).json()
      expect(shown).toEqual({ ...rules, version: 2, changed })
      expect(await put(JSON.stringify(shown))).toMatchObject({ status: 200, body: { ...rules, version: 3 } })
      expect(await served()).toBe('v1')
    })

    it.each([
      ['{"default":"v3"}', 'The modes are wrong: default must be one of v1, v2, diff-v1, diff-v2.'],
      ['[]', 'The modes are wrong: must be an object {"default", "rules", "testers"}.'],
      ['{', "Body is not valid JSON but content-type is set to 'application/json'"],
    ])('refuses %s and keeps the modes', async (body, message) => {
      stage = await startStage()
      expect(await put(body)).toEqual({ status: 400, body: { code: 3, message, details: [] } })
      expect(await served()).toBe('v2')
    })

    it('refuses modes that need a v1 service if there is none', async () => {
      stage = await startStage({ v1: null })
      expect((await put('{"default":"diff-v1"}')).body.message).toMatch(/^The modes need a v1 service: /)
    })

    it('shows as many comparisons of an operation as requested', async () => {
      stage = await startStage({ mode: 'diff-v1' })
      await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } })
      await stage.request('GET', '/registry/v1/repos')
      await stage.request('GET', '/registry/v1/repos?limit=5')
      await stage.settled()
      const comparisons = async (query: string) => (await fetch(`${stage.adminUrl}/comparisons?${query}`)).json()
      const shown = (await comparisons('operation=registry.repos.list')) as { shape: string }[]
      // Both are compared at once, and either may be the first to end.
      expect(shown.toSorted((one, other) => one.shape.length - other.shape.length)).toMatchObject([
        { outcome: 'mismatch', shape: 'registry.repos.list' },
        { outcome: 'mismatch', shape: 'registry.repos.list?limit=small', totals: [{ kind: 'value', where: '/items/*/name', count: 1 }] },
      ])
      expect(await comparisons('limit=1')).toHaveLength(1)
      expect(await comparisons('operation=iam.groups.list')).toEqual([])
      expect(await comparisons('limit=0')).toMatchObject({ code: 3, message: expect.stringContaining('limit: ') })
    })
  })

  it('a tester chooses the mode of a request, and other callers cannot', async () => {
    const stage = await startStage()
    await stage.request('GET', '/iam/v1/groups')
    const [{ caller }] = (await (await fetch(`${stage.adminUrl}/clients`)).json()) as [{ caller: string }]
    await stage.setModes({ testers: [caller] })
    const side = async (token: string, mode: string) => {
      await stage.clearJournal()
      const { status } = await stage.request('GET', '/iam/v1/groups', { token, headers: { 'x-crosswalk-mode': mode } })
      return status === 200 ? (await stage.journal())[0]?.path.split('/')[2] : status
    }
    const { owner, viewer } = stage.sandbox.tokens
    expect([await side(owner, 'v1'), await side(viewer, 'v1'), await side(owner, 'v3'), await side(viewer, 'v3')]).toEqual([
      'v1',
      'v2',
      400,
      'v2',
    ])
  })

  it('a change of modes does not affect requests under way', async () => {
    let answer = () => {}
    let tell = () => {}
    const arrived = new Promise<void>((resolve) => {
      tell = resolve
    })
    const proxy = await startStage({
      v1: (_, response) => void response.end('{"items":[],"from":"v1"}'),
      v2: (_, response) => {
        answer = () => void response.end('{"groups":[],"nextPageToken":""}')
        tell()
      },
    })
    const get = async () => (await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer('t') })).json()
    const before = get()
    await arrived
    await fetch(`${proxy.adminUrl}/modes`, { method: 'PUT', body: '{"default":"v1"}', headers: { 'content-type': 'application/json' } })
    expect(await get()).toEqual({ items: [], from: 'v1' })
    answer()
    expect(await before).toEqual({ items: [] })
  })
})

describe('a read', () => {
  let stage: Stage

  const REPOS = '/registry/v1/repos?order_by=name'

  it.each(['v1', 'v2', 'diff-v1', 'diff-v2'] as const)('in mode %s has the same answer', async (mode) => {
    stage = await startStage()
    const before = await stage.request('GET', REPOS)
    await stage.clearJournal()
    await stage.setModes({ default: mode })
    const { status, body } = await stage.request('GET', REPOS)
    expect([status, body]).toEqual([200, before.body])
    await stage.settled()
    const sides = new Set((await stage.journal()).map(({ path }) => path.split('/')[2]))
    const asked = { v1: ['v1'], v2: ['v2'], 'diff-v1': ['v1', 'v2'], 'diff-v2': ['v1', 'v2'] }[mode]
    expect([...sides].sort()).toEqual(asked)
    const { operations } = await stage.evidence()
    expect(operations.map(({ operation, matches, mismatches }) => ({ operation, matches, mismatches }))).toEqual(
      asked.length === 2 ? [{ operation: 'registry.repos.list', matches: 1, mismatches: 0 }] : [],
    )
  })
})

describe('restart', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-restart-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  it('evidence, clients and declarations are restored from the records after a restart', async () => {
    const settings = { modes: { ...ALL_V2, default: 'diff-v1' as const }, 'records.file': join(directory, 'records.ndjson') }
    const first = await startStage({ proxy: settings })
    await first.request('GET', '/iam/v1/groups')
    await first.request('GET', '/registry/v1/repos?limit=x')
    await first.request('GET', '/registry/v1/vuln_reports')
    await first.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } })
    await first.request('GET', '/registry/v1/repos')
    await first.settled()
    const before = await first.evidence()
    const clients = async (url: string) => (await fetch(`${url}/clients`)).json()
    const [known] = (await clients(first.adminUrl)) as { caller: string; calls: number; mismatches: number }[]
    await first.close()
    appendFileSync(settings['records.file'], '{"kind":"comparison","torn')

    const second = await startStage({ proxy: settings })
    const after = await second.evidence()
    const untimed = ({ sameAt, wrongAt, ...kind }: { sameAt?: number; wrongAt?: number }) => kind
    const counted = ({ operations }: typeof before) =>
      operations.map(({ circuit, firstAt, lastAt, kinds, ...evidence }) => ({ ...evidence, kinds: kinds?.map(untimed) }))
    expect(counted(after)).toEqual(counted(before))
    expect(after.traffic).toEqual(before.traffic)
    expect(after.declarations).toEqual(before.declarations)
    expect(await clients(second.adminUrl)).toMatchObject([{ caller: known?.caller, calls: 4, mismatches: 1, couldMove: false }])
    await second.close()
    expect(readFileSync(settings['records.file'], 'utf8')).toContain('"what":"restart"')
  })

  it('what the record file lost is told once it is written again', async () => {
    const folder = join(directory, 'lost')
    const file = join(folder, 'records.ndjson')
    mkdirSync(folder)
    const stage = await startStage({ proxy: { 'records.file': file } })
    rmSync(folder, { recursive: true })
    await stage.setModes({ default: 'v1' })
    await until(async () => (await (await fetch(`${stage.adminUrl}/metrics`)).text()).includes('crosswalk_records_dropped_total 1'))
    mkdirSync(folder)
    await stage.setModes({ default: 'v2' })
    await until(async () => existsSync(file))
    await stage.close()
    expect(readFileSync(file, 'utf8')).toMatch(/"what":"records-lost","text":"records\.file lost 1 record since this process started/)
  })

  it('the kinds of requests of a client are restored, and a secret is in no record', async () => {
    const file = join(directory, 'kinds.ndjson')
    const settings = { modes: { ...ALL_V2, default: 'v1' as const }, 'records.file': file }
    const first = await startStage({ proxy: settings })
    const org = first.sandbox.organization
    for (const limit of [5, 7, 500]) await first.request('GET', `/iam/v1/groups?limit=${limit}&hunter1=hunter2`)
    await first.request('GET', '/iam/v1/roles?name=hunter3')
    await first.request('PUT', `/iam/v1/groups/${org}`, { body: { name: 'hunter4' } })
    await first.setModes({ default: 'v2' })
    await first.request('PUT', `/iam/v1/groups/${org}`, { body: { name: 'demo', description: 'hunter5' } })
    await first.request('GET', '/libraries/v1/artifacts?ecosystems=GO')
    await first.settled()
    const clients = async (url: string) => (await (await fetch(`${url}/clients`)).json()) as readonly Client[]
    const before = await clients(first.adminUrl)
    await first.close()
    expect(readFileSync(file, 'utf8')).not.toContain('hunter')

    const second = await startStage({ proxy: settings })
    const [after] = await clients(second.adminUrl)
    await second.close()
    expect(after?.operations.map(({ requests }) => requests)).toEqual(before[0]?.operations.map(({ requests }) => requests))
    const kinds = (id: string) => after?.operations.find(({ operation }) => operation === id)?.requests
    expect(kinds('iam.groups.list')).toMatchObject([
      { samples: 2, query: [['limit', '5']], unknown: 1 },
      { samples: 1, query: [['limit', '500']] },
    ])
    expect(kinds('iam.roles.list')).toMatchObject([{ query: [['name']] }])
    expect(kinds('iam.groups.update')).toMatchObject([{ path: [['id', org]] }, { members: ['name', 'description'] }])
    expect(kinds('libraries.artifacts.list?ecosystems')).toMatchObject([{ query: [['ecosystems', 'GO']] }])
  })

  it('a change of modes is recorded without the names of clients', async () => {
    const file = join(directory, 'notes.ndjson')
    const stage = await startStage({ proxy: { 'records.file': file } })
    const rule = {
      operations: 'registry.*',
      clients: ['alice@example.com'],
      mode: 'diff-v1' as const,
      canary: { percent: 10, mode: 'v2' as const },
    }
    await stage.setModes({ rules: [rule] })
    await stage.close()
    const notes = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(notes).toEqual([
      {
        id: expect.any(String),
        nth: expect.any(Number),
        kind: 'note',
        at: expect.any(String),
        what: 'modes',
        text: 'file test: registry.* for 1 client: no rule → diff-v1, 10 % v2; default: unchanged',
        by: { source: 'file', path: 'test' },
        from: 'everything else v2',
        to: 'registry.* for 1 client diff-v1, 10 % v2; everything else v2',
        version: 2,
        epoch: expect.any(String),
      },
    ])
  })
})

describe('change', () => {
  const tokens = [
    { name: 'alice', token: 'the-token-of-alice' },
    { name: 'bob', token: 'the-token-of-bob-1' },
  ]
  const nowhere = { v1: NOWHERE, v2: NOWHERE, proxy: { 'admin.tokens': tokens } }

  let proxy: TestProxy
  beforeAll(async () => {
    proxy = await startStage(nowhere)
  })

  const ask = async (init: RequestInit & { readonly who?: string } = {}, { adminUrl } = proxy) => {
    const { who = 'the-token-of-alice', headers, ...rest } = init
    const answer = await fetch(`${adminUrl}/modes`, {
      ...rest,
      headers: { 'content-type': 'application/json', ...bearer(who), ...headers },
    })
    const body = (await answer.json()) as { version: number; changed: { at: string; by: object }; message?: string; code?: number }
    return { status: answer.status, etag: answer.headers.get('etag') ?? '', body }
  }
  const put = (mode: string, ifMatch?: string, who?: string) =>
    ask({
      method: 'PUT',
      body: JSON.stringify({ default: mode }),
      ...(ifMatch !== undefined && { headers: { 'if-match': ifMatch } }),
      ...(who !== undefined && { who }),
    })

  describe('the configuration file', () => {
    const FILE = 'crosswalk.json'
    const rulesOf = (mode: 'v1' | 'v2' | 'diff-v1') => ({ default: mode, rules: [], testers: [] })
    const withFile = async () => {
      const started = await startStage({ ...nowhere, mode: 'diff-v1', file: FILE })
      const change = (mode: 'v1' | 'v2' | 'diff-v1') => ask({ method: 'PUT', body: JSON.stringify(rulesOf(mode)) }, started)
      const metric = async () =>
        (await (await fetch(`${started.adminUrl}/metrics`, { headers: bearer('the-token-of-alice') })).text())
          .split('\n')
          .find((line) => line.startsWith('crosswalk_modes_drift'))
      return { started, change, metric }
    }

    it('is named as long as other modes than its own are active', async () => {
      const { started, change, metric } = await withFile()
      expect((await ask({}, started)).body).toMatchObject({ changed: { by: { source: 'start', path: FILE } } })
      expect((await ask({}, started)).body).not.toHaveProperty('drift')
      expect(await metric()).toBe('crosswalk_modes_drift 0')
      const { body } = await change('v1')
      expect(body).toHaveProperty(
        'drift',
        'The configuration (crosswalk.json) says: everything else diff-v1. Other rules were put by admin port, token alice, from 127.0.0.1. A restart, or a change of the file, brings the former back.',
      )
      expect((await ask({}, started)).body).toEqual(body)
      expect(await metric()).toBe('crosswalk_modes_drift 1')
      expect((await change('diff-v1')).body).not.toHaveProperty('drift')
      expect(await metric()).toBe('crosswalk_modes_drift 0')
    })

    it('replaces what was put, and the note says so', async () => {
      const { started, change } = await withFile()
      await change('v1')
      started.changeModes(rulesOf('v2'), { source: 'file', path: FILE })
      expect((await ask({}, started)).body).not.toHaveProperty('drift')
      const { msg } = await started.logged(({ version }) => version === 3)
      expect(msg).toBe(
        'the modes changed: file crosswalk.json (it replaces what was put by admin port, token alice, from 127.0.0.1): default: v1 → v2',
      )
    })
  })

  describe('a change of modes', () => {
    it('has a version, a tag and the name of the token that made it', async () => {
      const before = await ask()
      const changed = await put('v1', before.etag, 'the-token-of-bob-1')
      expect(changed).toMatchObject({ status: 200, body: { version: before.body.version + 1 } })
      expect(changed.body.changed).toEqual({ at: expect.any(String), by: { source: 'admin', token: 'bob', address: '127.0.0.1' } })
      expect(changed.etag).not.toBe(before.etag)
      expect(await ask()).toEqual({ ...changed })
    })

    it('changes nothing if somebody else changed the modes before', async () => {
      const { etag } = await ask()
      const first = await put('diff-v1', etag)
      const second = await put('v2', etag, 'the-token-of-bob-1')
      expect(second).toMatchObject({ status: 412, etag: first.etag, body: { code: 9, details: [] } })
      expect(second.body.message).toBe(
        `the modes are at version ${first.body.version} since ${first.body.changed.at} (admin port, token alice, from 127.0.0.1); read them again`,
      )
      expect((await ask()).body).toEqual(first.body)
    })

    it.each(['*', '"other", %', 'W/%', undefined])('takes If-Match %j', async (header) => {
      const { etag } = await ask()
      expect((await put('v1', header?.replace('%', etag))).status).toBe(200)
    })

    it.each([
      ['"other"', 412],
      ['%x', 400],
    ])('refuses If-Match %j with %i', async (header, status) => {
      const before = await ask()
      expect((await put('v2', header.replace('%', before.etag))).status).toBe(status)
      expect(await ask()).toEqual(before)
    })

    it('is made by one of 40 that bring the same tag', async () => {
      const { etag, body } = await ask()
      const ends = await Promise.all(Array.from({ length: 40 }, (_, nth) => put(nth % 2 === 0 ? 'v1' : 'diff-v2', etag)))
      expect(ends.map(({ status }) => status).filter((status) => status !== 412)).toEqual([200])
      expect((await ask()).body.version).toBe(body.version + 1)
    })

    it('is a note that says from what to what, and by whom', async () => {
      await put('v1')
      const { body } = await ask({ method: 'PUT', body: '{"default":"v1","rules":[{"operations":"iam.*","mode":"diff-v1"}]}' })
      const { time: _, ...line } = await proxy.logged(({ version }) => version === body.version)
      expect(line).toEqual({
        level: 30,
        what: 'modes',
        by: { source: 'admin', token: 'alice', address: '127.0.0.1' },
        from: 'everything else v1',
        to: 'iam.* diff-v1; everything else v1',
        version: body.version,
        msg: 'the modes changed: admin port, token alice, from 127.0.0.1: iam.*: no rule → diff-v1; default: unchanged',
      })
    })

    it('has another tag than any of a process before', async () => {
      const other = await startStage(nowhere)
      const tags = [(await ask({}, other)).etag, (await ask()).etag].map((tag) => tag.replace(/-\d+"$/, ''))
      await other.close()
      expect(new Set(tags).size).toBe(2)
    })
  })
})

describe('paging', () => {
  let stage: Stage

  const TAGS = '/registry/v1/eoltags?page_size=5'

  /** Reads every page of a list by the tokens that the client is given. */
  async function pages(most = 4): Promise<string[]> {
    const ids: string[] = []
    let token = ''
    for (let nth = 0; nth < most; nth += 1) {
      const { body } = await stage.request('GET', `${TAGS}${token && `&page_token=${encodeURIComponent(token)}`}`)
      ids.push(...body.items.map(({ id }: { id: string }) => id))
      await stage.settled()
      token = body.next_page_token
    }
    return ids
  }

  /** Returns the tokens that each side received, and whether the other side had issued them. */
  async function tokens(side: 'v1' | 'v2') {
    const journal = await stage.journal()
    return journal.filter(({ path }) => path.startsWith(`/registry/${side}/`)).flatMap(({ query }) => query.page_token ?? [])
  }

  describe.each(['diff-v1', 'diff-v2'] as const)('a list read page by page in mode %s', (mode) => {
    it('is compared page by page, each side by its own tokens', async () => {
      stage = await startStage({ mode, proxy: { emulated: 'v2', 'diff.learnEvery': 0 } })
      const ids = await pages()
      expect(new Set(ids).size).toBe(20)
      const { operations, skipped } = await stage.evidence()
      expect(operations).toMatchObject([{ operation: 'registry.eol_tags.list', comparisons: 4, mismatches: 0, errors: 0, inconclusive: 0 }])
      expect(skipped.pageToken).toBe(0)
      const [v1, v2] = [new Set(await tokens('v1')), new Set(await tokens('v2'))]
      expect(v1.size).toBe(3)
      expect(v2.size).toBe(3)
      expect([...v1].filter((token) => v2.has(token))).toEqual([])
    })

    it('is served, not compared, and counted if its token is unknown', async () => {
      stage = await startStage({ proxy: { emulated: 'v2', modes: ALL_V2 } })
      const { body } = await stage.request('GET', TAGS)
      await stage.setModes({ default: mode })
      await stage.request('GET', `${TAGS}&page_token=${encodeURIComponent(body.next_page_token)}`)
      await stage.settled()
      const { operations, skipped } = await stage.evidence()
      expect([operations.map(({ n }) => n), skipped.pageToken]).toEqual(mode === 'diff-v2' ? [[0], 1] : [[], 0])
    })
  })

  it('a list stays with the side that began it, whatever the modes are by then', async () => {
    stage = await startStage({ proxy: { emulated: 'v2', modes: ALL_V2 } })
    const first = await stage.request('GET', TAGS)
    await stage.setModes({ default: 'v1' })
    await stage.clearJournal()
    const second = await stage.request('GET', `${TAGS}&pageToken=${encodeURIComponent(first.body.next_page_token)}`)
    expect(second.body.items).toHaveLength(5)
    expect((await stage.journal()).map(({ path }) => path.split('/')[2])).toEqual(['v2'])
    await stage.clearJournal()
    await stage.request('GET', TAGS)
    expect((await stage.journal()).map(({ path }) => path.split('/')[2])).toEqual(['v1'])
  })
})
