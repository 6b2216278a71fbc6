import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readReport } from '../../src/admin/report/report.ts'
import { createInventory } from '../../src/migrate/clients.ts'
import { createExpected } from '../../src/migrate/compare/expected.ts'
import type { ComparisonOutcome } from '../../src/migrate/compare/judge.ts'
import { createRedactor, vocabularyOf } from '../../src/migrate/compare/redact.ts'
import { createEvidence } from '../../src/migrate/evidence/evidence.ts'
import { type Comparison, comparisonOf, type Entry } from '../../src/migrate/records/record.ts'
import {
  checkRecordFile,
  createRecorder,
  createRecordFile,
  linesOf,
  mergedEntries,
  nothingRead,
  openBlocks,
  readEntries,
  restore,
} from '../../src/migrate/records/record-file.ts'
import { comparison, note, START, shows, sources, traffic } from '../admin/report-stage.ts'
import { asked, child, court, operationOf, operations, seen } from './given.ts'

describe('lines', () => {
  async function linesIn(...pieces: readonly string[]): Promise<readonly string[]> {
    const lines: string[] = []
    for await (const line of linesOf(given(pieces))) lines.push(line)
    return lines
  }

  async function* given(pieces: readonly string[]): AsyncGenerator<string> {
    yield* pieces
  }

  it.each([
    ['', []],
    ['a', ['a']],
    ['a\nb\r\n\nc\n', ['a', 'b', '', 'c']],
    ['a\u2028b\u2029c\rd\n', ['a\u2028b\u2029c\rd']],
  ])('splits a text %j into the lines %j', async (text, lines) => expect(await linesIn(text)).toEqual(lines))

  it('returns lines whole that are longer than one read', async () => {
    const long = 'ä'.repeat(200_000)
    expect(await linesIn(...(`${long}\n${long}`.match(/.{1,65536}|\n/g) ?? []))).toEqual([long, long])
  })

  it('cuts a line that never ends', async () => {
    const lines = await linesIn(...Array.from({ length: 100 }, () => 'a'.repeat(65_536)), '\nb')
    expect(lines).toEqual(['a'.repeat(1_000_000), 'b'])
  })
})

