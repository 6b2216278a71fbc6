import { execFile } from 'node:child_process'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { tables } from '../../mappings/index.ts'
import { allBackToV1, word } from '../../src/admin/report/commands.ts'
import type { InForce } from '../../src/admin/report/history.ts'
import { nextStep } from '../../src/admin/report/next-step.ts'
import type { OperationReport, Report } from '../../src/admin/report/report.ts'
import { configWith } from '../../src/app/config/config.ts'
import { declarationsWith } from '../../src/app/server/migration.ts'
import { OBSERVATION } from '../../src/migrate/evidence/evidence.ts'
import { type ModeRule, readModeRules } from '../../src/migrate/modes/rules.ts'
import { hasCurl, runCommand } from '../app/cli/support.ts'
import { type Stage, startStage } from '../stage/stage.ts'
import { comparison, folder, lines, reportOf, shows, traffic } from './report-stage.ts'

describe('next step', () => {
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
      [
        'knows a canary of all',
        inForce([canary(100)]),
        'v2 answers all its clients, and v1 is still',
        'Stop comparing it',
        'Go back to v1',
      ],
      ['stops comparing', inForce([rule({ mode: 'diff-v2' })]), 'v1 is still asked', 'Stop comparing it', 'Go back to v1'],
      ['leaves alone what is done', inForce([rule({ mode: 'v2' })]), 'There is nothing to do', 'Go back to v1'],
      [
        'names who is left',
        inForce([rule({ clients: 'some', mode: 'v1' }), rule({ mode: 'v2' })]),
        'but those that a rule leaves to v1. Move these',
        'Go back to v1',
      ],
      ['needs a v1 service', inForce([], { hasV1: false }), 'there is no v1 service'],
    ])('%s', (_, now, ...said: readonly string[]) => {
      const found = step({ standing: 'inside' }, now)
      expect(found.map((text, at) => (text.includes(said[at] ?? '') ? said[at] : text))).toEqual(said)
    })

    it('says how many observations and requests were wrong, whatever each caller got besides', () => {
      const outside = { standing: 'outside', n: 1, bad: 1, share: 0.25, mismatches: 1, transients: 1, errors: 1 } as const
      expect(step(outside, inForce([]))[0]).toMatch(/^1 of 1 observation and 25 % of the requests were wrong\. Fix v2/)
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
      expect(step(quiet, inForce([rule({ mode: 'v2' })]))).toEqual([
        'Nothing compares it. Put it into a diff mode.',
        'Compare it (diff-v2)',
      ])
    })

    it('leaves who answers and the guardrail of a share as they are', () => {
      const rules = (operation: Partial<OperationReport>, own: ModeRule) => {
        const { commands } = nextStep({ ...wrong, ...operation }, { ...report, now: inForce([own]) }, ADMIN)
        return JSON.parse(/-d '(.*)'/s.exec(commands[0]?.text ?? '')?.[1] ?? '{}').rules
      }
      const share = (percent: number, mode: 'v2' | 'diff-v2') => ({ canary: { percent, mode, guardrail: { p99: 1.5 } } })
      const quiet = { standing: 'inconclusive' as const, differences: [] }
      expect(rules(quiet, rule({ mode: 'v1', ...share(5, 'v2') }))).toEqual([{ operations: LIST, mode: 'diff-v1', ...share(5, 'diff-v2') }])
      const inside = { standing: 'inside' as const }
      expect(rules(inside, rule(share(5, 'diff-v2')))).toEqual([{ operations: LIST, mode: 'diff-v1', ...share(25, 'diff-v2') }])
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

  it('everything back to v1 leaves no client to v2, and compares what was compared', () => {
    const rules = [canary(5), rule({ operations: 'iam.*', mode: 'v2' }), rule({ operations: '*.get', mode: 'v1' })]
    expect(allBackToV1({ default: 'diff-v2', rules, testers: ['a'] })).toEqual({
      default: 'diff-v1',
      rules: [rule({}), rule({ operations: 'iam.*', mode: 'v1' }), rule({ operations: '*.get', mode: 'v1' })],
      testers: ['a'],
    })
  })

  describe.skipIf(!hasCurl())('the printed commands', () => {
    let stage: Stage
    const token = 'the-token-that-changes'
    beforeAll(async () => {
      stage = await startStage({
        proxy: {
          modes: { default: 'diff-v1', rules: [rule({ operations: 'iam.*', clients: 'some' })], testers: ['x'] },
          'admin.token': token,
          'log.level': 'silent',
        },
      })
      return () => stage.close()
    })

    const current = async () => {
      const answer = await fetch(`${stage.adminUrl}/report.json`, { headers: { authorization: `Bearer ${token}` } })
      return (await answer.json()) as Report
    }
    const shell = (text: string) =>
      promisify(execFile)('sh', ['-c', `crosswalk() { printf '%s\\n' "$@"; }; ${text}`], { env: { ...process.env, ADMIN_TOKEN: token } })
    /** Runs the command with this title, as it is printed for an operation that stands there. */
    const paste = async (title: string, standing: OperationReport['standing'] = 'inside') => {
      const report = await current()
      const operation = report.operations.find(({ operation: id }) => id === 'iam.groups.list')!
      const { commands } = nextStep({ ...operation, standing }, report, { origin: stage.adminUrl, hasToken: true })
      const found = commands.find((one) => one.title.startsWith(title))
      if (!found) throw new Error(`${title} is not among ${commands.map((one) => one.title).join(', ')}`)
      return { text: found.text, ...(await shell(found.text)) }
    }
    const rulesNow = async () => (await current()).now?.rules

    it('change the modes of a running proxy, and nothing else', async () => {
      await stage.request('GET', '/iam/v1/groups')
      await stage.idle()
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
      // Only the traffic of a caller whose token was once accepted stands in the report.
      for (const path of ['/iam/v1/groups', '/registry/v1/vuln_reports']) await stage.request('GET', path)
      await stage.idle()
      const report = await current()
      const only = report.operations.find(({ standing }) => standing === 'v1-only')!
      const [command] = nextStep(only, report, { origin: stage.adminUrl, hasToken: true }).commands
      expect(command?.text).toMatch(/^CROSSWALK_ADMIN_TOKEN="\$ADMIN_TOKEN" crosswalk clients /)
      const argv = (await shell(command?.text ?? '')).stdout.trim().split('\n')
      expect(await runCommand(argv, { CROSSWALK_ADMIN_TOKEN: token })).toMatchObject({ code: 0 })
    })
  })
})

