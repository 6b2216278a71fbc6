import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tables } from '../../mappings/index.ts'
import { allBackToV1, word } from '../../src/admin/report/commands.ts'
import type { InForce } from '../../src/admin/report/history.ts'
import { nextStep } from '../../src/admin/report/next-step.ts'
import type { OperationReport, Report } from '../../src/admin/report/report.ts'
import { configWith } from '../../src/app/config/config.ts'
import { declarationsWith } from '../../src/app/server/migration.ts'
import { type ModeRule, readModeRules } from '../../src/migrate/modes/rules.ts'
import { hasCurl, runCommand } from '../cli/support.ts'
import { type Stage, startStage } from '../stage/stage.ts'
import { comparison, shows } from './entries.ts'
import { reportOf } from './given.ts'

const TIER = { kind: 'value', at: '/items/3/catalog_tier', where: '/items/*/catalog_tier', v1: 'APPLICATION', v2: 'BASE' } as const
const ADMIN = { origin: 'http://127.0.0.1:8081', hasToken: false }
const LIST = 'registry.repos.list'

const rule = (members: Partial<ModeRule>): ModeRule => ({ operations: LIST, clients: '*', mode: 'diff-v1', ...members })
const canary = (percent: number) => rule({ canary: { percent, mode: 'diff-v2' } })

function inForce(rules: readonly ModeRule[], members: Partial<InForce> = {}): InForce {
  const state = {
    rules: { default: 'diff-v1' as const, rules: [...rules], testers: [] },
    version: 1,
    tag: 'a-1',
    by: { source: 'start' as const },
  }
  return { ...state, at: 0, startedAt: 0, rollouts: [], circuits: {}, v1First: [], hasV1: true, ...members }
}

describe('the next step of an operation', () => {
  let report: Report
  let wrong: OperationReport
  beforeEach(async () => {
    report ??= await reportOf([
      comparison(1),
      comparison(2, { outcome: 'mismatch', ...shows(TIER), request: { method: 'GET', url: '/registry/v1/repos?limit=3' } }),
    ])
    wrong = report.operations[0]!
  })

  const step = (operation: Partial<OperationReport>, now: InForce) => {
    const { sentence, commands } = nextStep({ ...wrong, ...operation }, { ...report, now }, ADMIN)
    return [sentence, ...commands.map(({ title }) => title)]
  }

  it.each([
    ['gives a first share to what is inside', inForce([]), 'Give v2 a first share', 'Give v2 a share of 1 %', 'Let a rollout'],
    ['raises a share', inForce([canary(5)]), 'Raise the share', 'Raise the share to 25 %', 'Go back to v1'],
    ['ends a canary', inForce([canary(50)]), 'Raise the share', 'Let v2 answer all clients', 'Go back to v1'],
    ['stops comparing', inForce([rule({ mode: 'diff-v2' })]), 'v1 is still asked', 'Stop comparing it', 'Go back to v1'],
    ['leaves alone what is done', inForce([rule({ mode: 'v2' })]), 'There is nothing to do', 'Go back to v1'],
    ['needs a v1 service', inForce([], { hasV1: false }), 'there is no v1 service'],
  ])('%s', (_, now, ...said: readonly string[]) => {
    const found = step({ standing: 'inside' }, now)
    expect(found.map((text, at) => (text.includes(said[at] ?? '') ? said[at] : text))).toEqual(said)
  })

  it('closes a circuit after the difference is fixed', () => {
    expect(step({}, inForce([canary(5)], { circuits: { [LIST]: 'errors' } }))).toEqual([
      expect.stringMatching(/^Its circuit is open/),
      'Print an example as a test',
      'Print the v2 calls of its request',
      'Accept it until a date: crosswalk.json',
      'Declare it for good: mappings/differences.ts',
      'Close its circuit',
      'Go back to v1',
    ])
  })

  it('waits for evidence, or begins to compare', () => {
    const quiet = { standing: 'inconclusive' as const, differences: [], needed: 9 }
    expect(step(quiet, inForce([]))).toEqual(['Wait for 9 more observations, at a pace that is not known yet.'])
    expect(step(quiet, inForce([rule({ mode: 'v2' })]))).toEqual(['Nothing compares it. Put it into a diff mode.', 'Compare it (diff-v2)'])
  })

  it('leads to differences alone in a report of files', () => {
    const { sentence, commands } = nextStep(wrong, report, ADMIN)
    expect([sentence, commands[0]?.text]).toEqual(['Fix or declare 1 difference.', 'crosswalk case c2 --records FILE'])
  })

  it('explains the request of an example', async () => {
    const { text = '' } = nextStep(wrong, report, ADMIN).commands.find(({ title }) => title.includes('v2 calls')) ?? {}
    expect(text).toBe("crosswalk explain 'GET /registry/v1/repos?limit=3'")
    expect((await runCommand(['explain', 'GET /registry/v1/repos?limit=3'])).code).toBe(0)
  })

  it('suggests declarations that the configuration takes', () => {
    const { commands } = nextStep(wrong, report, ADMIN)
    const ignore = JSON.parse(commands.find(({ into }) => into === 'config')?.text ?? '').diff.ignore
    const read = configWith({ 'diff.ignore': ignore.map((one: { until: string }) => ({ ...one, until: Date.parse(one.until) })) })
    expect(declarationsWith(read['diff.ignore'], tables)).not.toHaveProperty('problem')
    expect(commands.find(({ into }) => into === 'differences.ts')?.text).toContain(
      `signs: [{ at: ["/items/*/catalog_tier"], kinds: ['value'] }]`,
    )
  })

  it('quotes what a shell would read', () => {
    expect(["it's", 'http://[::1]:8081/modes', 'a-b_c', '$(x)'].map(word)).toEqual([
      `'it'\\''s'`,
      `'http://[::1]:8081/modes'`,
      'a-b_c',
      `'$(x)'`,
    ])
  })
})

