import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import { tables } from '../../../mappings/index.ts'
import { ignoreRules } from '../../../src/app/config/kinds.ts'
import { declarationsWith } from '../../../src/app/server/migration.ts'
import { MOST_FINDINGS } from '../../../src/migrate/compare/compare.ts'
import type { Declaration, DescribedDeclaration, ExpectedDifferences } from '../../../src/migrate/compare/expected.ts'
import { type ComparisonOutcome, createNoise, type Judgement } from '../../../src/migrate/compare/judge.ts'
import { covers } from '../../../src/tables/operation.ts'
import { asked, child, court, findings, operationOf, seen } from '../given.ts'

function tally(expected: ExpectedDifferences, operation: string, { outcome, findings: found }: Judgement): void {
  expected.count(
    operation,
    outcome,
    found.flatMap(({ code }) => code ?? []),
  )
}

describe('judge', () => {
  const { judge } = court()
  const question = asked('registry.repos.list')
  const body = { items: [] }
  const error = { code: 7, message: 'no', details: [] }

  describe('the outcome of two answers', () => {
    const statuses: [v1: number, v2: number, ComparisonOutcome][] = [
      [200, 200, 'match'],
      [200, 404, 'mismatch'],
      [403, 403, 'match'],
      [501, 501, 'match'],
      [200, 501, 'mismatch'],
      [200, 500, 'error'],
      [200, 504, 'error'],
      [404, 503, 'error'],
      [200, 429, 'error'],
      [503, 200, 'inconclusive'],
      [500, 500, 'inconclusive'],
      [429, 200, 'inconclusive'],
      [499, 200, 'inconclusive'],
      [200, 499, 'mismatch'],
      [404, 499, 'inconclusive'],
      [401, 401, 'inconclusive'],
      [401, 400, 'inconclusive'],
      [401, 200, 'inconclusive'],
      [401, 500, 'inconclusive'],
      [200, 401, 'mismatch'],
      [404, 401, 'inconclusive'],
      [500, 401, 'inconclusive'],
      [403, 400, 'mismatch'],
    ]
    it.each(statuses)('for HTTP %i and HTTP %i: %s', (v1, v2, outcome) => {
      const answer = (status: number) => seen(status < 400 ? body : error, status)
      const judged = judge(question, answer(v1), answer(v2))
      expect(judged.outcome).toBe(outcome)
      if (outcome === 'error' || outcome === 'inconclusive') expect(judged.reason).toMatch(/HTTP \d|client|caller/)
    })

    const unasked: [v1: number, v2: number, ComparisonOutcome][] = [
      [401, 400, 'inconclusive'],
      [403, 400, 'inconclusive'],
      [403, 200, 'inconclusive'],
      [200, 400, 'mismatch'],
      [400, 400, 'match'],
    ]
    it.each(unasked)('for HTTP %i of v1 and HTTP %i of the tables without a call to v2: %s', (v1, v2, outcome) => {
      const given = seen(v2 < 400 ? body : error, v2)
      expect(judge(question, seen(v1 < 400 ? body : error, v1), { ...given, unasked: true }).outcome).toBe(outcome)
    })
  })

  describe('answers that differ in very many places', () => {
    const items = (name: string) => ({ items: Array.from({ length: MOST_FINDINGS + 10 }, (_, nth) => ({ id: child(nth), name })) })

    it('are a mismatch by the first ones', () => {
      const judgement = court().judge(asked('iam.groups.list'), seen(items('a')), seen(items('b')))
      expect([judgement.outcome, judgement.findings.length]).toEqual(['mismatch', MOST_FINDINGS])
    })

    it('are inconclusive if the first ones are explained, because the others are unknown', () => {
      const sign = { at: ['/items/*/name'], kinds: ['value' as const], v1: 'a', v2: 'b' }
      const { judge } = court([{ code: 'renamed', operations: ['iam.groups.list'], signs: [sign] }])
      const judgement = judge(asked('iam.groups.list'), seen(items('a')), seen(items('b')))
      expect(judgement).toMatchObject({ outcome: 'inconclusive', reason: expect.stringContaining('10000 places') })
    })
  })
})

