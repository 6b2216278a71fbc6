import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeEach, expect, inject, it } from 'vitest'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { runCommand } from './support.ts'

/** A folder inside of the built package, so that the printed tests find `crosswalk/case`. It is removed at the end. */
const cases = mkdtempSync(join(dirname(inject('cli')), '../case-'))
const records = mkdtempSync(join(tmpdir(), 'crosswalk-case-'))
afterAll(() => {
  rmSync(cases, { recursive: true })
  rmSync(records, { recursive: true })
})

let stage: Stage
beforeEach(async () => {
  stage = await startStage({ mode: 'diff-v1', proxy: { 'records.file': join(records, 'records.ndjson'), 'diff.learnEvery': 0 } })
})

const BUGS: readonly (readonly [path: string, fault: object])[] = [
  ['/registry/v1/repos?limit=3', { match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } }],
  ['/registry/v1/repos?limit=4&offset=1', { match: 'GET /registry/v2/repos', change: { at: '/repos/1/name', to: 'wrong' } }],
  ['/registry/v1/repos', { match: 'GET /registry/v2/repos', drop: '/repos/*/createTime' }],
  ['/iam/v1/groups', { match: 'GET /iam/v2/groups', change: { at: '/groups/0/description', to: 'wrong' } }],
  ['/iam/v1/roles', { match: 'GET /iam/v2/roles', status: 403 }],
  ['/advisory/v1/metadata', { match: 'GET /advisory/v2/metadata', drop: '/vulnerabilityMetadata/0/summary' }],
]

it('prints a recorded mismatch as a test that reproduces it', async () => {
  for (const [path, fault] of BUGS) {
    await stage.fault(fault)
    expect((await stage.request('GET', path, { token: stage.sandbox.tokens.admin })).status).toBe(200)
    await stage.settled()
    await stage.clearFaults()
  }
  const known = (await (await fetch(`${stage.adminUrl}/comparisons?limit=100`)).json()) as Comparison[]
  const mismatches = known.filter(({ outcome }) => outcome === 'mismatch')
  expect(mismatches).toHaveLength(BUGS.length)
  for (const { id } of mismatches) {
    const { code, out } = await runCommand(['case', id, '--admin', stage.adminUrl])
    expect([code, out.includes('demo-admin')]).toEqual([0, false])
    // The names of v2's own members are public. Only the keys of a map, which lie deeper than an answer's own members, may be secrets.
    expect(out).not.toMatch(/"text-\d+-[0-9a-f]{8}": \[/)
    expect(out).not.toMatch(/^ {1,10}"text-\d+-[0-9a-f]{8}": /m)
    expect(out).toMatch(/^it\(".* as recorded .*: GET \/(?:iam|registry|advisory)\/v1\//m)
    writeFileSync(join(cases, `${id}.test.mjs`), out)
  }
  const files = mismatches.map(({ id }) => join(cases, `${id}.test.mjs`))
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', '--test-reporter=tap', ...files])
  expect(stdout).toMatch(new RegExp(`^# pass ${BUGS.length}\n# fail 0$`, 'm'))
}, 60_000)

it('finds a mismatch in a record file after the proxy has stopped', async () => {
  await stage.fault({ match: 'GET /registry/v2/repos', drop: '/repos/0' })
  await stage.request('GET', '/registry/v1/repos?limit=2')
  await stage.settled()
  await stage.servers[0].close()
  const file = join(records, 'records.ndjson')
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Comparison)
  const { id } = lines.findLast(({ outcome }) => outcome === 'mismatch') as Comparison
  expect(await runCommand(['case', id, '--records', file])).toMatchObject({ code: 0, out: expect.stringContaining('playCase({') })
})

it('names a mismatch that is missing or cannot be reproduced', async () => {
  const admin = ['--admin', stage.adminUrl]
  expect(await runCommand(['case', 'none', ...admin])).toEqual({
    code: 1,
    out: '',
    err: 'There is no comparison none; GET /comparisons of the admin port lists the last ones.',
  })
  await stage.fault({ match: 'GET /registry/v2/repos', status: 503 })
  await stage.request('GET', '/registry/v1/repos')
  await stage.settled()
  const [{ id }] = (await (await fetch(`${stage.adminUrl}/comparisons`)).json()) as [Comparison]
  expect((await runCommand(['case', id, ...admin])).err).toBe(
    `Comparison ${id} (error) cannot be played again: only confirmed mismatches are kept for that, and only small ones.`,
  )
})
