import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Report } from '../../../src/admin/report/report.ts'
import type { CutoverVerdict } from '../../../src/migrate/evidence/cutover.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'
import { runCommand } from './support.ts'

const GROUPS = ['', '?limit=1', '?offset=1&limit=2', '?id=x', '?order_by=name'].map((query) => `/iam/v1/groups${query}`)

/** Sends reads as every client. Both sides answer them alike, unless a fault is set. */
async function cleanReads(stage: Stage): Promise<void> {
  for (const token of Object.values(stage.sandbox.tokens)) for (const path of GROUPS) await stage.request('GET', path, { token })
  await stage.settled()
}

describe('cutover', () => {
  let stage: Stage
  beforeEach(async () => {
    stage = await startStage({ mode: 'diff-v1' })
  })
  const read = async (...paths: readonly string[]) => {
    for (const path of paths) await stage.request('GET', path)
    await stage.settled()
  }
  const cutover = (...argv: string[]) => runCommand(['cutover', ...argv, '--admin', stage.adminUrl])

  it('reports no evidence at first', async () => {
    expect(await cutover()).toEqual({
      code: 1,
      out: 'Not ready: 1 in the way.\n  no   No v1 request was seen yet: nothing is known.',
      err: '',
    })
  })

  it('names missing evidence and mismatches', async () => {
    await stage.request('GET', '/iam/v1/groups')
    await stage.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/*/name', to: 'wrong' } })
    await read('/registry/v1/repos')
    const { code, out } = await cutover('--each')
    expect(code).toBe(1)
    const lines = out.split('\n')
    expect([lines[0], lines.filter((line) => line.length > 100)]).toEqual(['Not ready: 2 in the way.', []])
    expect(out).toMatch(
      /^ {2}no {3}iam\.groups\.list: INCONCLUSIVE after 1 observation \(bound 100 %\);\n {9}3,281 more clean observations until ≤ 0\.1 %\.$/m,
    )
    expect(lines.filter((line) => line.includes('not known yet'))).toEqual([
      'How long these 2 operations take is not known yet: a pace needs an hour of observations.',
    ])
    expect(out).toMatch(
      /^ {2}no {3}registry\.repos\.list: OUTSIDE: 1 mismatch;\n {9}1 of 1 observation and 100 % of the requests were wrong\.\n {9}Fix them, then /m,
    )
  })

  it('waits for comparisons that are in progress', async () => {
    await stage.fault({ match: 'GET /iam/v2/groups', delayMs: 1200 })
    await stage.request('GET', '/iam/v1/groups')
    const { out } = await cutover('--json', '--wait', '30')
    expect(JSON.parse(out)).toMatchObject({ operations: [{ operation: 'iam.groups.list', evidence: { n: 1 } }] })
  })

  it('tells CI the answer as JUnit', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'crosswalk-junit-')), 'cutover.xml')
    const asked = async (...argv: string[]) => {
      const { code, out } = await cutover(...argv, '--junit', file)
      expect(out.split('\n').at(-1)).toBe(`written to ${file}`)
      return [code, readFileSync(file, 'utf8')]
    }
    const head = (tests: number, failures: number) =>
      `<testsuite name="crosswalk cutover" tests="${tests}" failures="${failures}" errors="0" skipped="0">`
    const [none, nothing] = await asked()
    expect([none, nothing]).toEqual([1, expect.stringContaining(head(1, 1))])
    await read('/iam/v1/groups')
    const [code, text] = await asked()
    expect([code, text]).toEqual([1, expect.stringContaining(head(1, 1))])
    expect(text).toContain('name="iam.groups.list"><failure message="iam.groups.list: INCONCLUSIVE, because it was seen the same once; ')
    await cleanReads(stage)
    expect(await asked('--target', '0.9')).toEqual([
      0,
      expect.stringContaining(`${head(1, 0)}\n    <testcase classname="crosswalk cutover" name="iam.groups.list"/>`),
    ])
  })

  it('judges all requests together', async () => {
    await cleanReads(stage)
    await read('/iam/v1/roles')
    const first = await cutover('--target', '0.9')
    expect(first.code).toBe(1)
    expect(first.out).toMatch(
      /^ {2}no {3}iam\.roles\.list: INCONCLUSIVE, because it was seen the same once;\n {9}at least 3 are asked for/m,
    )
    expect(first.out).toMatch(/^ {2}ok {3}At most .+ % of \d+ requests get something wrong, at 95 % confidence/m)
    expect(first.out).toMatch(
      /^1 of 2 operations is ready\.\ncrosswalk rehearse may do 1 of the others now\.\nIt is not known when all will be: /m,
    )
    for (const query of ['', '?limit=1', '?name=x']) {
      for (const token of Object.values(stage.sandbox.tokens)) await stage.request('GET', `/iam/v1/roles${query}`, { token })
    }
    await stage.settled()
    expect(await cutover('--target', '0.9')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Ready to cut over\.\n[\s\S]*^Each kind of request was seen the same at least 3 times/m),
    })
    const strict = JSON.parse((await cutover('--json')).out) as CutoverVerdict
    expect(strict).toMatchObject({ ready: false, target: 0.001, whole: { each: 3, isInside: false } })
    expect((await cutover()).out).toMatch(
      /^ {2}no {3}All together: up to [\s\S]+ {9}[\d,]+ more clean observations, spread like the requests/m,
    )
  })

  it('takes targets and acceptances by name from the proxy, and so does its report', async () => {
    await cleanReads(stage)
    await read('/iam/v1/roles')
    const accept = { reason: 'nobody reads roles', until: '2100-01-01' }
    stage.reload({
      'cutover.operations': [
        { operations: 'iam.groups.*', target: 0.9 },
        { operations: 'iam.roles.list', accept },
      ],
    })
    const { code, out } = await cutover('--each')
    expect(code).toBe(0)
    expect(out).toMatch(/^Ready to cut over\.\n {2}ok {3}iam\.groups\.list: bound .* ≤ 90 % after/)
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      '-- iam.roles.list is accepted without proof until 2100-01-01 (1 call by 1 client): nobody reads roles. ',
    )
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'All 1 operations with traffic have a bound within their targets; 1 more with 1 request is accepted without proof.',
    )
    const whole = await cutover()
    expect([whole.code, whole.out.replaceAll(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringMatching(/^Ready to cut over\. .* enough of all together; 1 more with 1 request is accepted without proof\./),
    ])
    const report = (await (await fetch(`${stage.adminUrl}/report.json`)).json()) as Report
    expect(report).toMatchObject({ ready: true, operations: [{ operation: 'iam.roles.list', accepted: accept }, { target: 0.9 }] })
    const evidence = await stage.evidence()
    expect(evidence.operations.map(({ operation, needed }) => [operation, needed > 0])).toEqual([
      ['iam.groups.list', false],
      ['iam.roles.list', true],
    ])
  })

  it.each([
    [['--each', '--each-min', '2'], 'The flag --each-min says nothing with --each'],
    [['--each-min', '0'], 'each-min is "0" in the flag --each-min, but it must be a whole number from 1 on.'],
  ])('refuses %j', async (argv, problem) => {
    expect(await cutover(...argv)).toMatchObject({ code: 2, err: expect.stringContaining(problem) })
  })

  it('names an open circuit, and so does the report of the proxy', async () => {
    await stage.fault({ match: 'GET /iam/v2/groups', change: { at: '/groups/*/name', to: 'wrong' } })
    await cleanReads(stage)
    expect((await cutover('--target', '0.9')).out).toMatch(/^ {2}no {3}iam\.groups\.list: .*circuit is open\.\n {9}mismatches: /m)
    const report = (await (await fetch(`${stage.adminUrl}/report.json`)).json()) as Report
    expect(report).toMatchObject({ ready: false, reasons: expect.arrayContaining([expect.stringContaining('circuit is open')]) })
  })

  it('tells the rollouts of what is judged', async () => {
    await cleanReads(stage)
    const canary = (name: string) => ({ mode: 'diff-v2', rollout: { name, steps: [{ percent: 1, hold: '1h' }] } })
    const rule = (name: string) => ({ operations: `${name}.*`, mode: 'v1', canary: canary(name) })
    const body = JSON.stringify({ default: 'diff-v1', rules: [rule('iam'), rule('registry')] })
    await fetch(`${stage.adminUrl}/modes`, { method: 'PUT', headers: { 'content-type': 'application/json' }, body })
    const { code, out } = await cutover('--target', '0.15')
    expect([code, out.split('\n').filter((line) => line.startsWith('Rollout'))]).toEqual([
      0,
      ['Rollout iam is running at 1 %: It starts at its first step.'],
    ])
  })

  it('is ready once the clean evidence meets the target', async () => {
    await cleanReads(stage)
    const seen = 'Each kind of request was seen the same at least 3 times, and so was enough of all together.'
    expect(await cutover('--target', '0.15')).toMatchObject({ code: 0, out: expect.stringContaining(seen) })
    expect(await cutover('--target', '0.15', '--each')).toMatchObject({
      code: 0,
      out: expect.stringContaining('All 1 operations with traffic have a bound of 15 % or less.'),
    })
    expect((await cutover('--target', '0.001')).code).toBe(1)
    const verdict = JSON.parse((await cutover('--json')).out)
    expect(verdict).toMatchObject({
      ready: false,
      target: 0.001,
      operations: [{ operation: 'iam.groups.list', standing: 'inconclusive', clients: expect.any(Array) }],
      asked: [{ admin: stage.adminUrl }],
    })
  })

  it('lets stay with v1 what only v1 answers, until --without-v1 asks for the end', async () => {
    await cleanReads(stage)
    await read('/registry/v1/vuln_reports', '/libraries/v1/artifacts?ecosystems=GO')
    const now = await cutover('--target', '0.15')
    expect(now).toMatchObject({ code: 0, err: '' })
    expect(now.out).toMatch(/^ {2}v1 {3}libraries\.artifacts\.list\?ecosystems stays with v1 \(1 call by 1 client\): /m)
    expect(now.out).toMatch(/^ {2}v1 {3}registry\.vuln_reports\.list stays with v1 \(1 call by 1 client\): /m)
    expect(now.out.replaceAll(/\s+/g, ' ')).toMatch(/^Ready to cut over\. .* enough of all together; 2 more stay with v1\./)
    const end = await cutover('--target', '0.15', '--without-v1')
    expect(end.code).toBe(1)
    expect(end.out).toMatch(/^ {2}no {3}registry\.vuln_reports\.list needs a v1 service \(1 call by 1 client: [0-9a-f]{16} 1\):\s/m)
    expect(end.out.split('\n')[0]).toBe('Not ready: 2 in the way.')
  })

  it('judges only what --operations and --clients name, and says what that means', async () => {
    await cleanReads(stage)
    await read('/registry/v1/repos')
    const ready = ['--target', '0.15']
    expect((await cutover(...ready)).code).toBe(1)
    expect((await cutover(...ready, '--operations', 'iam.*')).code).toBe(0)
    expect((await cutover(...ready, '--operations', 'iam.*', '--operations', '*.repos.list')).code).toBe(1)
    const { operations } = JSON.parse((await cutover('--json')).out) as Pick<CutoverVerdict, 'operations'>
    const [groups = [], repos = []] = operations.map(({ clients }) => clients.map(({ caller }) => caller))
    const other = await cutover(...ready, '--clients', groups.find((caller) => !repos.includes(caller)) ?? '')
    const owner = await cutover(...ready, '--clients', repos[0] ?? '')
    expect([owner.code, other.code]).toEqual([1, 0])
    expect(other.out).toContain('Their evidence is that of all clients')
    const err = '--clients "nobody" fits no client that was seen; crosswalk clients lists them.'
    expect(await cutover('--clients', 'nobody')).toEqual({ code: 2, out: '', err })
  })

  it('judges several replicas together', async () => {
    const second = await startStage({ mode: 'diff-v1' })
    await cleanReads(stage)
    await second.request('GET', '/iam/v1/roles')
    await second.settled()
    const both = ['--target', '0.15', '--admin', second.adminUrl]
    expect(JSON.parse((await cutover('--json', ...both)).out)).toMatchObject({
      ready: false,
      operations: [
        { operation: 'iam.groups.list', standing: 'inside' },
        { operation: 'iam.roles.list', standing: 'inconclusive' },
      ],
      asked: [{ admin: second.adminUrl }, { admin: stage.adminUrl }],
      assumptions: [],
    })
    await second.request('GET', GROUPS[0]!)
    await second.settled()
    expect((await cutover(...both)).out).toContain('At 1 operation, clients reached more than one proxy')
  })

  it('is never ready if one of the replicas cannot be asked', async () => {
    await cleanReads(stage)
    const gone = await startUpstream(answering({}))
    await gone.close()
    const { code, out, err } = await cutover('--target', '0.15', '--admin', gone.url)
    expect([code, err]).toEqual([3, expect.stringContaining(`No proxy answers on ${gone.url}`)])
    expect(out).toContain('  ok   iam.groups.list')
    expect(out.split('\n')[0]).toBe('Not known: 1 of 2 proxies could not be asked.')
    const json = JSON.parse((await cutover('--target', '0.15', '--admin', gone.url, '--json')).out)
    expect(json).toMatchObject({ ready: false, reasons: [expect.stringContaining('No proxy answers')] })
  })
})

