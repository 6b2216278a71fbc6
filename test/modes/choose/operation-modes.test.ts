import { expect, it } from 'vitest'
import { modesSchema } from '../../../src/migrate/modes/rules.ts'
import { operationModes } from '../../../src/migrate/modes/select.ts'

const OPERATIONS = [
  { id: 'iam.groups.list', isV1First: false },
  { id: 'registry.eol_tags.list', isV1First: true },
]
const modesOf = (byDefault: string, rules: readonly object[], open?: string) =>
  operationModes(modesSchema.parse({ default: byDefault, rules }), OPERATIONS, (operation) => operation === open).map(
    ({ mode, canary }) => [mode, ...(canary ? [canary.mode, canary.percent] : [])],
  )
const canary = { percent: 5, mode: 'diff-v2' }

it('is the first rule for all clients, or the default', () => {
  expect(modesOf('diff-v2', [])).toEqual([['diff-v2'], ['diff-v1']])
  expect(
    modesOf('v1', [
      { operations: '*', clients: 'somebody', mode: 'v2' },
      { operations: 'registry.*', mode: 'v2' },
      { operations: '*', clients: ['x', '*'], mode: 'diff-v1', canary },
    ]),
  ).toEqual([['diff-v1', 'diff-v2', 5], ['v2']])
})

it('has a share of 0 if the circuit keeps v2 from the canary', () => {
  const rules = [{ operations: '*', mode: 'v1', canary }]
  expect(modesOf('v1', rules, 'iam.groups.list')).toEqual([
    ['v1', 'diff-v2', 0],
    ['v1', 'diff-v2', 5],
  ])
  expect(modesOf('v1', [{ operations: '*', mode: 'v2', canary }], 'iam.groups.list')[0]).toEqual(['v2', 'diff-v2', 5])
})
