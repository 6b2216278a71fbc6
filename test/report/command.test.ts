import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
    expect(await runCommand(['report', file])).toEqual({
      code: 0,
      err: '',
      out: [
        'NOT READY: 0 of 2 operations inside 0.1 % (3 records)',
        'outside       registry.repos.list         n 2  wrong 1  bound 100 %  7921 to go',
        '              value /items/*/catalog_tier  1×',
        'v1-only       registry.vuln_reports.list',
      ].join('\n'),
    })
  })

  it('writes one self-contained page from several files', async () => {
    const files = await records('a.ndjson', 'b.ndjson')
    const html = join(await folder(), 'out.html')
    const { code, out } = await runCommand(['report', ...files, '--html', html])
    expect([code, out.split('\n').at(-1)]).toEqual([0, `written to ${html}`])
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
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be held against: it is not')])
  })

  it('refuses files that it cannot read', async () => {
    expect(await runCommand(['report'])).toMatchObject({ code: 2, err: 'Usage: crosswalk report FILE...' })
    expect(await runCommand(['report', '/nowhere.ndjson'])).toMatchObject({ code: 1, err: expect.stringContaining('/nowhere.ndjson') })
    expect(await runCommand(['report', 'x', '--target', '2'])).toMatchObject({ code: 2, err: expect.stringContaining('between 0 and 1') })
  })
})