it.each([
  ['is no admin port', { operations: 'many' }, []],
  [
    'tells less of its rollouts',
    { operations: [], traffic: {}, strangers: {}, circuits: {}, queue: {} },
    [{ name: 'iam', operations: ['iam.*'] }],
  ],
])('cutover cannot ask a server that %s', async (_, body, rollouts) => {
  const answers: Readonly<Record<string, unknown>> = { '/clients': [], '/rollouts': rollouts }
  const other = await startUpstream((request, ...rest) => answering(answers[request.url ?? ''] ?? body)(request, ...rest))
  const { code, err } = await runCommand(['cutover', '--admin', other.url])
  expect([code, err]).toEqual([3, `${other.url} answers, but not as the admin port of this version of Crosswalk.`])
})

it.each([
  [['--operations', 'iam.group.*'], '--operations "iam.group.*" fits no operation; did you mean "iam.groups.*"?'],
  [['--operations', 'iam.groups.lst'], '--operations "iam.groups.lst" fits no operation; did you mean "iam.groups.list"?'],
  [['--operations', 'zzzzzz'], '--operations "zzzzzz" fits no operation; crosswalk operations lists them.'],
  [['--target=0'], '--target is "0", but it must be a share between 0 and 1, such as 0.001.'],
  [['--target=1'], '--target is "1", but it must be a share between 0 and 1, such as 0.001.'],
  [['--target=-1'], '--target is "-1", but it must be a share between 0 and 1, such as 0.001.'],
  [['--target=x'], '--target is "x", but it must be a share between 0 and 1, such as 0.001.'],
])('cutover refuses %j', async (argv, err) => {
  expect(await runCommand(['cutover', ...argv])).toEqual({ code: 2, out: '', err })
})