describe('a member that v1 changes by itself', () => {
  const ID = 'iam.identities.list'
  const row = (members: object, nth = 1) => ({ id: child(nth), name: 'a', last_seen: '2026-01-01T00:00:00Z', updated_at: null, ...members })
  const list = (...rows: object[]) => ({ items: rows })
  const later = (second: number) => ({ last_seen: `2026-01-01T00:00:0${second}Z` })
  const busy = () => findings(ID, list(row(later(1))), list(row(later(2))))

  it('is noise once it has changed often enough', () => {
    const noise = createNoise({ changes: 3, share: 0.1 })
    const [found] = busy()
    for (let ask = 0; ask < 2; ask++) noise.learn(ID, busy())
    expect(found && noise.isNoise(ID, found)).toBe(false)
    noise.learn(ID, busy())
    expect(found && noise.isNoise(ID, found)).toBe(true)
    expect(noise.members()).toEqual([{ operation: ID, where: '/items/*/last_seen', kind: 'value', changes: 3, asks: 3 }])
  })

  it('is noise in value only: type and presence still count', () => {
    const { noise, judge } = court()
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, busy())
    const against = (members: object | undefined) => judge(asked(ID), seen(list(row({}))), seen(list(row(members ?? {})))).outcome
    expect(against(later(9))).toBe('noise')
    expect(against({ last_seen: null })).toBe('mismatch')
    expect(against({ last_seen: undefined })).toBe('mismatch')
    expect(against({ ...later(9), name: 'b' })).toBe('mismatch')
    expect(judge(asked('iam.groups.list'), seen(list(row({}))), seen(list(row(later(9))))).outcome).toBe('mismatch')
  })

  it('is not noise if the row was written meanwhile', () => {
    const noise = createNoise({ changes: 1, share: 0 })
    const written = { name: 'b', updated_at: '2026-01-01T00:00:05Z' }
    noise.learn(ID, findings(ID, list(row({ updated_at: '2026-01-01T00:00:01Z' })), list(row(written))))
    expect(noise.members()).toEqual([])
    noise.learn(ID, findings(ID, list(row({}), row({}, 2)), list(row({ ...written, updated_at: null }), row(later(3), 2))))
    expect(noise.members().map(({ where }) => where)).toEqual(['/items/*/name', '/items/*/last_seen'])
  })

  it('is not noise in an object that does not show whether it was written', () => {
    const noise = createNoise()
    const bindings = 'iam.role_bindings.list'
    const held = (description: string) => ({ items: [{ id: child(1), created_at: null, role: { id: child(2), description } }] })
    for (let ask = 0; ask < 50; ask++) noise.learn(bindings, ask % 2 === 0 ? findings(bindings, held('there'), held('back')) : [])
    for (let ask = 0; ask < 3; ask++)
      noise.learn('libraries.artifacts.count', findings('libraries.artifacts.count', { count: '1' }, { count: '2' }))
    expect(noise.members()).toEqual([])
    for (let ask = 0; ask < 50; ask++) noise.learn(bindings, findings(bindings, held('there'), held('back')))
    expect(noise.members().map(({ where }) => where)).toEqual(['/items/*/role/description'])
  })

  it('is not the order of rows of which one was renamed', () => {
    const noise = createNoise({ changes: 1, share: 0 })
    const stamp = { updated_at: '2026-01-01T00:00:05Z' }
    noise.learn(ID, findings(ID, list(row({}), row({}, 2)), list(row({}, 2), row({ name: 'z', ...stamp }))))
    expect(noise.members()).toEqual([])
  })

  it('is not noise if it changes seldom, and no longer once it is stable again', () => {
    const noise = createNoise({ changes: 3, share: 0.1 })
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, busy())
    for (let ask = 0; ask < 27; ask++) noise.learn(ID, [])
    expect(noise.members()).toHaveLength(1)
    noise.learn(ID, [])
    expect(noise.members()).toEqual([])
  })

  it('counts once for each double read, however many rows show it', () => {
    const noise = createNoise({ changes: 2, share: 0 })
    noise.learn(ID, findings(ID, list(row(later(1)), row(later(1), 2)), list(row(later(2)), row(later(2), 2))))
    expect(noise.members()).toEqual([])
  })

  it('may be the order of a list', () => {
    const { noise, judge } = court()
    const [there, back] = [list(row({}), row({}, 2)), list(row({}, 2), row({}))]
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, findings(ID, there, back))
    expect(judge(asked(ID), seen(there), seen(back)).outcome).toBe('noise')
  })

  it('is unlearned in the long run if it stays stable', () => {
    const noise = createNoise({ changes: 3, share: 0 })
    for (let ask = 0; ask < 3; ask++) noise.learn(ID, busy())
    for (let ask = 0; ask < 1000; ask++) noise.learn(ID, [])
    expect(noise.members()).toEqual([])
  })
})