describe('everything back to v1', () => {
  it('leaves no client to v2, and compares what was compared', () => {
    const rules = [canary(5), rule({ operations: 'iam.*', mode: 'v2' }), rule({ operations: '*.get', mode: 'v1' })]
    expect(allBackToV1({ default: 'diff-v2', rules, testers: ['a'] })).toEqual({
      default: 'diff-v1',
      rules: [rule({}), rule({ operations: 'iam.*', mode: 'v1' }), rule({ operations: '*.get', mode: 'v1' })],
      testers: ['a'],
    })
  })
})

describe.skipIf(!hasCurl())('the printed commands', () => {
  let stage: Stage
  const token = 'the-token-that-changes'
  beforeAll(async () => {
    stage = await startStage({
      modes: { default: 'diff-v1', rules: [rule({ operations: 'iam.*', clients: 'some' })], testers: ['x'] },
      'admin.token': token,
      'log.level': 'silent',
    })
    return () => stage.close()
  })

  const current = async () => {
    const answer = await fetch(`${stage.server.adminUrl}/report.json`, { headers: { authorization: `Bearer ${token}` } })
    return (await answer.json()) as Report
  }
  const shell = (text: string) =>
    promisify(execFile)('sh', ['-c', `crosswalk() { printf '%s\\n' "$@"; }; ${text}`], { env: { ...process.env, ADMIN_TOKEN: token } })
  /** Runs the command with this title, as it is printed for an operation that stands there. */
  const paste = async (title: string, standing: OperationReport['standing'] = 'inside') => {
    const report = await current()
    const operation = report.operations.find(({ operation: id }) => id === 'iam.groups.list')!
    const { commands } = nextStep({ ...operation, standing }, report, { origin: stage.server.adminUrl, hasToken: true })
    const found = commands.find((one) => one.title.startsWith(title))
    if (!found) throw new Error(`${title} is not among ${commands.map((one) => one.title).join(', ')}`)
    return { text: found.text, ...(await shell(found.text)) }
  }
  const rulesNow = async () => (await current()).now?.rules

  it('change the modes of a running proxy, and nothing else', async () => {
    await stage.request('GET', '/iam/v1/groups')
    await stage.server.idle()
    const others = rule({ operations: 'iam.*', clients: 'some' })
    const own = (members: Partial<ModeRule>) => ({
      default: 'diff-v1',
      rules: [others, rule({ operations: 'iam.groups.list', ...members })],
      testers: ['x'],
    })
    const first = await paste('Give v2 a share of 1 %')
    expect(await rulesNow()).toEqual(own({ canary: { percent: 1, mode: 'diff-v2' } }))
    await expect(shell(first.text)).rejects.toMatchObject({ stdout: expect.stringContaining('the modes are at version 2') })
    await paste('Raise the share to 5 %')
    expect(await rulesNow()).toEqual(own({ canary: { percent: 5, mode: 'diff-v2' } }))
    await paste('Go back to v1')
    expect((await rulesNow())?.rules).toEqual([rule({ operations: 'iam.groups.list' }), others])
    await paste('Let a rollout')
    expect((await current()).now?.rollouts).toMatchObject([{ name: 'iam.groups.list', step: 1, steps: 5, percent: 1 }])
    await paste('Pause the rollout')
    await paste('Resume the rollout')
    await paste('Abort the rollout')
    expect((await current()).now?.rollouts).toMatchObject([{ phase: 'aborted', percent: 0 }])
    expect('problem' in readModeRules(await rulesNow())).toBe(false)
  })

  it('ask the admin port with its token', async () => {
    await stage.request('GET', '/registry/v1/vuln_reports')
    const report = await current()
    const only = report.operations.find(({ standing }) => standing === 'v1-only')!
    const [command] = nextStep(only, report, { origin: stage.server.adminUrl, hasToken: true }).commands
    expect(command?.text).toMatch(/^CROSSWALK_ADMIN_TOKEN="\$ADMIN_TOKEN" crosswalk clients /)
    const argv = (await shell(command?.text ?? '')).stdout.trim().split('\n')
    expect(await runCommand(argv, { CROSSWALK_ADMIN_TOKEN: token })).toMatchObject({ code: 0 })
  })
})
