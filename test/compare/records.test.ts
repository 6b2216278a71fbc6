import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nextStep } from '../../src/admin/report/next-step.ts'
import { runCommand } from '../cli/support.ts'
import { callMany, startComparison } from './given.ts'

const READ = { name: 'users.get', isRead: true } as const
const folder = mkdtempSync(join(tmpdir(), 'compare-'))
afterAll(() => rmSync(folder, { recursive: true }))

const user = async (n: number) => ({ id: `u${n}` })

describe('the records of functions', () => {
  it('count again after a restart', async () => {
    const file = join(folder, 'restart.jsonl')
    for (const nth of [1, 2]) {
      const stage = startComparison({ records: { file } })
      const getUser = stage.comparison.compare(user, user, READ)
      await callMany((n) => getUser(n + 1000 * nth), 30, stage)
      expect(stage.comparison.report().operations[0]).toMatchObject({ n: 30 * nth, matches: 30 * nth })
      await stage.comparison.close()
    }
  })

  it('are read by crosswalk report', async () => {
    const file = join(folder, 'report.jsonl')
    const stage = startComparison({ records: { file } })
    const getUser = stage.comparison.compare(user, async (n) => ({ id: `v${n}` }), READ)
    await callMany(getUser, 10, stage)
    await stage.comparison.close()
    const { out } = await runCommand(['report', file, '--each', '--target', '0.01'])
    expect(out.split('\n').slice(0, 3)).toEqual(stage.comparison.reportText().split('\n').slice(0, 3))
  })

  it('that cannot be read are no pass', async () => {
    const stage = startComparison({ records: { file: join(folder, 'missing', 'records.jsonl') } })
    const getUser = stage.comparison.compare(user, user, READ)
    await callMany(getUser, 400, stage)
    const { verdict, exitCode, reasons } = stage.comparison.verdict()
    expect([verdict, exitCode, reasons[0]]).toEqual(['INCONCLUSIVE', 3, expect.stringContaining('Earlier records could not be read')])
    expect(stage.warnings).toHaveLength(1)
  })

  it('lead on to a rule that its settings take, and to no command', async () => {
    const next = async (n: number) => ({ id: `v${n}` })
    const stage = startComparison()
    await callMany(stage.comparison.compare(user, next, READ), 3, stage)
    const report = stage.comparison.report()
    const { commands } = nextStep(report.operations[0]!, report, { url: '', token: '' } as never)
    expect(commands.map(({ title }) => title)).toEqual(['Accept it until a date, in the settings'])
    const again = startComparison(JSON.parse(commands[0]?.text ?? ''), { clocks: { ...stage.clocks, now: () => report.generatedAt } })
    await callMany(again.comparison.compare(user, next, READ), 3, again)
    expect(again.comparison.report().operations[0]).toMatchObject({ expected: 3, mismatches: 0 })
  })

  it('are those of a page that holds no values', async () => {
    const stage = startComparison()
    const getUser = stage.comparison.compare(user, async (n) => ({ id: `v${n}` }), READ)
    await callMany(getUser, 3, stage)
    const page = stage.comparison.reportPage()
    expect(page).toContain('"operation":"users.get"')
    expect(page).not.toContain('"v1":"u1"')
    writeFileSync(join(folder, 'page.html'), page)
  })
})
