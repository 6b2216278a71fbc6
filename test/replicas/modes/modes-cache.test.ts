import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createModesCache, type KeptModes } from '../../../src/fleet/modes.ts'

const KEPT: KeptModes = { document: { version: 7, text: '{"rules":{}}' }, open: { 'iam.roles.list': 'errors' } }

function stage(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-cache-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'modes.json')
  writeFileSync(path, text)
  const warned: string[] = []
  return {
    path,
    warned,
    cache: createModesCache(
      path,
      () => KEPT,
      (text) => void warned.push(text),
    ),
  }
}

it.each([
  ['is cut off', JSON.stringify(KEPT).slice(0, -9)],
  ['is empty', ''],
  ['is not JSON', 'modes: v1\n'],
  ['is of something else', '{"format":"crosswalk store 1"}'],
  ['has no version', JSON.stringify({ ...KEPT, document: { version: 0, text: '' } })],
])('knows nothing from a file that %s, says so, and writes it anew', async (_, text) => {
  const { path, warned, cache } = stage(text)
  expect(await cache.read()).toBeUndefined()
  expect(warned).toEqual([`store.cache (${path}) is not a file that Crosswalk wrote, so no modes are known from it.`])
  cache.keep()
  await cache.close()
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(KEPT)
})

it('knows what an earlier process kept', async () => {
  expect(await stage(JSON.stringify(KEPT)).cache.read()).toEqual(KEPT)
})
