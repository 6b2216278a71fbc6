import { afterAll, beforeAll, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { modesSchema } from '../../../src/migrate/modes/rules.ts'
import { ROLLOUT_PHASES } from '../../../src/migrate/rollout/plan.ts'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'

const rollout = { name: 'iam', steps: [{ percent: 5, hold: '1h' }] }
const rules = [
  { operations: 'iam.groups.*', mode: 'diff-v1', canary: { mode: 'diff-v2', rollout } },
  { operations: 'iam.roles.*', mode: 'v1', canary: { mode: 'v2', percent: 12.5 } },
]

let proxy: TestProxy
beforeAll(async () => {
  const nowhere = 'http://127.0.0.1:1'
  proxy = await startProxy({ 'upstream.v2': nowhere, 'upstream.v1': nowhere, modes: modesSchema.parse({ default: 'v2', rules }) })
})
afterAll(() => proxy.close())

const series = async (name: string) => {
  const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  return text.split('\n').filter((line) => line.startsWith(`${name}{`))
}

it('shows the mode of each operation that v2 can serve, and that of its canary', async () => {
  const lines = await series('crosswalk_mode_info')
  expect(lines).toContain('crosswalk_mode_info{operation="iam.groups.list",mode="diff-v1",canary_mode="diff-v2"} 1')
  expect(lines).toContain('crosswalk_mode_info{operation="registry.repos.list",mode="v2",canary_mode=""} 1')
  expect(lines).toContain('crosswalk_mode_info{operation="registry.eol_tags.list",mode="v1",canary_mode=""} 1')
  expect(lines).toHaveLength(mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined).length)
})

it('shows the active share, fixed or of a rollout', async () => {
  const lines = await series('crosswalk_canary_share')
  expect(lines).toContain('crosswalk_canary_share{operation="iam.groups.list"} 0.05')
  expect(lines).toContain('crosswalk_canary_share{operation="iam.roles.list"} 0.125')
  expect(lines.filter((line) => line.includes('registry'))).toEqual([])
})

it('shows the phase of a rollout among all phases', async () => {
  const lines = await series('crosswalk_rollout_phase')
  expect(lines.filter((line) => line.endsWith(' 1'))).toEqual(['crosswalk_rollout_phase{rollout="iam",phase="running"} 1'])
  expect(lines.filter((line) => line.endsWith(' 0'))).toHaveLength(ROLLOUT_PHASES.length - 1)
})
