import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import { tables } from '../../../mappings/index.ts'
import { ignoreRules } from '../../../src/app/config/kinds.ts'
import { declarationsWith } from '../../../src/app/server/migration.ts'
import type { DescribedDeclaration } from '../../../src/migrate/compare/expected.ts'
import { tally } from '../../../src/migrate/compare/judge.ts'
import { asked, child, court, seen } from '../given.ts'

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
