import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { effectOn, forMost } from '../../src/admin/report/commands.ts'
import { type ExampleReport, Examples, Steps } from '../../src/admin/report/difference.ts'
import type { InForce } from '../../src/admin/report/history.ts'
import { createReporter, heldAgainst, type Report, readOlderReport, readReport } from '../../src/admin/report/report.ts'
import { createReportMaker, pageOf } from '../../src/admin/report-page.ts'
import { wordsOf } from '../../src/admin/web/words.ts'
import { createInventory } from '../../src/migrate/clients.ts'
import { createExpected } from '../../src/migrate/compare/expected.ts'
import { createEvidence } from '../../src/migrate/evidence/evidence.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import { createSelect } from '../../src/migrate/modes/select.ts'
import type { Comparison } from '../../src/migrate/records/record.ts'
import { operations } from '../migrate/given.ts'
import { startStage } from '../stage/stage.ts'
import { comparison, folder, HOUR, inForce, lines, note, reportOf, START, shows, sources, traffic, week } from './report-stage.ts'

describe('report', () => {
  const TIER = { kind: 'value', at: '/items/3/catalog_tier', where: '/items/*/catalog_tier', v1: 'APPLICATION', v2: 'BASE' } as const

  function operation({ operations }: Report, id = 'registry.repos.list') {
    const found = operations.find((one) => one.operation === id)
    if (!found) throw new Error(`no ${id} in the report`)
    return found
  }

  describe('a report', () => {
    it('without entries says that nothing is known', async () => {
      expect(await reportOf([])).toMatchObject({
        ready: false,
        operations: [],
        clients: [],
        read: { entries: 0, skipped: 0 },
        timeline: { steps: [], notes: [] },
      })
    })

    it('has every operation with traffic, its counts, and its bound over time', async () => {
      const bad = comparison(3, { outcome: 'mismatch', ...shows(TIER, 7) })
      const report = await reportOf([traffic('a', 'iam.groups.list', 5), comparison(1), comparison(2), bad])
      expect(report).toMatchObject({ ready: false, span: { from: START, to: START + 3_000 }, read: { entries: 4 } })
      expect(operation(report)).toMatchObject({
        standing: 'outside',
        n: 3,
        matches: 2,
        mismatches: 1,
        kind: 'composed',
        callers: 3,
        shapes: 1,
      })
      expect(operation(report).trend.map(({ n, bad: wrong }) => [n, wrong])).toEqual([
        [1, 0],
        [2, 0],
        [3, 1],
      ])
      expect(operation(report).trend.at(-1)?.bound).toBe(operation(report).bound)
      expect(operation(report, 'iam.groups.list')).toMatchObject({
        standing: 'inconclusive',
        n: 0,
        calls: 5,
        modes: ['diff-v1'],
        trend: [],
      })
    })

    it('is ready if every operation is inside, and only then', async () => {
      const clean = Array.from({ length: 3_400 }, (_, nth) => comparison(nth))
      expect((await reportOf(clean)).ready).toBe(true)
      expect((await reportOf([...clean, traffic('a', 'iam.groups.list', 1)])).ready).toBe(false)
      expect((await reportOf(clean, { target: 0.0001 })).ready).toBe(false)
    })

    it('shows equal examples of one caller once, with the times of all', async () => {
      const around = { at: '/items/3', path: ['catalog_tier'], v1: { catalog_tier: 'APPLICATION' }, v2: { catalog_tier: 'BASE' } }
      const example = { ...TIER, row: 'r', around } as const
      const mismatch = (nth: number, members: Partial<Comparison> = {}) =>
        comparison(nth, {
          outcome: 'mismatch',
          at: new Date(START + nth * HOUR).toISOString(),
          caller: 'one',
          request: { method: 'GET', url: `/registry/v1/repos?limit=${nth}` },
          ...shows(example),
          ...members,
        })
      const report = await reportOf([
        mismatch(1),
        mismatch(2, { mode: 'diff-v2', replica: 'b' }),
        mismatch(3, { caller: 'two' }),
        mismatch(4, shows({ ...example, v2: 'OTHER' })),
        mismatch(5),
      ])
      const { examples } = operation(report).differences[0]!
      expect(examples.map(({ id, equal }) => [id, equal?.map((one) => one.id)])).toEqual([
        ['c5', ['c2', 'c1']],
        ['c4', undefined],
        ['c3', undefined],
      ])
      expect(examples[0]).toMatchObject({ request: { url: '/registry/v1/repos?limit=5' }, row: 'r', around })
      expect(examples[0]?.equal?.[0]).toEqual({
        id: 'c2',
        at: START + 2 * HOUR,
        mode: 'diff-v2',
        replica: 'b',
        request: { method: 'GET', url: '/registry/v1/repos?limit=2' },
        v1Side: { status: 200, ms: 12 },
        v2Side: { status: 200, ms: 20 },
      })
    })

    it('shows both answers of a request that v2 failed', async () => {
      const answers = { at: '', v1: { items: [] }, v2: { code: 14, message: 'text-4-0123abcd' } }
      const report = await reportOf([
        comparison(1, { outcome: 'error', reason: 'v2 answered HTTP 503', v2: { status: 503, code: 14 }, answers }),
      ])
      expect(operation(report).differences[0]?.examples).toMatchObject([{ around: answers, v2Side: { status: 503 } }])
    })

    it('counts thousands of identical requests once', async () => {
      const polls = Array.from({ length: 500 }, (_, nth) => comparison(nth, { caller: 'one' }))
      expect(operation(await reportOf(polls))).toMatchObject({ comparisons: 500, repeats: { n: 499 }, n: 1, trend: [{ n: 1 }] })
    })

    it('draws the bound of the observations that count, whichever replica or lost file has the first of a pair', async () => {
      const one = (nth: number, members: Partial<Comparison>) => comparison(nth, { caller: 'one', ...members })
      const wrong = { outcome: 'mismatch', ...shows(TIER) } as const
      const replicas = operation(await reportOf([one(1, { replica: 'a' }), one(2, { replica: 'b', ...wrong })]))
      const cut = operation(await reportOf([one(2, { repeat: true, ...wrong })]))
      for (const { n, bad, bound, trend } of [replicas, cut]) expect(trend.at(-1)).toMatchObject({ n, bad, bound })
      expect([replicas.n, replicas.bad, cut.n, cut.bad]).toEqual([1, 0, 1, 1])
    })

    it('groups differences by state, kind and place, worst first, with both sides', async () => {
      const details = { kind: 'value', at: '/details', where: '/details', code: 'error-details', v1: [], v2: ['more'] } as const
      const report = await reportOf([
        comparison(1, { outcome: 'expected', ...shows(details) }),
        comparison(2, { outcome: 'race', reason: 'v1 changed', ...shows({ kind: 'extra', at: '/items/1', where: '/items/*', v2: {} }) }),
        comparison(3, { outcome: 'mismatch', ...shows(TIER, 2) }),
        comparison(4, { outcome: 'mismatch', ...shows({ ...TIER, at: '/items/9/catalog_tier' }) }),
        comparison(5, { outcome: 'error', reason: 'v2 answered HTTP 503 where v1 answered 200', v2: { status: 503, code: 14 } }),
        comparison(6, { outcome: 'inconclusive', reason: 'v1 itself answered HTTP 500' }),
        comparison(7, { outcome: 'transient', reason: 'it was gone', ...shows(TIER) }),
        comparison(8, { outcome: 'inconclusive', reason: 'another replica may have written', ...shows(TIER) }),
      ])
      const { differences } = operation(report)
      expect(differences.map(({ state, kind, where, findings, comparisons }) => [state, kind, where, findings, comparisons])).toEqual([
        ['unexplained', 'value', '/items/*/catalog_tier', 3, 2],
        ['failed', 'error', 'v2 answered HTTP 503 where v1 answered 200', 1, 1],
        ['transient', 'value', '/items/*/catalog_tier', 1, 1],
        ['open', 'inconclusive', 'v1 itself answered HTTP 500', 1, 1],
        ['open', 'value', '/items/*/catalog_tier', 1, 1],
        ['race', 'extra', '/items/*', 1, 1],
        ['declared', 'value', '/details', 1, 1],
      ])
      expect(differences[0]?.examples).toMatchObject([
        { id: 'c4', pointer: '/items/9/catalog_tier', v1: 'APPLICATION', v2: 'BASE' },
        { id: 'c3', pointer: '/items/3/catalog_tier' },
      ])
      expect(differences[5]?.examples[0]).not.toHaveProperty('v1')
      expect(report.declarations.find(({ code }) => code === 'error-details')).toMatchObject({
        state: 'matched',
        findings: 1,
        seen: expect.any(String),
      })
    })

    it('shows unsent calls, clients and notes', async () => {
      const report = await reportOf(week(500))
      expect(operation(report, 'registry.repos.update')).toMatchObject({ writes: 1, wouldSend: [{ call: { method: 'PATCH' } }] })
      expect(report.clients).toHaveLength(40)
      expect(report.clients.filter(({ couldMove }) => !couldMove)).toHaveLength(6)
      expect(report.timeline.notes.map(({ what }) => what)).toEqual(['restart', 'modes', 'circuit', 'modes', 'modes'])
      expect(report.timeline.steps.length).toBeLessThanOrEqual(96)
      expect(operation(report, 'registry.vuln_reports.list').standing).toBe('v1-only')
    })

    it('skips and counts lines that are no entries', async () => {
      const path = join(await folder(), 'torn.ndjson')
      await writeFile(path, `${lines([comparison(1)])}{"kind":"compar\n${lines([comparison(2)])}`)
      expect(await readReport([path], sources)).toMatchObject({ read: { entries: 2, skipped: 1 } })
    })

    it('reads the files of a folder oldest first, renamed ones too', async () => {
      const path = await folder()
      await writeFile(join(path, 'records.ndjson'), lines([comparison(100_000), note(START + 200 * HOUR, 'modes', 'last')]))
      await writeFile(join(path, 'records.ndjson.1'), lines([comparison(1), note(START, 'modes', 'first')]))
      await writeFile(join(path, 'other.txt'), 'not ours')
      const report = await readReport([path], sources)
      expect(report.read).toEqual({ entries: 4, skipped: 0, repeated: 0, others: 0, unreadable: [] })
      expect(operation(report).trend.map(({ n }) => n)).toEqual([1, 2])
    })
  })

  describe('against an older report', () => {
    it('says what is better, worse, new and gone', async () => {
      const older = await reportOf([comparison(1), comparison(2, { outcome: 'mismatch', ...shows(TIER) })])
      const read = readOlderReport(JSON.stringify(older))
      if ('problem' in read) throw new Error(read.problem)
      const name = { kind: 'missing', at: '/items/0/name', where: '/items/*/name', v1: 'a' } as const
      const held = heldAgainst(await reportOf([comparison(1), comparison(3, { outcome: 'mismatch', ...shows(name) })]), read)
      expect(operation(held)).toMatchObject({
        before: { standing: 'outside', n: 2, mismatches: 1 },
        differences: [{ kind: 'missing', isNew: true }],
      })
      expect(held.against).toMatchObject({
        ready: false,
        gone: [{ operation: 'registry.repos.list', kind: 'value', where: '/items/*/catalog_tier' }],
      })
    })

    it('refuses a file that is no report', () => {
      expect(readOlderReport('{"format":"other"}')).toHaveProperty('problem')
      expect(readOlderReport('{')).toHaveProperty('problem')
    })
  })

  describe('bounds', () => {
    it('time steps grow with the span, and no count is lost', () => {
      const steps = new Steps<'x'>()
      for (let nth = 0; nth < 5_000; nth++) steps.count('a', START + nth * 60_000, 'x')
      const counted = steps.of('a')
      expect(counted.length).toBeLessThanOrEqual(96)
      expect(counted.reduce((sum, { counts }) => sum + (counts.x ?? 0), 0)).toBe(5_000)
    })

    it('a frequent difference removes no rare one', () => {
      const examples = new Examples(100)
      const example = (id: number, v1: unknown = id) => ({ id: String(id), at: id, v1, v2Side: { status: 200 } }) as ExampleReport
      examples.add('rare', example(0))
      for (let nth = 1; nth < 1_000; nth++) examples.add('frequent', example(nth))
      expect(examples.of('rare')).toHaveLength(1)
      expect(examples.of('frequent')).toHaveLength(99)
      expect(examples.of('frequent')[0]?.id).toBe('999')
      for (let nth = 1_000; nth < 2_000; nth++) examples.add('frequent', example(nth, 'the same'))
      expect(examples.of('rare')).toHaveLength(1)
      expect(examples.of('frequent')).toMatchObject([{ id: '1999', equal: expect.any(Array) }])
      expect(examples.of('frequent')[0]?.equal?.map(({ id }) => id)).toEqual(Array.from({ length: 98 }, (_, nth) => String(1_998 - nth)))
    })
  })

  describe('the page', () => {
    const assets = { script: 'run()', style: 'a{}' }

    it('lets no record end its element or become one', async () => {
      const hostile = '</script><script>alert(1)</script><!--'
      const report = await reportOf([comparison(1, { outcome: 'mismatch', ...shows({ ...TIER, v2: hostile }), shape: hostile })])
      const { html } = pageOf(report, assets)
      expect(html.match(/<script/g)).toHaveLength(2)
      expect(html).not.toContain('alert(1)</script')
      expect(html).not.toContain('<!--')
      const data = /<script type="application\/json" id="report">(.*?)<\/script>/s.exec(html)?.[1] ?? ''
      expect(JSON.parse(data)).toEqual(JSON.parse(JSON.stringify(report)))
    })

    it('allows only its own script and style by hash, and a running proxy', async () => {
      const report = await reportOf([])
      expect(pageOf(report, assets).policy).toMatch(/^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/)
      expect(pageOf(report, assets).policy).not.toContain('connect-src')
      expect(pageOf(report, assets, '/report.json').policy).toContain("connect-src 'self'")
    })
  })
})

