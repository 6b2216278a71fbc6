import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { atLeast, shown } from '../bench/report/figure.ts'
import { writeReport } from '../bench/report/report.ts'

const PAGES = ['docs/why/performance.md', 'CONTRIBUTING.md']

it('writes measured figures for users, and open goals for contributors, between their marks', () => {
  const root = mkdtempSync(join(tmpdir(), 'figures-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  for (const folder of ['docs/why', 'docs/images']) mkdirSync(join(root, folder), { recursive: true })
  for (const page of PAGES) cpSync(page, join(root, page))
  const goal = atLeast(1, 'one resource by id: crosswalk ÷ @fastify/http-proxy', 1.25, '×', 1.6)
  const met = atLeast(2, 'the list by windows', 200, 'ms', 100)
  writeReport('Node 0', [shown(1, 'one resource by id: crosswalk', 12_345, 'requests/s'), goal, met], root)
  const [figures = '', goals = ''] = PAGES.map((page) => readFileSync(join(root, page), 'utf8'))
  expect(figures).toContain('| **Crosswalk** | 12345 /s |')
  expect(figures).not.toContain('NOT HOLD')
  expect(goals).toContain('1 of 2 goals hold')
  expect(goals).not.toContain('the list by windows')
  expect(goals).toMatch(/\| 1\.25 × +\| ≥ 1\.6 × +\| DOES NOT HOLD \|/)
  const outside = (text: string) => text.replace(/(<!-- (\w+): written).*(<!-- end of \2 -->)/gs, '$1$3')
  expect([figures, goals].map(outside)).toEqual(PAGES.map((page) => outside(readFileSync(page, 'utf8'))))
  expect(readFileSync(join(root, 'docs/images/performance.svg'), 'utf8')).toMatch(/^<svg/)
})
