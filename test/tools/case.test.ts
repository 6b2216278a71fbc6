import vm from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Comparison, Exhibit } from '../../src/migrate/records/record.ts'
import { caseText, playCase } from '../../src/tools/play-case.ts'
import { holds } from '../properties/forms.ts'

describe('case text', () => {
  /** Texts that try to end a comment, a string or a call, and to run. */
  const hostile = fc.oneof(
    fc.constantFrom(
      '\nhit()\n//',
      '\r\nhit()//',
      '\u2028hit()\u2028',
      '*/hit()/*',
      "'+hit()+'",
      '"+hit()+"',
      `\`$\u007bhit()}\``,
      "\\'+hit()+\\'",
      '</script>',
      '__proto__',
      '\u202ehit()',
    ),
    fc.string({ unit: 'binary' }),
  )
  const json = fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' })
  const anything = fc.oneof(hostile, json)

  const records = fc.record({
    id: anything,
    at: hostile,
    request: fc.option(fc.record({ method: anything, url: anything }), { nil: undefined }),
    operation: anything,
    exhibit: fc.oneof(
      fc.record({
        dialect: anything,
        operation: anything,
        params: fc.dictionary(hostile, anything),
        query: anything,
        v1: anything,
        v2: anything,
      }),
      json.filter(Boolean),
    ),
    totals: fc.array(fc.record({ kind: anything, where: anything, count: anything })),
  })

  it('a hostile record becomes a test that only plays its values', () => {
    holds(records, (record) => {
      const text = caseText(JSON.parse(JSON.stringify(record)) as Comparison) ?? ''
      const [imports, rest] = [text.match(/^import .*$/gm), text.replaceAll(/^import .*$/gm, '')]
      expect(imports).toEqual([
        `import assert from 'node:assert/strict'`,
        `import { it } from 'node:test'`,
        `import { playCase } from 'crosswalk/case'`,
      ])
      const played: unknown[] = []
      const told: unknown[] = []
      let hits = 0
      vm.runInNewContext(rest, {
        hit: () => (hits += 1),
        it: (name: string, run: () => unknown) => told.push(name, run()),
        playCase: (exhibit: unknown) => played.push(exhibit),
        assert: { deepEqual: () => {} },
      })
      expect([hits, told.length, played.length]).toEqual([0, 2, 1])
      expect(JSON.stringify(played[0])).toBe(JSON.stringify(record.exhibit))
    })
  })

  it('keeps a key named __proto__ as data', () => {
    const body = JSON.parse('{"claims":{"__proto__":"a \\"__proto__\\": b"}}') as object
    const text = caseText({ exhibit: { v1: { status: 200, body } }, totals: [] } as unknown as Comparison) ?? ''
    let played = ''
    vm.runInNewContext(text.replaceAll(/^import .*$/gm, ''), {
      it: (_: string, run: () => unknown) => run(),
      playCase: (exhibit: unknown) => (played = JSON.stringify(exhibit)),
      assert: { deepEqual: () => {} },
    })
    expect(played).toBe(JSON.stringify({ v1: { status: 200, body } }))
  })

  it('a record whose operation is no text still becomes a test', () => {
    const record = { id: 1, at: [], operation: [{ toString: false }], exhibit: {}, totals: [] } as unknown as Comparison
    expect(caseText(record)).toContain('it("[{\\"toString\\":false}] as recorded [], 1", async')
  })
})

describe('play case', () => {
  const ROLE = { uid: 'a'.repeat(40), name: 'viewer', createTime: '2026-01-05T08:00:00Z', updateTime: '2026-01-05T08:00:00Z' }
  const PATH = '/iam/v2/roles'

  function exhibit(v2: Exhibit['v2'], name = 'viewer'): Exhibit {
    const times = { created_at: '2026-01-05T08:00:00Z', updated_at: '2026-01-05T08:00:00Z' }
    const body = { items: [{ id: ROLE.uid, name, description: '', capabilities: [], ...times }] }
    return { dialect: 'specification', operation: 'iam.roles.list', params: {}, query: [], v1: { status: 200, body }, v2 }
  }

  const page = (body: object, status = 200) => ({ method: 'GET', path: PATH, status, body })

  it('finds no difference where v2 answers what v1 answered', async () => {
    expect(await playCase(exhibit([page({ roles: [ROLE], totalCount: '1' })]))).toEqual([])
  })

  it('counts each difference by its place', async () => {
    expect(await playCase(exhibit([page({ roles: [ROLE], totalCount: '1' })], 'editor'))).toEqual([
      { kind: 'value', where: '/items/*/name', count: 1 },
    ])
  })

  it('answers later pages from later answers of the record', async () => {
    const pages = [page({ roles: [], totalCount: '1', nextPageToken: 'page-1' }), page({ roles: [ROLE], totalCount: '1', skipped: 0 })]
    expect(await playCase(exhibit(pages))).toEqual([])
  })

  it('plays an error of v2', async () => {
    const refused = page({ code: 7, message: 'no', details: [] }, 403)
    expect(await playCase(exhibit([refused]))).toEqual([{ kind: 'status', where: '', count: 1 }])
  })

  it('names a call that the record lacks', async () => {
    await expect(playCase(exhibit([]))).rejects.toThrow(
      'The tables now ask GET /iam/v2/roles, and the record has no answer to it: record the mismatch again.',
    )
  })

  it('names an operation that the tables lack', async () => {
    await expect(playCase({ ...exhibit([]), operation: 'iam.rolls.list' })).rejects.toThrow('The tables have no operation iam.rolls.list')
  })

  it('plays with the tables that it is given', async () => {
    await expect(playCase(exhibit([]), { mappings: [], differences: [] })).rejects.toThrow('The tables have no operation iam.roles.list')
  })
})