describe('what is active for an operation', () => {
  const rules: ModeRules = {
    default: 'diff-v2',
    rules: [
      { operations: ['iam.groups.*', 'iam.roles.list'], clients: ['ab*', 'cd'], mode: 'v2' },
      { operations: '*.list', clients: '*', mode: 'diff-v1', canary: { percent: 25, mode: 'diff-v2' } },
      { operations: 'iam.*', clients: '*', mode: 'v1' },
    ],
    testers: [],
  }

  const GIVEN = { rules, v1First: ['registry.eol.get'] }

  it.each(['iam.groups.list', 'iam.groups.get', 'iam.roles.get', 'registry.repos.list', 'registry.repos.get', 'registry.eol.get'])(
    'is for %s what a request meets',
    (operation) => {
      const select = createSelect(rules)
      for (const circuit of ['closed', 'open'] as const) {
        const now = inForce({ ...GIVEN, ...(circuit === 'open' && { circuits: { [operation]: 'errors' } }) })
        const isV1First = now.v1First.includes(operation)
        for (const caller of ['00000000', 'ffffffff', 'ab000000', 'cd']) {
          const effect = effectOn(operation, now)
          const rule = caller.startsWith('ab') || caller === 'cd' ? effect.rules[0] : forMost(effect)
          const isIn = rule.share !== undefined && (Number.parseInt(caller, 16) / 2 ** 32) * 100 < rule.share.percent
          const mode = isIn ? rule.share?.mode : rule.mode
          expect(`${caller} ${circuit} ${mode}`).toBe(
            `${caller} ${circuit} ${select({ caller, subject: undefined, operation, circuit, isV1First })}`,
          )
        }
      }
    },
  )

  it('is v2 without a v1 service', () => {
    expect(effectOn('iam.groups.list', inForce({ ...GIVEN, hasV1: false })).rules).toEqual([{ allClients: true, mode: 'v2' }])
  })
})

