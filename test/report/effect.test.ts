import { describe, expect, it } from 'vitest'
import { effectOn, forMost } from '../../src/admin/report/commands.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import { createSelect } from '../../src/migrate/modes/select.ts'
import { inForce } from './in-force-of.ts'

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

describe('what is active for an operation', () => {
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