describe('crosswalk report', () => {
  const TIER = { kind: 'value', at: '/items/3/catalog_tier', where: '/items/*/catalog_tier', v1: 'APPLICATION', v2: 'BASE' } as const

  async function records(...names: readonly string[]): Promise<readonly string[]> {
    const path = await folder()
    const entries = [comparison(1), comparison(2, { outcome: 'mismatch', ...shows(TIER) }), traffic('a', 'registry.vuln_reports.list', 3)]
    const files = names.map((name) => join(path, name))
    await Promise.all(files.map((file, nth) => writeFile(file, lines(entries.slice(nth)))))
    return files
  }

  it('prints one line for each operation and difference', async () => {
    const [file = ''] = await records('a.ndjson')
    const strict = [
      'NOT READY: 0 of 2 operations inside 0.1 % (3 records)',
      'outside       registry.repos.list         n 2  wrong 1 (50 % of the requests)  bound 100 %  6,876 observations to go',
      '              value /items/*/catalog_tier  1×',
      'v1-only       registry.vuln_reports.list',
      OBSERVATION,
    ]
    expect(await runCommand(['report', file, '--each'])).toEqual({ code: 1, err: '', out: strict.join('\n') })
    const { code, out } = await runCommand(['report', file])
    const [head, together, when, ...rows] = out.split('\n')
    expect([code, [head, ...rows]]).toEqual([1, strict])
    expect(together).toMatch(
      /^All together: up to 100 % of 2 requests may be wrong after 2 observations of 1 operation; 6,8\d\d more clean observations, spread like the requests, until ≤ 0\.1 %\.$/,
    )
    expect(when).toMatch(/^0 of 1 operation is ready\. It is not known when all will be: /)
  })

  it('prints what the operator ignores, with its reason and its end', async () => {
    const path = join(await folder(), 'ignored.ndjson')
    await writeFile(path, lines([comparison(1, { outcome: 'expected', ...shows({ ...TIER, code: 'ignored:tier' }, 3) })]))
    const rule = (name: string, until: string) => ({ name, operations: 'registry.*', at: '/items/*/catalog_tier', reason: 'known', until })
    const rules = JSON.stringify([rule('tier', '9999-01-01'), rule('old', '2026-01-01T12:00:00+01:00')])
    const { out } = await runCommand(['report', path, '--diff-ignore', rules])
    expect(out.split('\n').slice(-2)).toEqual([
      'ignored       ignored:tier  3×  until 9999-01-01T00:00:00.000Z: known',
      'expired       ignored:old  0×  until 2026-01-01T11:00:00.000Z: known',
    ])
    const { declarations } = JSON.parse((await runCommand(['report', path, '--diff-ignore', rules, '--json'])).out)
    expect(declarations.slice(-2)).toMatchObject([
      { code: 'ignored:tier', state: 'matched', because: 'known' },
      { code: 'ignored:old', state: 'expired' },
    ])
  })

  it('prints the newest request of a difference, its place and its command', async () => {
    const path = join(await folder(), 'asked.ndjson')
    const request = { method: 'GET', url: '/registry/v1/repos?limit=3' }
    const mismatch = comparison(1, { outcome: 'mismatch', request, ...shows(TIER) })
    const failed = comparison(2, { outcome: 'error', request, reason: 'v2 answered HTTP 503' })
    await writeFile(path, lines([mismatch, failed]))
    const printed = (await runCommand(['report', path])).out.split('\n').map((line) => line.trim())
    expect(printed).toContain(`GET /registry/v1/repos?limit=3  ${TIER.at}  crosswalk case c1`)
    expect(printed).toContain('GET /registry/v1/repos?limit=3')
  })

  it('writes one self-contained page from several files', async () => {
    const files = await records('a.ndjson', 'b.ndjson')
    const html = join(await folder(), 'out.html')
    const { code, out } = await runCommand(['report', ...files, '--html', html])
    expect([code, out.split('\n').at(-1)]).toEqual([1, `written to ${html}`])
    const page = await readFile(html, 'utf8')
    expect(page).toContain('catalog_tier')
    expect(page).not.toMatch(/(?:src|href)="(?!data:|#)/)
  })

  it('prints JSON with which a later report is compared', async () => {
    const [file = ''] = await records('a.ndjson')
    const { out: json } = await runCommand(['report', file, '--json'])
    expect(JSON.parse(json)).toMatchObject({ format: 'crosswalk-report-1', operations: [{ operation: 'registry.repos.list', n: 2 }, {}] })
    const older = join(await folder(), 'older.json')
    await writeFile(older, json)
    const { out } = await runCommand(['report', file, '--against', older])
    expect(out).toContain('the older report was not ready')
    expect(out).toContain('bound 100 % (was 100 %)')
    const { code, err } = await runCommand(['report', file, '--against', file])
    expect([code, err]).toEqual([3, expect.stringContaining('cannot be held against: it is not')])
  })

  it('exits with 0 only if it is ready', async () => {
    const path = join(await folder(), 'clean.ndjson')
    const clean = Array.from({ length: 50 }, (_, nth) => comparison(nth))
    await writeFile(path, lines([...clean, traffic('a', 'registry.vuln_reports.list', 3)]))
    const report = (...argv: string[]) => runCommand(['report', ...argv, '--target', '0.1'])
    expect(await report(path)).toMatchObject({ code: 0, out: expect.stringMatching(/^READY: 1 of 2 /) })
    expect(await report(path, '--without-v1')).toMatchObject({ code: 1, out: expect.stringMatching(/^NOT READY: 1 of 2 /) })
    expect(await report(path, path)).toMatchObject({ code: 0, out: expect.stringContaining('(51 records)') })
    await copyFile(path, `${path}.copy`)
    const { code, out } = await report(path, `${path}.copy`)
    expect([code, out.split('\n')[0]]).toEqual([0, 'READY: 1 of 2 operations inside 10 % (51 records, 51 lines repeated)'])
  })

  it('never calls a file ready that it cannot read', async () => {
    const path = await folder()
    const [clean, log, empty] = [join(path, 'clean.ndjson'), join(path, 'big.log'), join(path, 'empty.ndjson')]
    await writeFile(clean, lines(Array.from({ length: 50 }, (_, nth) => comparison(nth))))
    await writeFile(log, '192.0.2.7 - - "GET /iam/v1/groups HTTP/1.1" 200\n'.repeat(10))
    await writeFile(empty, '')
    const report = (...argv: string[]) => runCommand(['report', ...argv, '--target', '0.1'])
    const err = `${log} is not a record file: most of its lines are not records.`
    expect(await report(log)).toMatchObject({ code: 3, err, out: expect.stringMatching(/^NOT READY/) })
    expect(await report(clean, log)).toMatchObject({ code: 3, err, out: expect.stringMatching(/^NOT READY: 1 of 1/) })
    expect(JSON.parse((await report(clean, log, '--json')).out)).toMatchObject({
      ready: false,
      reasons: [err],
      read: { skipped: 10, unreadable: [log] },
    })
    expect((await report(empty)).code).toBe(1)
    expect((await report(clean, empty)).code).toBe(0)
    expect(await report('src')).toMatchObject({ code: 3, err: 'The folder src holds no record file (*.ndjson).' })
  })

  it('refuses files that it cannot read', async () => {
    expect(await runCommand(['report'])).toMatchObject({ code: 2, err: 'crosswalk report needs FILE. Usage: crosswalk report FILE...' })
    expect(await runCommand(['report', '/nowhere.ndjson'])).toMatchObject({ code: 3, err: expect.stringContaining('/nowhere.ndjson') })
    expect(await runCommand(['report', 'x', '--target', '2'])).toMatchObject({ code: 2, err: expect.stringContaining('between 0 and 1') })
  })
})