describe('merged entries', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-merge-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  let files = 0
  function file(entries: readonly (Entry | string)[]): string {
    files += 1
    const path = join(directory, `${files}.ndjson`)
    writeFileSync(path, entries.map((entry) => `${typeof entry === 'string' ? entry : JSON.stringify(entry)}\n`).join(''))
    return path
  }

  async function merged(paths: readonly string[], bytes?: number) {
    const count = nothingRead()
    const entries: Entry[] = []
    for await (const entry of mergedEntries(paths, count, { bytes })) entries.push(entry)
    return { entries, count }
  }

  const ids = ({ entries }: { readonly entries: readonly Entry[] }) => entries.map(({ id }) => id)

  describe('the entries of several files', () => {
    it('come in the order of their times', async () => {
      const replicas = [file([comparison(1), comparison(4)]), file([comparison(2), comparison(3), comparison(5)])]
      expect(ids(await merged(replicas))).toEqual(['c1', 'c2', 'c3', 'c4', 'c5'])
    })

    it('come in order if one file holds them one after the other', async () => {
      const both = file([...[1, 3, 5].map((nth) => comparison(nth)), ...[2, 4, 6].map((nth) => comparison(nth))])
      for (const bytes of [1, 500, 1_000_000]) expect(ids(await merged([both], bytes))).toEqual(['c1', 'c2', 'c3', 'c4', 'c5', 'c6'])
    })

    it('are read once, however often a file is given', async () => {
      const [one, copy] = [file([comparison(1), comparison(2)]), file([comparison(2), comparison(3)])]
      const { entries, count } = await merged([one, copy, one])
      expect(entries).toHaveLength(3)
      expect(count).toEqual({ entries: 3, repeated: 3, others: 0, skipped: 0, unreadable: [] })
    })

    it('with an id differ, even if nothing else does', async () => {
      const calls = traffic('a', 'iam.groups.list', 1)
      expect((await merged([file([{ ...calls, id: 'x' }]), file([{ ...calls, id: 'y' }, calls]), file([calls])])).entries).toHaveLength(3)
    })

    it('put the calls of a client before its mismatch', async () => {
      const calls = traffic(comparison(0).caller, 'registry.repos.list', 1)
      const { entries } = await merged([file([comparison(0, { outcome: 'mismatch' })]), file([calls])])
      expect(entries.map(({ kind }) => kind)).toEqual(['traffic', 'comparison'])
    })

    it('take no memory before they are given out', async () => {
      setFlagsFromString('--expose-gc')
      const collect = runInNewContext('gc') as () => void
      const path = file(Array.from({ length: 16_000 }, () => note(START, 'modes', 'a'.repeat(1000))))
      const heaps: number[] = []
      const opened: Awaited<ReturnType<typeof openBlocks>>[] = []
      // What else is to be collected is gone by the second time.
      for (const _ of [1, 2, 3]) {
        opened.push(await openBlocks(path))
        collect()
        heaps.push(process.memoryUsage().heapUsed)
      }
      for (const { close } of opened) await close()
      expect(((heaps[2] ?? 0) - (heaps[1] ?? 0)) / 2 ** 20).toBeLessThan(4)
    })

    it('stay what they were if a file is renamed meanwhile', async () => {
      const path = file(Array.from({ length: 50 }, (_, nth) => comparison(nth)))
      const seen: string[] = []
      for await (const entry of mergedEntries([path], nothingRead(), { bytes: 400 })) {
        if (seen.length === 0) {
          await rename(path, `${path}.1`)
          writeFileSync(path, 'other')
        }
        seen.push(entry.id ?? '')
      }
      expect(seen).toHaveLength(50)
    })
  })

  describe('lines that are no entries', () => {
    it('are counted, and a file of them is called unreadable', async () => {
      const torn = file([comparison(1), '{"kind":"compar', comparison(2)])
      const other = file(['192.0.2.7 - ci "GET /"', '{"kind":"comparison"}', '{"kind":"note","at":"never"}', comparison(3)])
      expect((await merged([torn, other, file([])])).count).toEqual({ entries: 3, repeated: 0, others: 0, skipped: 4, unreadable: [other] })
    })

    it('may be longer than memory should hold', async () => {
      const path = file(['x'.repeat(3_000_000), comparison(1)])
      expect(ids(await merged([path], 10_000))).toEqual(['c1'])
    })
  })

  const OPERATIONS = ['iam.groups.list', 'registry.repos.list']
  const when = fc.integer({ min: 0, max: 40 }).map((minutes) => minutes * 60_000)

  /** Few callers, shapes and times, so that many entries are repetitions, or fall into one millisecond. */
  const entry: fc.Arbitrary<(nth: number) => Entry> = fc.oneof(
    fc
      .record({
        at: when,
        operation: fc.constantFrom(...OPERATIONS),
        caller: fc.constantFrom('a', 'b'),
        outcome: fc.constantFrom('match', 'mismatch', 'transient', 'race', 'error'),
      })
      .map(({ at, ...members }) => (nth: number) => {
        const difference = members.outcome === 'mismatch' ? shows({ kind: 'value', at: '/name', where: '/name', v1: nth, v2: 0 }) : {}
        return comparison(nth, { ...members, ...difference, at: new Date(START + at).toISOString() } as never)
      }),
    fc
      .tuple(when, fc.constantFrom('a', 'b'), fc.constantFrom(...OPERATIONS, 'registry.vuln_reports.list'))
      .map(([at, caller, operation]) => {
        return (nth: number) => ({ ...traffic(caller, operation, 1 + nth, START + at), id: `t${nth}` })
      }),
    when.map((at) => (nth: number) => note(START + at, 'modes', `change ${nth}`)),
    fc.tuple(when, fc.constantFrom(...OPERATIONS)).map(([at, operation]) => (nth: number): Entry => {
      const repeats = { n: 2, bad: nth % 2, requests: 2 + nth, wrong: nth % 2 }
      return { kind: 'tally', id: `s${nth}`, at: new Date(START + at).toISOString(), operation, comparisons: 2, repeats }
    }),
  )

  /** Entries, and for each the files that hold it and its place in them. */
  const spread = fc.array(
    fc.tuple(entry, fc.uniqueArray(fc.integer({ min: 0, max: 3 }), { minLength: 1 }), fc.double({ min: 0, max: 1, noNaN: true })),
    { maxLength: 60 },
  )

  /** Writes the files of a case. `shuffled` is the share of entries that are out of order. */
  function filesOf(cases: readonly (readonly [Entry, readonly number[], number])[], shuffled: number): readonly string[] {
    const place = ([one, , random]: (typeof cases)[number]) => (random < shuffled ? START + random * 1e7 : Date.parse(one.at))
    const inOrder = [...cases].sort((a, b) => place(a) - place(b))
    return [0, 1, 2, 3].map((nth) => file(inOrder.flatMap(([one, holders]) => (holders.includes(nth) ? [one] : []))))
  }

  describe('a stream of records, however it is split, doubled and shuffled', () => {
    it('gives the entries and the report of one file', async () => {
      const cases = fc.asyncProperty(spread, fc.constantFrom(0, 0.1, 1), fc.constantFrom(1, 700, 1e6), async (drawn, shuffled, bytes) => {
        const entries = drawn.map(([make, holders, random], nth) => [make(nth), holders, random] as const)
        const whole = [file(entries.map(([one]) => one).sort((a, b) => Date.parse(a.at) - Date.parse(b.at)))]
        const parts = filesOf(entries, shuffled)
        expect((await merged([...parts, parts[0] ?? ''], bytes)).entries).toEqual((await merged(whole)).entries)
        const reports = await Promise.all([whole, parts].map((paths) => readReport(paths, sources)))
        const [one, several] = reports.map((report) => ({ ...report, read: report.read.entries }))
        expect(several).toEqual(one)
      })
      await fc.assert(cases, { numRuns: Number(process.env.CROSSWALK_CASES ?? 60) })
    })
  })

  describe('a wrong line among right ones', () => {
    const right = comparison(1)
    const wrong: readonly (readonly [string, Record<string, unknown>])[] = [
      ['totals that are null', { ...right, totals: null }],
      ['totals that are an object', { ...right, totals: {} }],
      ['no v2', { ...right, v2: undefined }],
      ['examples that are a number', { ...right, examples: 1 }],
      ['an operation that is an object', { ...right, operation: {} }],
      ['a caller that is an object', { ...right, caller: { toString: 1 } }],
      ['an outcome that is a member of every object', { ...right, outcome: 'constructor' }],
      ['a count that is negative', { ...right, totals: [{ kind: 'value', where: '/a', code: 'x', count: -1 }] }],
      ['a count that is half', { ...right, totals: [{ kind: 'value', where: '/a', code: 'x', count: 0.5 }] }],
      ['a count of billions', { ...right, totals: [{ kind: 'value', where: '/a', code: 'x', count: 4e9 }] }],
      ['a weight that is a text', { ...right, weight: 'x' }],
      ['requests that are a number', { ...traffic('a', 'iam.groups.list', 1), requests: 1 }],
      ['calls that are negative', { ...traffic('a', 'iam.groups.list', 1), calls: -1 }],
      ['a text that is a list', { ...note(1, 'modes', 'x'), text: [] }],
    ]

    it.each(wrong)('is counted and skipped: %s', async (_, line) => {
      const { entries, count } = await merged([file([comparison(2), JSON.stringify(line), comparison(3)])])
      expect(entries.map(({ id }) => id)).toEqual(['c2', 'c3'])
      expect(count).toEqual({ entries: 2, repeated: 0, others: 0, skipped: 1, unreadable: [] })
    })
  })
})

