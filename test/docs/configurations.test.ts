import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadConfig } from '../../src/app/config/config.ts'
import { CONFIGURATIONS } from './configurations.ts'

it.each(CONFIGURATIONS)('accepts the configuration that $page shows: $text', ({ text }) => {
  const folder = mkdtempSync(join(tmpdir(), 'configuration-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'crosswalk.conf')
  writeFileSync(path, text)
  expect(loadConfig({ flags: { config: path }, env: {} })).not.toHaveProperty('problem')
})

it('finds three of at most six lines in README.md', () => {
  const lines = CONFIGURATIONS.filter(({ page }) => page === 'README.md').map(({ text }) => text.trimEnd().split('\n').length)
  expect(lines).toHaveLength(3)
  expect(Math.max(...lines)).toBeLessThanOrEqual(6)
})

it('keeps README.md within 100 lines of 120 characters, and 800 words', () => {
  const text = readFileSync('README.md', 'utf8').trimEnd()
  const lines = text.split('\n')
  expect(lines.length).toBeLessThanOrEqual(100)
  expect(lines.filter((line) => line.length > 120)).toEqual([])
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(800)
})
