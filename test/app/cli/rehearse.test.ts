import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { runCommand } from './support.ts'

const DIFF_V1 = { mode: 'diff-v1' } as const

describe('a rehearsal', () => {
  let stage: Stage
  beforeEach(async () => {
    stage = await startStage(DIFF_V1)
  })
  const read = async (...paths: readonly string[]) => {
    for (const path of paths) await stage.request('GET', path)
    await stage.settled()
  }
  const TOKEN = () => ({ TOKEN: stage.sandbox.tokens.admin })
  const rehearse = (...argv: string[]) => runCommand(['rehearse', ...argv, '--rate', '1000', '--admin', stage.adminUrl], TOKEN())
  const cutover = (target = '0.9') => runCommand(['cutover', '--target', target, '--admin', stage.adminUrl])
  const post = async (body: unknown, at = stage.adminUrl) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${at}/rehearsals`, { method: 'POST', headers, body: JSON.stringify(body) })
    return { status: answer.status, body: (await answer.json()) as { message?: string; outcome?: string } }
  }
  const evidenceOf = async (operation: string) => (await stage.evidence()).operations.find((one) => one.operation === operation)

  it('asks for the reads that are missing, and counts for their kinds alone', async () => {
    await read('/iam/v1/roles?limit=5')
    const before = await evidenceOf('iam.roles.list')
    expect((await cutover()).out).toContain('crosswalk rehearse may do 1 of the others now.')
    const { code, out } = await rehearse()
    expect([code, out]).toEqual([0, '1 kind of reads lacks answers; 2 reads: 2 match\ncrosswalk cutover says what that changed.'])
    const after = await evidenceOf('iam.roles.list')
    const figures = (one: typeof before) => [one?.n, one?.bad, one?.comparisons, one?.booked, one?.perDay, one?.callers, one?.lastAt]
    expect(figures(after)).toEqual(figures(before))
    expect(after?.kinds).toMatchObject([{ same: 1, rehearsed: 2, callers: 2 }])
    expect((await stage.evidence()).traffic).toEqual({ 'iam.roles.list': 1 })
    const ready = await cutover('0.999')
    expect(ready.out).toContain('iam.roles.list: seen the same once, and 2 times by rehearsal')
    expect((await rehearse()).out).toBe('No read is missing: nothing was sent.')
  })

  it('keeps the verdict from READY where v2 is wrong, until a rehearsal of the same caller is right', async () => {
    await read('/iam/v1/roles')
    await stage.fault({ match: 'GET /iam/v2/roles', change: { at: '/roles/*/name', to: 'wrong' } })
    const { code, out } = await rehearse()
    expect([code, out]).toEqual([1, expect.stringMatching(/^mismatch {2}\/iam\/v1\/roles {2}HTTP 200 and 200 {2}value .*name/m)])
    const { code: asked, out: verdict } = await cutover()
    expect([asked, verdict]).toEqual([1, expect.stringMatching(/wrong to client [\da-f]+ at its last comparison/)])
    expect(verdict).not.toContain('crosswalk rehearse may')
    await stage.clearFaults()
    for (let nth = 0; nth < 3; nth += 1)
      expect((await post({ url: '/iam/v1/roles', token: stage.sandbox.tokens.admin })).body.outcome).toBe('match')
    expect((await cutover()).out).toContain('iam.roles.list: seen the same once, and 3 times by rehearsal')
  })

  it('opens no circuit and moves no rollout', async () => {
    await stage.fault({ match: 'GET /iam/v2/roles', change: { at: '/roles/*/name', to: 'wrong' } })
    for (let nth = 0; nth < 12; nth += 1) await post({ url: '/iam/v1/roles', token: stage.sandbox.tokens.admin })
    expect((await stage.evidence()).circuits).toEqual({})
  })

  it('sends no write, whatever is asked of it', async () => {
    await stage.clearJournal()
    const { tokens } = stage.sandbox
    const refused = async (url: unknown, token: unknown = tokens.owner) => (await post({ url, token })).body.message
    expect(await refused('/iam/v1/groups/x:requestGroupAccess')).toMatch(
      /^Invalid argument: url: must be the path and the query of a v1 GET/,
    )
    expect(await refused('/iam/v2/groups')).toContain('url: must be the path and the query of a v1 GET')
    expect(await refused('/registry/v1/vuln_reports')).toContain('url: is one that only v1 answers')
    expect(await refused('http://127.0.0.1:1/iam/v1/roles')).toBeDefined()
    expect(await refused(7)).toContain('url must be the path')
    expect(await refused('/iam/v1/groups?name=hidden%zz')).toContain('url: has a query that cannot be decoded')
    expect(JSON.stringify(stage.log)).not.toContain('hidden')
    expect(await refused('/iam/v1/roles', 'two words')).toContain('token must be a bearer token')
    expect((await post([])).body.message).toBe('the body must be an object {"url", "token"}')
    expect((await post({ url: '/iam/v1/roles', token: 'x', more: 1 })).status).toBe(400)
    expect(await stage.journal()).toEqual([])
    await stage.request('POST', '/iam/v1/groups', { body: { name: 'a' } })
    await stage.settled()
    await stage.clearJournal()
    expect((await rehearse()).out).toBe('No read is missing: nothing was sent.')
    expect(await stage.journal()).toEqual([])
    expect((await cutover()).out).toContain('give it a share: crosswalk rollouts iam.groups.create start.')
  })

  it('counts nothing if v1 does not accept the credential', async () => {
    await read('/iam/v1/roles')
    const { status, body } = await post({ url: '/iam/v1/roles', token: 'nobody' })
    expect([status, body.outcome]).toEqual([200, 'refused'])
    expect((await evidenceOf('iam.roles.list'))?.kinds).toMatchObject([{ same: 1, callers: 1 }])
    const { code, out } = await runCommand(['rehearse', '--rate', '1000', '--admin', stage.adminUrl], { TOKEN: 'nobody' })
    expect([code, out]).toEqual([1, expect.stringContaining('refused  /iam/v1/roles  HTTP 401 and 401')])
  })

  it('takes the values that are not kept from a log', async () => {
    await read('/iam/v1/roles?name=viewer')
    const first = await rehearse()
    expect([first.code, first.out]).toEqual([
      1,
      expect.stringMatching(/^unknown {2}iam\.roles\.list\?name=.*: its values are not kept; give a log of its requests as FILE$/m),
    ])
    const log = join(mkdtempSync(join(tmpdir(), 'crosswalk-rehearse-')), 'access.log')
    const line = (request: string) => `192.0.2.7 - ci [10/Oct/2026:13:55:36 +0000] "${request} HTTP/1.1" 200 512 "-" "curl/8.5.0"\n`
    writeFileSync(
      log,
      ['GET /iam/v1/roles?name=owner', 'POST /iam/v1/groups', 'GET /iam/v1/groups', 'GET /iam/v1/roles?name=viewer'].map(line).join(''),
    )
    expect((await rehearse(log, '--dry-run')).out.split('\n').slice(1)).toEqual([
      '  /iam/v1/roles?name=owner',
      '  /iam/v1/roles?name=viewer',
    ])
    expect(await rehearse(log)).toMatchObject({ code: 0, out: expect.stringContaining('2 reads: 2 match') })
    expect((await cutover('0.999')).out).toContain('iam.roles.list: seen the same once, and 2 times by rehearsal')
  })

  it('is bounded, and says so', async () => {
    await read('/iam/v1/roles')
    const { code, out } = await rehearse('--max', '1')
    expect([code, out]).toEqual([1, expect.stringContaining('1 further read: raise --max to send them')])
    const began = performance.now()
    expect((await runCommand(['rehearse', '--rate', '10', '--admin', stage.adminUrl], TOKEN())).code).toBe(0)
    for (const nth of [1, 2]) await stage.request('GET', `/iam/v1/groups?limit=${nth}`)
    await stage.settled()
    expect((await runCommand(['rehearse', '--rate', '10', '--admin', stage.adminUrl], TOKEN())).out).toContain('2 reads: 2 match')
    // The second of two reads waits for a tenth of a second.
    expect(performance.now() - began).toBeGreaterThanOrEqual(100)
    // A slow machine would earn further reads meanwhile.
    const stopped = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => stopped.mockRestore())
    const all = await Promise.all(Array.from({ length: 150 }, () => post({ url: '/iam/v1/roles', token: stage.sandbox.tokens.admin })))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200, 429]))
    expect(await rehearse('--max', '0')).toMatchObject({ code: 2, err: '--max must be a whole number above 0.' })
    const without = await runCommand(['rehearse', '--admin', stage.adminUrl])
    expect(without).toMatchObject({ code: 2, err: expect.stringMatching(/^TOKEN is not set/) })
  })

  it('prints the token nowhere, and keeps it nowhere', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'crosswalk-rehearse-')), 'records.ndjson')
    const recorded = { ...DIFF_V1, sandbox: stage.sandbox, proxy: { 'records.file': file } }
    const proxy = await startStage(recorded)
    const { admin } = stage.sandbox.tokens
    const told = [
      await post({ url: '/iam/v1/roles', token: admin }, proxy.adminUrl),
      await post({ url: 'x', token: admin }, proxy.adminUrl),
    ]
    const metrics = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
    await proxy.close()
    const kept = readFileSync(file, 'utf8')
    expect(kept).toContain('"kind":"rehearsal"')
    for (const text of [kept, metrics, JSON.stringify([told, proxy.log])]) expect(text).not.toContain(admin)
    const again = await startStage(recorded)
    const { operations, traffic } = (await (await fetch(`${again.adminUrl}/evidence`)).json()) as EvidenceReport
    expect([operations, traffic]).toMatchObject([[{ operation: 'iam.roles.list', n: 0, comparisons: 0, kinds: [{ rehearsed: 1 }] }], {}])
  })

  it('counts for all replicas that share a store, and another epoch forgets it', async () => {
    const memory = createMemory(Date.now)
    const shared = await startStage({ ...DIFF_V1, sandbox: stage.sandbox, stores: [memory.open(), memory.open()] })
    const [a, b] = shared.servers
    await shared.request('GET', '/iam/v1/roles')
    await shared.over()
    const ran = await runCommand(['rehearse', '--rate', '1000', '--admin', b.adminUrl], TOKEN())
    expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('2 reads: 2 match') })
    const asked = async () => ((await (await fetch(`${a.adminUrl}/evidence`)).json()) as EvidenceReport).operations
    expect(await asked()).toMatchObject([{ operation: 'iam.roles.list', n: 1, kinds: [{ same: 1, rehearsed: 2, callers: 2 }] }])
    await (await fetch(`${a.adminUrl}/evidence/epoch`, { method: 'POST' })).text()
    expect(await asked()).toEqual([])
  })
})

describe('a daily operation of which v2 fails', () => {
  const asked = async (change: object | undefined) => {
    const stage = await startStage(DIFF_V1)
    const cutover = () => runCommand(['cutover', '--target', '0.9', '--admin', stage.adminUrl])
    const { tokens } = stage.sandbox
    if (change) await stage.fault({ match: 'GET /registry/v2/repos', change })
    await stage.request('GET', '/registry/v1/repos')
    await stage.settled()
    const first = await cutover()
    const ran = await runCommand(['rehearse', '--rate', '1000', '--admin', stage.adminUrl], { TOKEN: tokens.admin })
    for (const token of Object.values(tokens)) {
      for (const query of ['', '?limit=1', '?limit=2', '?order_by=name']) await stage.request('GET', `/iam/v1/groups${query}`, { token })
    }
    await stage.settled()
    return { first, ran, last: await cutover() }
  }

  it('is in the way right after its first call, and stays so', async () => {
    const { first, ran, last } = await asked({ at: '/repos/*/name', to: 'wrong' })
    const said = { code: 1, out: expect.stringMatching(/^ {2}no {3}registry\.repos\.list: OUTSIDE: 1 mismatch;/m) }
    expect([first, last]).toMatchObject([said, said])
    expect(ran.out).not.toContain('/registry/v1/repos')
  })

  it('is in the way until it is rehearsed, if v2 is right', async () => {
    const { first, ran, last } = await asked(undefined)
    expect(first).toMatchObject({ code: 1, out: expect.stringContaining('registry.repos.list: INCONCLUSIVE') })
    expect([ran.code, last.code, last.out]).toEqual([0, 0, expect.stringMatching(/^Ready to cut over\./)])
  })
})

it('the rollout of one operation is started by its name, after the rules of some clients', async () => {
  const pinned = { operations: '*', clients: 'billing', mode: 'v1' }
  const stage = await startStage({
    proxy: { modes: { default: 'v1', rules: [pinned, { operations: 'iam.*', clients: '*', mode: 'diff-v1' }], testers: [] } as never },
  })
  const rollouts = (...argv: string[]) => runCommand(['rollouts', ...argv, '--admin', stage.adminUrl])
  expect(await rollouts('iam.groups.create', 'start')).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /^Version \d+: iam\.groups\.create: no rule → diff-v1, rollout iam\.groups\.create \(1 %, 5 %, 25 %, 50 %, 100 %\) diff-v2/,
    ),
  })
  const { rules } = JSON.parse((await runCommand(['modes', 'get', '--json', '--admin', stage.adminUrl])).out)
  expect(rules).toMatchObject([pinned, { operations: 'iam.groups.create' }, { operations: 'iam.*' }])
  expect((await rollouts()).out).toMatch(/^iam\.groups\.create {2}running, step 1 of 5, 1 % of the callers/)
  expect(await rollouts('iam.groups.create', 'start')).toMatchObject({ code: 2, err: expect.stringContaining('already') })
  expect(await rollouts('iam.groups.crate', 'start')).toMatchObject({
    code: 2,
    err: expect.stringContaining('did you mean "iam.groups.create"?'),
  })
})
