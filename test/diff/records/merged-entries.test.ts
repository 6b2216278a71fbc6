import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { readReport } from '../../../src/admin/report/report.ts'
import type { Entry } from '../../../src/migrate/records/record.ts'
import { mergedEntries, nothingRead } from '../../../src/migrate/records/record-file.ts'
import { comparison, note, START, shows, traffic } from '../../report/entries.ts'
import { sources } from '../../report/given.ts'

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
  for await (const entry of mergedEntries(paths, count, bytes)) entries.push(entry)
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
    expect(count).toEqual({ entries: 3, repeated: 3, skipped: 0, unreadable: [] })
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

  it('stay what they were if a file is renamed meanwhile', async () => {
    const path = file(Array.from({ length: 50 }, (_, nth) => comparison(nth)))
    const seen: string[] = []
    for await (const entry of mergedEntries([path], nothingRead(), 400)) {
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
    expect((await merged([torn, other, file([])])).count).toEqual({ entries: 3, repeated: 0, skipped: 4, unreadable: [other] })
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
  fc.tuple(when, fc.constantFrom('a', 'b'), fc.constantFrom(...OPERATIONS, 'registry.vuln_reports.list')).map(([at, caller, operation]) => {
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
    expect(count).toEqual({ entries: 2, repeated: 0, skipped: 1, unreadable: [] })
  })
})
