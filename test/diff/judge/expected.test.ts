import { describe, expect, it } from 'vitest'
import type { Declaration } from '../../../src/migrate/compare/expected.ts'
import { tally } from '../../../src/migrate/compare/judge.ts'
import { covers } from '../../../src/tables/operation.ts'
import { asked, child, court, operationOf, seen } from '../given.ts'

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

  it('explains the findings that it covers, and gives its code', () => {
    const judged = judge(asked(LIST), seen(row({ readme: 'long' })), seen(row({ readme: '' })))
    expect(judged).toMatchObject({ outcome: 'expected', findings: [{ code: 'no-readme' }] })
  })

  it.each([
    ['another value', row({ readme: 'long' }), row({ readme: 'lon' })],
    ['another kind', row({ readme: 'long' }), row({})],
    ['another place', row({ name: 'long' }), row({ name: '' })],
  ])('does not explain %s', (_, v1, v2) => {
    expect(judge(asked(LIST), seen(v1), seen(v2)).outcome).toBe('mismatch')
  })

  it('does not explain another operation', () => {
    expect(judge(asked('registry.tags.list'), seen(row({ readme: 'a' })), seen(row({ readme: '' }))).outcome).toBe('mismatch')
  })

  it('does not hide an undeclared difference beside it', () => {
    const judged = judge(asked(LIST), seen(row({ readme: 'long', name: 'a' })), seen(row({ readme: '', name: 'b' })))
    expect(judged.outcome).toBe('mismatch')
    expect(judged.findings.map(({ code }) => code).sort()).toEqual(['no-readme', undefined])
  })

  it('can name two statuses, and then explains only these two', () => {
    const create = operationOf('iam.groups.create')
    expect(judge(asked(create), seen({}), seen({}, 400)).outcome).toBe('expected')
    expect(judge(asked(create), seen({}), seen({}, 403)).outcome).toBe('mismatch')
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

describe('operation patterns', () => {
  it.each([
    ['registry.*', 'registry.repos.list', true],
    ['registry.*', 'iam.groups.list', false],
    ['*.delete', 'iam.groups.delete', true],
    ['iam.groups.list', 'iam.groups.list', true],
    ['iam.groups.list', 'iam-groups.list', false],
    ['*', 'ping.ping.ping', true],
  ])('%s covers %s: %s', (pattern, operation, expected) => {
    expect(covers(pattern, operation)).toBe(expected)
  })
})