describe('ignored', () => {
  const LIST = 'registry.repos.list'
  const README = { operations: LIST, at: '/items/*/readme', kinds: ['value'], reason: 'v2 trims it', until: '2027-03-01' }

  /** Reads rules as the setting does. */
  const rulesOf = (...rules: object[]) => ignoreRules.schema.parse(JSON.stringify(rules))

  function declared(...rules: object[]): readonly DescribedDeclaration[] {
    const found = declarationsWith(rulesOf(...rules), tables)
    if ('problem' in found) throw new Error(found.problem)
    return found.declarations
  }

  const list = (members: object) => seen({ items: [{ id: child(1), name: 'n', readme: '# A ', ...members }] })

  describe('a rule of diff.ignore', () => {
    it('explains the difference that it names, with a code of its own', () => {
      const { judge } = court(declared(README, { ...README, at: '/items/*/name', name: 'short' }))
      const judged = (members: object) => judge(asked(LIST), list({}), list(members))
      expect(judged({ readme: '# A' })).toMatchObject({ outcome: 'expected', findings: [{ code: 'ignored:1' }] })
      expect(judged({ name: 'N' })).toMatchObject({ outcome: 'expected', findings: [{ code: 'ignored:short' }] })
      expect(judged({ readme: null }).outcome).toBe('mismatch')
      expect(judged({ readme: '# A', id: child(2) }).outcome).toBe('mismatch')
      const tags = judge(asked('registry.tags.list'), list({}), list({ name: 'N' }))
      expect(tags.outcome).toBe('mismatch')
    })

    it('may name the request and the values', () => {
      const { judge } = court(declared({ ...README, when: [{ param: 'order_by', is: ['name'] }], v2: '# A' }))
      expect(judge(asked(LIST, 'order_by=name'), list({}), list({ readme: '# A' })).outcome).toBe('expected')
      expect(judge(asked(LIST, 'order_by=name'), list({}), list({ readme: '# B' })).outcome).toBe('mismatch')
      expect(judge(asked(LIST), list({}), list({ readme: '# A' })).outcome).toBe('mismatch')
    })

    it('may accept another status of one request', () => {
      const rule = { operations: '*.list', at: '', v1: 404, v2: 403, reason: 'nobody asks', until: '2027-03-01', when: [{ param: 'id' }] }
      const { judge } = court(declared(rule))
      const no = (code: number, status: number) => seen({ code, message: 'no', details: [] }, status)
      expect(judge(asked(LIST, 'id=a'), no(5, 404), no(7, 403)).findings).toMatchObject([{ code: 'ignored:1' }])
      expect(judge(asked(LIST), no(5, 404), no(7, 403)).outcome).toBe('mismatch')
      expect(judge(asked(LIST, 'id=a'), no(5, 404), no(3, 400)).outcome).toBe('mismatch')
      expect(judge(asked(LIST, 'id=a'), no(3, 400), no(7, 403)).outcome).toBe('mismatch')
    })

    it('does not take the place of what the tables declare', () => {
      const { judge } = court(
        declared({ operations: 'registry.eol_tags.list', at: '/items/*/grace_status', reason: 'r', until: '2027-03-01' }),
      )
      const tag = (grace_status: string) => seen({ items: [{ id: child(1), grace_status }] })
      const judged = (status: string) => judge(asked('registry.eol_tags.list'), tag('GRACE_ACTIVE'), tag(status)).findings
      expect(judged('GRACE_NOT_ELIGIBLE')).toMatchObject([{ code: 'eol-approximated' }])
      expect(judged('GRACE_BROKEN')).toMatchObject([{ code: 'ignored:1' }])
    })

    it('is counted, and explains nothing from its date on', () => {
      const clock = { now: Date.parse('2027-02-28T23:59:59.999Z') }
      const { judge, expected } = court(declared(README), () => clock.now)
      const state = () => expected.report().at(-1)
      const ignored = { reason: 'v2 trims it', until: Date.parse('2027-03-01') }
      expect(state()).toEqual({ code: 'ignored:1', state: 'stale', findings: 0, comparisons: 0, ignored })
      tally(expected, LIST, judge(asked(LIST), list({}), list({ readme: '# A' })))
      expect(state()).toMatchObject({ state: 'matched', findings: 1, comparisons: 1 })
      clock.now += 1
      expect(judge(asked(LIST), list({}), list({ readme: '# A' })).outcome).toBe('mismatch')
      expect(state()).toMatchObject({ state: 'expired', findings: 1 })
    })

    it('is described like a declared difference', () => {
      expect(declared(README).slice(0, -1)).toEqual(differences)
      expect(declared({ ...README, when: [{ param: ['limit', 'offset'], isNot: 'count' }] }).at(-1)).toMatchObject({
        seen: 'Ignored until 2027-03-01T00:00:00.000Z: If the request has limit or offset that is not a whole number: /items/*/readme: another value.',
        because: 'v2 trims it',
      })
    })
  })

  describe('a rule that fits nothing', () => {
    const wrong: readonly (readonly [change: object, sentence: RegExp])[] = [
      [
        { operations: 'registry.repo.list' },
        /^diff\.ignore\.0\.operations: "registry\.repo\.list" fits no operation that v2 serves; did you mean "registry\.repos\.list"\?$/,
      ],
      [{ operations: ['registry.repos.list', 'zzz.*'] }, /"zzz\.\*" fits no operation that v2 serves; crosswalk operations lists them\.$/],
      [{ operations: 'registry.vuln_reports.*' }, /fits no operation that v2 serves/],
      [
        { at: '/items/*/readmes' },
        /^diff\.ignore\.0\.at: no answer of registry\.repos\.list has "\/items\/\*\/readmes"; did you mean "readme"\?$/,
      ],
      [{ at: '/items/0/readme' }, /did you mean "\*"\?$/],
      [{ at: '/items/*/readme/length' }, /at "\/items\/\*\/readme" nothing is below it\.$/],
      [{ at: '/next_page_token' }, /at "\/" there are code, message, details, items\.$/],
      [{ kinds: ['status'] }, /^diff\.ignore\.0\.kinds: status is the kind of the place "" alone/],
      [{ at: '', kinds: ['value'] }, /\.kinds: the place "" has the kind status alone/],
      [{ at: '', kinds: undefined, v2: 400 }, /^diff\.ignore\.0 is about the status, so it must give both: v1 and v2\.$/],
      [
        { when: [{ param: 'orderby' }] },
        /^diff\.ignore\.0\.when: registry\.repos\.list has no parameter "orderby"; did you mean "order_by"\?$/,
      ],
      [{ when: [{ param: ['name', 'zzzzzz'] }] }, /no parameter "zzzzzz"; the parameters are uidp\./],
    ]
    it.each(wrong)('%j is told in one sentence', (change, sentence) => {
      expect(declarationsWith(rulesOf({ ...README, ...change }), tables)).toEqual({ problem: expect.stringMatching(sentence) })
    })

    it('is told if two have one name', () => {
      const found = declarationsWith(rulesOf({ ...README, name: 'a' }, { ...README, name: 'a' }), tables)
      expect(found).toEqual({ problem: expect.stringMatching(/^diff\.ignore\.1\.name is the name of an earlier rule too/) })
    })
  })
})

