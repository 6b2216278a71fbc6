import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createSentRecords, type SentLines } from '../../src/app/server/line.ts'
import { createTakenRecords } from '../../src/app/server/workers.ts'
import { createRecordFile, type RecordFile } from '../../src/migrate/records/record-file.ts'

/** A supervisor that writes nothing before it is told to. */
function slowSupervisor() {
  const got: SentLines[] = []
  const held: ((problem?: string) => void)[] = []
  const ask = (_: string, sent: unknown) => {
    got.push(sent as SentLines)
    return new Promise((resolve) => void held.push(resolve))
  }
  return { ask, got, release: (problem?: string) => held.shift()?.(problem) }
}

const turn = () => new Promise<void>((resolve) => void setImmediate(resolve))

it('sends the lines of one turn together, at the end of it', async () => {
  const { ask, got } = slowSupervisor()
  const records = createSentRecords({ ask }, { window: 10, waiting: 10 })
  records.add('a')
  records.add('b')
  expect(got).toEqual([])
  await turn()
  expect(got).toEqual([{ lines: ['a', 'b'], waiting: 0 }])
})

it('holds lines back while too many are under way, and drops what it has no room for', async () => {
  const { ask, got, release } = slowSupervisor()
  const records = createSentRecords({ ask }, { window: 2, waiting: 3 })
  for (const line of ['a', 'b', 'c', 'd']) records.add(line)
  expect(records.dropped()).toBe(1)
  await turn()
  expect(got).toEqual([{ lines: ['a', 'b'], waiting: 1 }])
  let isFlushed = false
  const flushed = records.flush().then(() => {
    isFlushed = true
  })
  release('the disk is full')
  await turn()
  expect(got.slice(1)).toEqual([{ lines: ['c'], waiting: 0 }])
  expect(records.problem()).toBe('the disk is full')
  expect(isFlushed).toBe(false)
  release()
  await flushed
  expect(records.problem()).toBeUndefined()
})

it('counts what a worker that died still held', async () => {
  const file: RecordFile = { add: () => {}, flush: async () => {}, dropped: () => 1, problem: () => undefined }
  const taken = createTakenRecords(file)
  const worker = taken.fromWorker()
  await worker.take({ lines: ['a'], waiting: 7 })
  await worker.take({ lines: ['b'], waiting: 5 })
  worker.died()
  expect(taken.dropped()).toBe(1 + 5)
})

it('loses no line of four workers through 25 rotations', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-records-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [workers, each, length] = [4, 1000, 100]
  const path = join(folder, 'records.ndjson')
  const bytes = (workers * each * length) / 40
  const taken = createTakenRecords(createRecordFile({ path, bytes, files: 100, waiting: 1000 }))
  const lines = Array.from({ length: workers }, (_, worker) =>
    Array.from({ length: each }, (_, nth) => `${worker}-${nth}`.padEnd(length - 1, '.')),
  )
  const sent = lines.map(() => {
    const { take } = taken.fromWorker()
    return createSentRecords({ ask: (_, some) => take(some as SentLines) }, { window: 10, waiting: each })
  })
  for (const [worker, records] of sent.entries()) for (const line of lines[worker] ?? []) records.add(line)
  await Promise.all(sent.map((records) => records.flush()))
  const files = readdirSync(folder)
  const written = files.flatMap((name) => readFileSync(join(folder, name), 'utf8').trimEnd().split('\n'))
  expect(files.length).toBeGreaterThan(25)
  expect(written.sort()).toEqual(lines.flat().sort())
})