describe('record file', () => {
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
})

describe('recorder', () => {
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
  const redacted = createRedactor({ values: 'masked', key: () => 'k' })(vocabularyOf(LIST))

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

    it('keeps known wrong answers when the oldest file is overwritten, until a new epoch', async () => {
      const path = join(folder, 'kept')
      const file = fileAt(path, { bytes: 10_000, files: 2 })
      const day = (nth: number) => new Date(Date.UTC(2026, 0, nth)).toISOString()
      const known = async () => {
        const evidence = createEvidence(() => 0)
        const ledger = { evidence, inventory: createInventory(operations), expected: createExpected([], () => 0) }
        const paths = (await readdir(folder)).map((name) => join(folder, name))
        for await (const entry of mergedEntries(paths, nothingRead())) restore(entry, ledger)
        const { bad = 0, n = 0, repeats } = evidence.of(LIST.id) ?? {}
        return { bad, n, wrong: repeats?.wrong }
      }
      let nth = 0
      const add = async (entry: Entry) => {
        nth += 1
        file.add(JSON.stringify({ ...entry, id: `${nth}`, at: day(nth) }))
        await file.flush()
      }
      await add({ ...comparison(1), answers: { at: '', v1: 'a'.repeat(5_000) } })
      const repeats = { n: 5, bad: 2, requests: 5, wrong: 2 }
      await add({ kind: 'tally', at: '', operation: LIST.id, comparisons: 5, repeats })
      while (nth < 500) await add(comparison(nth, 'match'))
      expect(await known()).toMatchObject({ bad: 1, wrong: 2 })
      for (const name of await readdir(folder)) expect((await readFile(join(folder, name))).length).toBeLessThan(11_000)
      await add({ ...note('a person began it'), what: 'epoch' } as Entry)
      while (nth < 1_000) {
        await add(comparison(nth, 'match'))
        if (nth % 50 === 0) expect(await known()).toMatchObject({ bad: 0, wrong: 0 })
      }
    })

    it('keeps who needed v1 when the oldest file is overwritten, each use once', async () => {
      const path = join(folder, 'uses')
      const file = fileAt(path, { bytes: 10_000, files: 1 })
      const add = async (nth: number, entry: Entry) => {
        file.add(JSON.stringify({ ...entry, id: `${nth}`, at: new Date(Date.UTC(2026, 0, nth)).toISOString() }))
        await file.flush()
      }
      const use = { kind: 'traffic', at: '', operation: 'policies.policies.list', mode: 'v1', calls: 3 } as const
      await add(1, { ...use, caller: 'weekly' })
      for (let nth = 2; nth < 500; nth++) await add(nth, { ...use, caller: 'busy', calls: nth })
      const inventory = createInventory(operations)
      const ledger = { evidence: createEvidence(() => 0), inventory, expected: createExpected([], () => 0) }
      for await (const entry of mergedEntries([path, `${path}.1`], nothingRead())) restore(entry, ledger)
      expect(inventory.clients().map(({ caller }) => caller)).toEqual(['busy', 'weekly'])
      const texts = await Promise.all([path, `${path}.1`].map((name) => readFile(name, 'utf8')))
      expect(texts.join('').match(/"caller":"weekly"/g)).toHaveLength(1)
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
})

describe('restored records', () => {
  const LIST = 'registry.repos.list'
  const at = '2026-01-02T03:04:05Z'

  function comparison(nth: number, outcome: ComparisonOutcome, totals: Comparison['totals'] = []): Comparison {
    const sides = { v1: { status: 200 }, v2: { status: 200 } }
    const who = { id: `${nth}`, at, operation: LIST, mode: 'diff-v1', caller: 'c', shape: `${nth}`, check: 'read', ...sides } as const
    return { kind: 'comparison', ...who, outcome, totals, examples: [] }
  }

  it('give the same evidence, inventory and declarations until an epoch begins', () => {
    const evidence = createEvidence(() => 0)
    const inventory = createInventory(operations)
    const expected = createExpected([{ code: 'x', operations: ['*'], signs: [{ at: ['/a'], kinds: ['value'] }] }], () => 0)
    const entries: Entry[] = [
      { kind: 'traffic', at, caller: 'c', subject: 'alice', operation: LIST, mode: 'diff-v1', calls: 500 },
      comparison(1, 'match'),
      comparison(2, 'expected', [{ kind: 'value', where: '/a', code: 'x', count: 2 }]),
      comparison(3, 'mismatch', [{ kind: 'missing', where: '/b', count: 1 }]),
      comparison(4, 'inconclusive'),
      comparison(6, 'transient', [{ kind: 'missing', where: '/b', count: 1 }]),
      { kind: 'note', at, what: 'modes', text: 'x' },
      { ...comparison(5, 'match'), at: 'never' },
    ]
    const ledger = { evidence, inventory, expected }
    for (const entry of entries) restore(entry, ledger)
    const counts = { n: 4, matches: 1, expected: 1, mismatches: 1, transients: 1, inconclusive: 1 }
    expect(evidence.of(LIST)).toMatchObject({ ...counts, lastAt: Date.parse(at) })
    expect(inventory.clients()).toMatchObject([{ caller: 'c', subject: 'alice', calls: 500, mismatches: 2, lastSeen: Date.parse(at) }])
    expect(evidence.of(LIST)).toMatchObject({ comparisons: 5, repeats: { n: 0 } })
    const ofAnother: Entry = { ...comparison(3, 'match'), id: '7' }
    expect([restore(ofAnother, ledger), restore({ ...ofAnother, id: '8' }, ledger)]).toEqual([{ ...ofAnother, repeat: true }, undefined])
    expect(evidence.of(LIST)).toMatchObject({ comparisons: 7, n: 4, matches: 2, repeats: { n: 2, bad: 0, requests: 2 } })
    expect(expected.report()).toEqual([{ code: 'x', state: 'matched', findings: 2, comparisons: 6 }])
    restore({ kind: 'note', at, what: 'epoch', text: 'a person began it' }, ledger)
    expect([evidence.of(LIST), inventory.traffic().get(LIST)]).toEqual([undefined, 500])
  })
})