describe('expected', () => {
  const declarations: readonly Declaration[] = [
    { code: 'error-details', operations: ['*'], signs: [{ at: ['/details'], kinds: ['value'] }] },
    { code: 'no-readme', operations: ['registry.repos.*'], signs: [{ at: ['/items/*/readme'], kinds: ['value'], v2: '' }] },
    { code: 'stricter', operations: ['iam.groups.create'], signs: [{ at: [''], kinds: ['status'], v1: 200, v2: 400 }] },
    { code: 'no-environment', operations: ['registry.*.list'], signs: [{ at: ['/**/environment/**'], kinds: ['missing'] }] },
    { code: 'only-writes', operations: ['iam.groups.update'] },
  ]
  const LIST = operationOf('registry.repos.list')
  const row = (members: object) => ({ items: [{ id: child(1), ...members }] })

  describe('a declared difference', () => {
    const { judge } = court(declarations)

    it('does not hide an undeclared difference beside it', () => {
      const judged = judge(asked(LIST), seen(row({ readme: 'long', name: 'a' })), seen(row({ readme: '', name: 'b' })))
      expect(judged.outcome).toBe('mismatch')
      expect(judged.findings.map(({ code }) => code).sort()).toEqual(['no-readme', undefined])
    })

    it('can cover everything below a place', () => {
      const overlay = (environment: object) => row({ custom_overlay: { environment } })
      expect(judge(asked(LIST), seen(overlay({ A: '1' })), seen(overlay({}))).findings).toMatchObject([{ code: 'no-environment' }])
      expect(judge(asked(LIST), seen(row({ environment: {} })), seen(row({}))).findings).toMatchObject([{ code: 'no-environment' }])
    })
  })

  describe('the report of declarations', () => {
    it('distinguishes matched, stale and invisible declarations', () => {
      const { judge, expected } = court(declarations)
      tally(expected, LIST.id, judge(asked(LIST), seen(row({ readme: 'a' })), seen(row({ readme: '' }))))
      tally(expected, LIST.id, judge(asked(LIST), seen(row({})), seen(row({}))))
      tally(expected, LIST.id, judge(asked(LIST), seen({}, 500), seen({})))
      const states = expected.report().map(({ code, state, findings, comparisons }) => [code, state, findings, comparisons])
      expect(states).toEqual([
        ['error-details', 'stale', 0, 2],
        ['no-readme', 'matched', 1, 2],
        ['stricter', 'stale', 0, 0],
        ['no-environment', 'stale', 0, 2],
        ['only-writes', 'invisible', 0, 0],
      ])
    })
  })

  it.each([
    ['registry.*', 'registry.repos.list', true],
    ['registry.*', 'iam.groups.list', false],
    ['*.delete', 'iam.groups.delete', true],
    ['iam.groups.list', 'iam.groups.list', true],
    ['iam.groups.list', 'iam-groups.list', false],
    ['*', 'ping.ping.ping', true],
  ])('the pattern %s covers the operation %s: %s', (pattern, operation, expected) => {
    expect(covers(pattern, operation)).toBe(expected)
  })
})
