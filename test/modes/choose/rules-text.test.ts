import { describe, expect, it } from 'vitest'
import { describeChange, describeRules, type ModeRules, modesSchema } from '../../../src/migrate/modes/rules.ts'

const modes = (byDefault: string, rules: readonly object[] = [], testers: readonly string[] = []): ModeRules =>
  modesSchema.parse({ default: byDefault, rules, testers })
const rule = (operations: string | string[], mode: string, more: object = {}) => ({ operations, mode, ...more })
const HASH = '0123456789abcdef'
const rollout = (steps: readonly number[], more: object = {}) => ({
  canary: { mode: 'diff-v2', rollout: { name: 'iam', steps: steps.map((percent) => ({ percent, hold: '1h' })), ...more } },
})

describe('a change of rules', () => {
  it.each([
    [modes('v1'), modes('v2'), 'default: v1 → v2'],
    [modes('v1'), modes('v1'), 'nothing differs'],
    [
      modes('v1', [rule('iam.*', 'diff-v1')]),
      modes('v1', [rule('iam.*', 'diff-v1', { canary: { percent: 5, mode: 'diff-v2' } })]),
      'iam.*: diff-v1 → diff-v1, 5 % diff-v2; default: unchanged',
    ],
    [modes('v1', [rule('a.*', 'v2')]), modes('v1', [rule('b.*', 'v2')]), 'b.*: no rule → v2; a.*: v2 → no rule; default: unchanged'],
    [modes('v1'), modes('v1', [rule(['a.*', 'b.*'], 'v2', { clients: HASH })]), `a.* b.* for ${HASH}: no rule → v2; default: unchanged`],
    [
      modes('v1', [rule('a', 'v1'), rule('b', 'v2')]),
      modes('v1', [rule('b', 'v2'), rule('a', 'v1')]),
      'the rules are in another order; default: unchanged',
    ],
    [modes('v1'), modes('v1', [], [HASH, 'x']), `testers: no testers → testers ${HASH} and another client; default: unchanged`],
    [
      modes('v1', [rule('a', 'v1', { clients: ['x', 'y'] })]),
      modes('v1', [rule('a', 'v1', { clients: ['x', 'z'] })]),
      'a for 2 clients: other clients; default: unchanged',
    ],
    [
      modes('v1', [rule('a', 'v1', { clients: 'x' }), rule('a', 'v1', { clients: 'y' })]),
      modes('v1', [rule('a', 'v1', { clients: 'x' }), rule('a', 'v2', { clients: 'y' })]),
      'a for 1 client (2): v1 → v2; default: unchanged',
    ],
    [
      modes('v1', [rule('a', 'v1', rollout([5, 50]))]),
      modes('v1', [rule('a', 'v1', rollout([5, 20, 50]))]),
      'a: v1, rollout iam (5 %, 50 %) diff-v2 → v1, rollout iam (5 %, 20 %, 50 %) diff-v2; default: unchanged',
    ],
    [
      modes('v1', [rule('a', 'v1', rollout([5, 50]))]),
      modes('v1', [rule('a', 'v1', rollout([5, 50], { retries: 1 }))]),
      'a: v1, rollout iam (5 %, 50 %) diff-v2, with other conditions; default: unchanged',
    ],
  ])('is one line (%#)', (before, after, line) => expect(describeChange(before, after)).toBe(line))

  it('names the subjects of clients only if they may be shown', () => {
    const [before, after] = [modes('v1'), modes('v1', [rule('a', 'v2', { clients: ['alice', 'bob'] })], ['carol'])]
    for (const line of [describeChange(before, after), describeRules(after)]) expect(line).not.toMatch(/alice|bob|carol/)
    expect(describeChange(before, after, true)).toBe(
      'a for alice, bob: no rule → v2; testers: no testers → testers carol; default: unchanged',
    )
    expect(describeRules(after, true)).toBe('a for alice, bob v2; everything else v1; testers carol')
  })

  it('has a bounded length', () => {
    const rules = Array.from({ length: 1000 }, (_, nth) => rule(`${nth}.${'x'.repeat(1000)}`, 'v1', { clients: 'y'.repeat(1000) }))
    for (const line of [describeChange(modes('v1'), modes('v1', rules), true), describeRules(modes('v1', rules), true)]) {
      expect(line.length).toBeLessThan(30_000)
      expect(line).toMatch(/; and 96\d more$/)
    }
  })
})