it.each([
  [{ what: 'circuit', text: 'errors: 3 of 9' }, 'Circuit opened | errors: 3 of 9'],
  [{ what: 'circuit-closed', text: 'the modes changed', from: 'open', to: 'closed' }, 'Circuit closed | the modes changed'],
  ...(
    [
      ['It starts at its first step.', 'began | at its first step.'],
      ['It goes on where the records ended.', 'goes on | where the records ended.'],
      ['It ends: the modes have it no more.', 'ended: | the modes have it no more.'],
      ['Paused by admin port, token ops.', 'was paused | by admin port, token ops.'],
      ['Resumed by admin port.', 'was resumed | by admin port.'],
      ['Promoted by admin port, whatever the evidence says.', 'was promoted | by admin port, whatever the evidence says.'],
      ['Aborted by admin port.', 'was aborted | by admin port.'],
    ] as const
  ).map(([text, said]) => [{ what: 'rollout', text: `rollout iam: ${text}`, to: 'running' }, `Rollout iam ${said}`] as const),
  ...(
    [
      ['running at step 2 of 2 (9 %)', 'advanced'],
      ['held at step 1 of 2 (1 %)', 'is held'],
      ['paused at step 1 of 2 (1 %)', 'paused'],
      ['turned-back at step 1 of 2 (0 %)', 'turned back'],
      ['watching (9 %)', 'took its last step'],
      ['done (9 %)', 'is done'],
      ['aborted at step 1 of 2 (0 %)', 'was aborted'],
      ['ended', 'ended'],
    ] as const
  ).map(
    ([to, verb]) =>
      [{ what: 'rollout', text: 'rollout iam: Why.', from: 'running', to }, `Rollout iam ${verb} | Why. | running → ${to}`] as const,
  ),
  [{ what: 'rollout', text: 'rollout iam: Why.', from: 'held', to: 'running' }, 'Rollout iam goes on | Why. | held → running'],
  [
    { what: 'modes', text: 'admin port, token ops: default: v2 → v1', by: { source: 'admin', token: 'ops' }, from: 'x', to: 'y' },
    'Modes changed by admin port, token ops | default: v2 → v1 | x → y',
  ],
  [{ what: 'modes', text: 'of an older version' }, 'Modes changed | of an older version'],
  [{ what: 'conflict', text: 'why', from: 'x', to: 'y' }, 'One of two changes of modes is lost | why | x → y'],
  [{ what: 'ready', text: 'inside' }, 'Became ready to move | inside'],
] as const)('note words tells note %# with a verb, and what it changed', (note, said) => {
  const { verb, text, change } = wordsOf({ at: 0, ...note })
  expect([verb, text, ...(change ? [`${change.from} → ${change.to}`] : [])].join(' | ')).toBe(said)
})

