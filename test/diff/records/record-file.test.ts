import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { checkRecordFile, createRecordFile } from '../../../src/migrate/records/record-file.ts'

it('sets no file aside that another process has just begun', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'record-file-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const [first, second] = [1, 2].map(() => createRecordFile({ path: join(folder, 'r'), bytes: 1000, files: 2, waiting: 100 }))
  const lines = Array.from({ length: 40 }, (_, nth) => `${nth}`.padEnd(99))
  for (const [nth, line] of lines.entries()) {
    const file = nth % 2 === 0 ? first : second
    file?.add(line)
    await file?.flush()
  }
  const names = (await readdir(folder)).map((name) => join(folder, name))
  const kept = await Promise.all(names.map((name) => readFile(name, 'utf8')))
  expect(kept.join('').split('\n').filter(Boolean).sort()).toEqual(lines.toSorted())
  for (const name of names.filter((one) => !one.endsWith('r'))) expect((await stat(name)).size).toBeGreaterThanOrEqual(1000)
})

it.each(['at the start', 'with the first batch'])('is for its owner alone %s, also if the file exists', async (when) => {
  const folder = await mkdtemp(join(tmpdir(), 'record-file-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'r')
  await writeFile(path, '', { mode: 0o666 })
  if (when === 'at the start') await checkRecordFile(path)
  else {
    const file = createRecordFile({ path, bytes: 1000, files: 2, waiting: 100 })
    file.add('a line')
    await file.flush()
    expect(await readFile(path, 'utf8')).toBe('a line\n')
  }
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})
