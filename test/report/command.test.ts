import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { OBSERVATION } from '../../src/migrate/evidence/evidence.ts'
import { runCommand } from '../cli/support.ts'
import { comparison, lines, shows, traffic } from './entries.ts'
import { folder } from './given.ts'

const TIER = { kind: 'value', at: '/items/3/catalog_tier', where: '/items/*/catalog_tier', v1: 'APPLICATION', v2: 'BASE' } as const

async function records(...names: readonly string[]): Promise<readonly string[]> {
  const path = await folder()
  const entries = [comparison(1), comparison(2, { outcome: 'mismatch', ...shows(TIER) }), traffic('a', 'registry.vuln_reports.list', 3)]
  const files = names.map((name) => join(path, name))
  await Promise.all(files.map((file, nth) => writeFile(file, lines(entries.slice(nth)))))
  return files
}

describe('crosswalk report', () => {
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
