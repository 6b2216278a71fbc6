import { describe, expect, it } from 'vitest'
import { type ModeRules, readModeRules } from '../../../src/migrate/modes/rules.ts'
import { createSelect, type Question } from '../../../src/migrate/modes/select.ts'
import type { Mode } from '../../../src/serve/sides.ts'

const rules = (given: object) => {
  const read = readModeRules(given)
  if ('problem' in read) throw new Error(read.problem)
  return read
}

const question = (values: Partial<Question>): Question => ({
  caller: '0000000000000000',
  subject: undefined,
  operation: 'registry.repos.list',
  circuit: 'closed',
  ...values,
})

const callers = Array.from({ length: 2000 }, (_, nth) => (nth * 2654435761).toString(16).padStart(16, '0').slice(-16))
const hashes = callers.map((text) => text.slice(-8) + text.slice(0, 8))

const canary = (percent: number): ModeRules => rules({ default: 'v1', rules: [{ mode: 'v1', canary: { percent, mode: 'v2' } }] })
const onV2 = (given: ModeRules, circuit: Question['circuit'] = 'closed') => {
  const select = createSelect(given)
  return hashes.filter((caller) => select(question({ caller, circuit })) === 'v2')
}

describe('a mode', () => {
  const select = createSelect(
    rules({
      default: 'v1',
      rules: [
        { operations: 'registry.*', clients: ['0000000000000001', 'ci-*'], mode: 'v2' },
        { operations: ['registry.repos.list', 'iam.groups.list'], mode: 'diff-v1' },
        { operations: 'iam.*', mode: 'diff-v2' },
      ],
    }),
  )

  it.each<[Partial<Question>, Mode]>([
    [{}, 'diff-v1'],
    [{ caller: '0000000000000001' }, 'v2'],
    [{ subject: 'ci-7' }, 'v2'],
    [{ subject: 'aci-7' }, 'diff-v1'],
    [{ operation: 'iam.groups.list', subject: 'ci-7' }, 'diff-v1'],
    [{ operation: 'iam.groups.create' }, 'diff-v2'],
    [{ operation: 'registry.tags.list' }, 'v1'],
  ])('of %j is that of the first rule that fits: %s', (values, mode) => {
    expect(select(question(values))).toBe(mode)
  })

  it.each<[Mode, Mode]>([
    ['v1', 'v1'],
    ['v2', 'v1'],
    ['diff-v1', 'diff-v1'],
    ['diff-v2', 'diff-v1'],
  ])('of an operation that v1 answers first is, for the default %s, %s', (byDefault, mode) => {
    expect(createSelect(rules({ default: byDefault }))(question({ isV1First: true }))).toBe(mode)
  })

  it('of an operation that v1 answers first still follows a rule or a tester', () => {
    const given = rules({ default: 'v1', rules: [{ operations: 'registry.*', mode: 'diff-v2' }], testers: ['me'] })
    expect(createSelect(given)(question({ isV1First: true }))).toBe('diff-v2')
    expect(createSelect(given)(question({ isV1First: true, subject: 'me', wish: 'v2' }))).toBe('v2')
  })

  it('reads a pattern literally, and nothing in it as an expression', () => {
    const dotted = createSelect(rules({ default: 'v2', rules: [{ clients: 'a.b+c(d', mode: 'v1' }] }))
    expect(dotted(question({ subject: 'a.b+c(d' }))).toBe('v1')
    expect(dotted(question({ subject: 'axb+c(d' }))).toBe('v2')
  })
})

describe('a canary share', () => {
  it('includes about as many callers as it says', () => {
    for (const percent of [1, 10, 50]) expect(onV2(canary(percent)).length / hashes.length).toBeCloseTo(percent / 100, 1)
    expect(onV2(canary(0))).toHaveLength(0)
    expect(onV2(canary(100))).toHaveLength(hashes.length)
  })

  it('moves no caller back and no caller anew when it is raised', () => {
    let before = new Set<string>()
    for (const percent of [1, 5, 10, 25, 50, 75, 100]) {
      const now = new Set(onV2(canary(percent)))
      expect([...before].filter((caller) => !now.has(caller))).toEqual([])
      expect([...now]).toEqual(onV2(canary(percent)))
      before = now
    }
  })

  it('includes no caller while the circuit is open', () => {
    expect(onV2(canary(50), 'open')).toEqual([])
  })

  it('is compared behind the backs of its clients while the circuit is probed', () => {
    const select = createSelect(canary(50))
    expect(new Set(hashes.map((caller) => select(question({ caller, circuit: 'probed' }))))).toEqual(new Set(['diff-v1']))
  })

  it('that compares on v2 does not change while the circuit is open', () => {
    const nets = rules({ default: 'v2', rules: [{ mode: 'v2', canary: { percent: 50, mode: 'diff-v2' } }] })
    const select = createSelect(nets)
    expect(hashes.some((caller) => select(question({ caller, circuit: 'open' })) === 'diff-v2')).toBe(true)
  })
})

describe('x-crosswalk-mode', () => {
  const select = createSelect(rules({ default: 'v1', testers: ['qa@example.com'] }))

  it('is obeyed for testers only', () => {
    expect(select(question({ subject: 'qa@example.com', wish: 'diff-v2' }))).toBe('diff-v2')
    expect(select(question({ subject: 'somebody', wish: 'diff-v2' }))).toBe('v1')
    expect(select(question({ wish: 'nonsense' }))).toBe('v1')
  })

  it('is refused if it names no mode', () => {
    expect(() => select(question({ subject: 'qa@example.com', wish: 'v3' }))).toThrow(
      'Invalid argument: x-crosswalk-mode: must be one of v1, v2, diff-v1, diff-v2',
    )
  })
})

it.each([
  [{ default: 'v3' }, 'The modes are wrong: default must be one of v1, v2, diff-v1, diff-v2.'],
  [{ default: 'v2', rules: [{ mode: 'v1', colour: 'red' }] }, 'The modes are wrong: rules.0 has no member "colour".'],
  [{ default: 'v2', rules: {} }, 'The modes are wrong: rules must be a list of rules.'],
  [{ default: 'v2', rules: [1] }, 'The modes are wrong: rules.0 must be an object {"operations", "clients", "mode", "canary"}.'],
  [
    { default: 'v2', rules: [{ mode: 'v1', canary: 'v2' }] },
    'The modes are wrong: rules.0.canary must be an object {"mode", "percent"} or {"mode", "rollout"}.',
  ],
  [{ default: 'v2', testers: [''] }, 'The modes are wrong: testers.0 must be a pattern, and not empty.'],
  [
    { default: 'v2', rules: [{ operations: [], mode: 'v1' }] },
    'The modes are wrong: rules.0.operations must be a pattern or a list of patterns, none of them empty.',
  ],
  [{ rules: [] }, 'The modes are wrong: default is required.'],
  [
    { default: 'v2', rules: [{ operations: 5, mode: 'v1' }] },
    'The modes are wrong: rules.0.operations must be a pattern or a list of patterns, none of them empty.',
  ],
  ['v1', 'The modes are wrong: must be an object {"default", "rules", "testers"}.'],
])('refuses the rules %j', (given, problem) => {
  expect(readModeRules(given)).toEqual({ problem })
})