describe('in force', () => {
  describe('the report of a running proxy', () => {
    const rules = [{ operations: 'iam.*', clients: '*', mode: 'diff-v1' as const, canary: { percent: 100, mode: 'v2' as const } }]
    const modes: ModeRules = { default: 'diff-v1', rules, testers: [] }
    let adminUrl = ''
    let start: () => Promise<void>
    let fail: () => Promise<void>

    beforeAll(async () => {
      const stage = await startStage({ proxy: { modes, 'log.level': 'silent' } })
      start = () => stage.setModes(modes)
      adminUrl = stage.adminUrl
      fail = async () => {
        await stage.request('GET', '/iam/v1/groups')
        await stage.fault({ match: 'GET /iam/v2/groups', status: 500 })
        for (let nth = 0; nth < 10; nth++) await stage.request('GET', '/iam/v1/groups')
        await stage.idle()
      }
      return () => stage.close()
    })

    beforeEach(() => start())

    const ask = (etag?: string) => fetch(`${adminUrl}/report.json`, { headers: etag === undefined ? {} : { 'if-none-match': etag } })

    it('says what is active', async () => {
      const { now } = (await (await ask()).json()) as Report
      expect(now).toMatchObject({
        rules: { default: 'diff-v1', rules: [{ canary: { percent: 100, mode: 'v2' } }] },
        circuits: {},
        hasV1: true,
      })
      expect(now?.v1First).toContain('registry.eol_tags.list')
      await fail()
      expect(((await (await ask()).json()) as Report).now?.circuits).toEqual({ 'iam.groups.list': expect.stringContaining('errors') })
    })

    it('is sent again only if it says something else', async () => {
      const first = await ask()
      const etag = first.headers.get('etag') ?? ''
      const again = await ask(etag)
      expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
      // A reverse proxy that compresses makes the tag a weak one.
      expect((await ask(`W/${etag}`)).status).toBe(304)
      const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"default":"v1"}' }
      await fetch(`${adminUrl}/modes`, put)
      const other = await ask('"of another report"')
      expect([first.status, other.status, (await ask()).headers.get('etag') === etag]).toEqual([200, 200, false])
    })
  })

  describe('a report of a running proxy', () => {
    it('is not ready while a rollout has turned back, as cutover says', () => {
      const now = () => 0
      const ledger = { evidence: createEvidence(now), inventory: createInventory(operations), expected: createExpected([], now) }
      for (let nth = 0; nth < 400; nth += 1) {
        // Each of a hundred kinds comes of four callers.
        ledger.evidence.observe({ operation: 'iam.groups.list', caller: `c${nth % 4}`, shape: `${nth >> 2}`, outcome: 'match' })
      }
      const reporter = createReporter({ ledger, operations, describe: () => ({ seen: '', because: '' }) })
      const rollout = { name: 'reads', reach: ['iam.groups.list'], phase: 'turned-back', percent: 0, reason: 'v2 was wrong.' }
      const ready = (...rollouts: object[]) =>
        reporter.report({ target: 0.01, now: 0, inForce: { rollouts, circuits: {} } as unknown as InForce }).ready
      expect([ready(), ready(rollout)]).toEqual([true, false])
    })
  })

  it('a report of record files says nothing of what is active', async () => {
    expect(await reportOf([])).not.toHaveProperty('now')
  })

  describe('the maker of reports', () => {
    it('makes few for pages that ask often, and fewer if they take long', async () => {
      const report = await reportOf([])
      let [clock, made] = [0, 0]
      const slow = createReportMaker(
        () => {
          clock += 100
          made += 1
          return report
        },
        () => clock,
      )
      const ends = new Set<string>()
      for (let nth = 0; nth < 60; nth++) {
        clock += 100
        ends.add((await slow.recent()).etag)
      }
      expect([made, ends.size]).toEqual([3, 1])
      await slow.made()
      expect(made).toBe(4)
      clock += 10_000
      await Promise.all([slow.recent(), slow.recent()])
      expect(made).toBe(5)
    })
  })
})
