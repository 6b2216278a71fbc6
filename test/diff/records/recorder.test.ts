import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { createRedactor, redactedFor } from '../../../src/migrate/compare/redact.ts'
import { type Comparison, comparisonOf, type Entry } from '../../../src/migrate/records/record.ts'
import { createRecorder, createRecordFile, openBlocks, readEntries } from '../../../src/migrate/records/record-file.ts'
import { asked, child, court, operationOf, seen } from '../given.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'records-'))
})
afterEach(() => rm(folder, { recursive: true }))

const note = (text: string): Entry => ({ kind: 'note', at: '2026-01-01T00:00:00Z', what: 'modes', text })
const fileAt = (path: string, members = {}) => createRecordFile({ path, bytes: 1_000_000, files: 2, waiting: 1_000, ...members })

async function read(path: string): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const entry of readEntries(path)) entries.push(entry)
  return entries
}

const LIST = operationOf('registry.repos.list')
const redacted = redactedFor(LIST, createRedactor({ values: 'masked', key: () => 'k' }))

function comparison(nth: number, outcome: ComparisonOutcome = 'mismatch', operation = LIST.id): Comparison {
  const sides = { v1: { status: 200, ms: 3 }, v2: { status: 200, ms: 4 } }
  const who = {
    id: String(nth),
    at: '2026-01-01T00:00:00Z',
    operation,
    mode: 'diff-v1',
    caller: 'c',
    shape: LIST.id,
    check: 'read',
    ...sides,
  } as const
  return comparisonOf({ outcome, findings: [] }, who, redacted)
}

describe('a comparison as a record', () => {
  it('has complete totals and one example of each kind and place', () => {
    const rows = (name: string, count: number) => ({ items: Array.from({ length: count }, (_, nth) => ({ id: child(nth), name })) })
    const judgement = court().judge(asked(LIST), seen(rows('a', 1_000)), seen(rows('b', 999)))
    const record = comparisonOf(judgement, comparison(1), redacted)
    expect(record).toMatchObject({ kind: 'comparison', outcome: 'mismatch', id: '1', v1: { status: 200, ms: 3 } })
    expect(record.totals).toEqual([
      { kind: 'value', where: '/items/*/name', count: 999 },
      { kind: 'missing', where: '/items/*', count: 1 },
    ])
    expect(record.examples).toMatchObject([
      { kind: 'value', at: '/items/0/name', v1: expect.stringMatching(/^text-1-/), v2: expect.stringMatching(/^text-1-/) },
      { kind: 'missing', at: '/items/999', v1: { id: child(999) } },
    ])
  })
})

describe('the recorder', () => {
  it('keeps the last comparisons that are not plain matches, newest first', () => {
    const { record, comparisons } = createRecorder({ memory: 3 })
    for (const nth of [1, 2, 3, 4]) record(comparison(nth))
    record(comparison(5, 'match'))
    record(note('x'))
    expect(comparisons({ limit: 10 }).map(({ id }) => id)).toEqual(['4', '3', '2'])
    record(comparison(6, 'race', 'iam.groups.list'))
    expect(comparisons({ limit: 1 }).map(({ id }) => id)).toEqual(['6'])
    expect(comparisons({ operation: LIST.id, limit: 10 }).map(({ id }) => id)).toEqual(['4', '3'])
  })

  it('writes every entry, matches included, as one line', async () => {
    const path = join(folder, 'records.ndjson')
    const recorder = createRecorder({ memory: 1, file: fileAt(path) })
    const entries = [comparison(1, 'match'), note('a\nb'), comparison(2)]
    for (const entry of entries) recorder.record(entry)
    await recorder.close()
    expect(await read(path)).toEqual(entries.map((entry) => ({ ...entry, id: entry.id ?? expect.any(String) })))
    expect(recorder.dropped()).toBe(0)
    expect((await stat(path)).mode & 0o077).toBe(0)
  })

  it('counts an entry that is too large for a line', () => {
    const recorder = createRecorder({ memory: 1, file: fileAt(join(folder, 'x')) })
    recorder.record(note('x'.repeat(300_000)))
    expect(recorder.dropped()).toBe(1)
  })
})

describe('a record file', () => {
  it('continues after a torn line, and loses only that line', async () => {
    const path = join(folder, 'torn')
    await writeFile(path, `${JSON.stringify(note('a'))}\n{"kind":"no`)
    const file = fileAt(path)
    file.add(JSON.stringify(note('b')))
    await file.flush()
    expect(await read(path)).toEqual([note('a'), note('b')])
    const { entries, skipped, close } = await openBlocks(path)
    await close()
    expect([entries, skipped]).toEqual([2, 1])
  })

  it('is rotated, and its total size stays bounded', async () => {
    const path = join(folder, 'rotated')
    const file = fileAt(path, { bytes: 100, files: 2 })
    for (let nth = 0; nth < 20; nth++) {
      file.add(JSON.stringify(note(`${nth}`)))
      await file.flush()
    }
    expect((await readdir(folder)).sort()).toEqual(['rotated', 'rotated.1', 'rotated.2'])
    const texts = (await read(path)).map((entry) => entry.kind === 'note' && entry.text)
    expect(texts.at(-1)).toBe('19')
    for (const name of await readdir(folder)) expect((await readFile(join(folder, name))).length).toBeLessThan(200)
  })

  it('counts the lines that a full disk loses, and never throws', async () => {
    const file = fileAt('/dev/full')
    file.add('a')
    file.add('b')
    await file.flush()
    expect(file.dropped()).toBe(2)
    expect(file.problem()).toMatch(/the disk is full/)
  })

  it('continues when the folder exists again', async () => {
    const path = join(folder, 'later', 'file')
    const file = fileAt(path)
    file.add('lost')
    await file.flush()
    expect(file.problem()).toMatch(/there is no such file or folder/)
    await mkdir(join(folder, 'later'))
    file.add('kept')
    await file.flush()
    expect(await readFile(path, 'utf8')).toBe('kept\n')
    expect([file.dropped(), file.problem()]).toEqual([1, undefined])
  })

  it('limits the lines that wait for the disk', async () => {
    const file = fileAt(join(folder, 'slow'), { waiting: 2 })
    for (const line of ['1', '2', '3', '4', '5']) file.add(line)
    await file.flush()
    expect(file.dropped()).toBeGreaterThan(0)
    expect((await readFile(join(folder, 'slow'), 'utf8')).trim().split('\n')).toHaveLength(5 - file.dropped())
  })
})
