import type { SeenAnswer } from '../../diff/compare/compare.ts'
import { instant } from '../../diff/compare/instant.ts'
import { pointerOf, segmentsOf } from '../../diff/compare/json-path.ts'
import { type Explained, type Judgement, unexplained } from '../../diff/judge/judge.ts'
import { at, isObject, type JsonObject } from '../../tables/json.ts'
import { ROWS } from '../../tables/turn.ts'
import type { ComparedRequest } from '../journal.ts'
import type { Judging } from '../observe/compare-read.ts'
import type { OtherWrites } from '../serve/recent-writes.ts'
import { expectedTexts } from './listed-texts.ts'
import type { Reading } from './reader.ts'

/** A write that v2 answered, and one of the reads that show its effect. */
export interface Promised {
  readonly write: ComparedRequest
  readonly reading: Reading
  readonly others: OtherWrites
  /** Milliseconds since the write's request arrived. */
  readonly elapsedMs: () => number
}

/**
 * Checks that a write took effect by comparing its answer with a later read of v1.
 * Comparing both sides is not enough: they may agree about a resource that a lost write never changed.
 * Returns undefined if the write took effect.
 */
export function brokenPromise(promised: Promised, read: unknown, judging: Pick<Judging, 'judge' | 'noise'>): Judgement | undefined {
  const { reading, others } = promised
  const { item, table } = reading
  if (table.listed) return unlike(promised, expectedTexts(reading, read), judging)
  const row = rowOf(reading, read)
  if (table.readBack.gone) {
    if (!row) return undefined
    return others.mayBeChanged(writtenBy(promised))
      ? between('was written again')
      : lost('the delete was answered, but the resource is still there')
  }
  if (!row) return deletedSince(promised) ?? lost('the write was answered, but the resource is not there')
  const order = compareTimes(promised, row)
  if (order === 'earlier') return lost('the write was answered, but the resource is as old as before')
  if (order === 'later' || (order === 'unknown' && others.mayBeChanged(writtenBy(promised)))) return between('was written again')
  return item && unlike(promised, expectedItem(reading, row), judging)
}

/** Returns the judgement of a resource that is not there because another request may have deleted it. */
export function deletedSince(promised: Promised): Judgement | undefined {
  return promised.others.mayBeGone(writtenBy(promised)) ? between('was deleted') : undefined
}

/** True if the read shows the resource, or the resources, that the write names. */
export function isThere(reading: Reading, read: unknown): boolean {
  return reading.table.listed !== undefined || rowOf(reading, read) !== undefined
}

function writtenBy({ write, reading: { uid, item, table } }: Promised) {
  const { resource, goesWith = '' } = table.readBack
  const other = item?.[goesWith]
  return { resource, uid, goesWith: typeof other === 'string' ? other : undefined, own: write.request.params }
}

/** Returns the row of a list that has the uid, or the resource itself. */
function rowOf({ uid, table: { key } }: Reading, read: unknown): JsonObject | undefined {
  if (!isObject(read) || key === undefined) return undefined
  const rows = Array.isArray(read[ROWS]) ? read[ROWS] : [read]
  return rows.find((row): row is JsonObject => isObject(row) && row[key] === uid)
}

function lost(reason: string): Judgement {
  return { outcome: 'mismatch', findings: [], reason }
}

function between(what: string): Judgement {
  return { outcome: 'race', findings: [], reason: `the resource ${what} before it was read` }
}

/** Milliseconds by which the clocks of two services may differ. */
const CLOCKS = 1000

/** Compares the times at which the write's answer and the read say that the resource was written. */
function compareTimes({ reading: { item, table }, elapsedMs }: Promised, row: JsonObject): 'same' | 'earlier' | 'later' | 'unknown' {
  const { stamp } = table
  const member = table.members.find(({ path }) => stamp !== undefined && path.length === 1 && path[0] === stamp)
  const [answered, read] = [timeOf(member && item?.[member.name]), timeOf(stamp === undefined ? undefined : row[stamp])]
  if (answered === undefined || read === undefined) return 'unknown'
  if (answered === read) return 'same'
  if (Number(read) < Number(answered)) return 'earlier'
  // Another write changed it since, unless that would have been before this write began: then the answer's time is wrong.
  return (Number(read) - Number(answered)) * 1000 <= elapsedMs() + CLOCKS ? 'later' : 'same'
}

function timeOf(value: unknown): string | undefined {
  return typeof value === 'string' ? instant(value) : undefined
}

/** Returns what the answer would be if it showed the same as the read. */
function expectedItem({ table }: Reading, row: JsonObject): JsonObject {
  return Object.fromEntries(
    table.members.flatMap(({ name, path }) => {
      const value = at(row, path)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Compares the write's answer, as far as the read shows it, with what it should be. */
function unlike({ write, reading }: Promised, expected: JsonObject, { judge, noise }: Pick<Judging, 'judge' | 'noise'>) {
  const { item = {}, table } = reading
  const names = table.listed ? Object.keys(expected) : table.members.map(({ name }) => name)
  const given = Object.fromEntries(names.flatMap((name) => (Object.hasOwn(item, name) ? [[name, item[name]]] : [])))
  const wrapped = (shown: JsonObject) => seen(table.list === undefined ? shown : { [table.list]: [shown] })
  const judged = judge(write, wrapped(expected), wrapped(given))
  const isNoise = (finding: Explained) => noise.isNoise(table.reader.id, { ...finding, where: inRead(reading, finding.where) })
  const findings = judged.findings.map((finding) =>
    finding.code === undefined && isNoise(finding) ? { ...finding, noise: true as const } : finding,
  )
  if (unexplained(findings).length === 0) return undefined
  return { outcome: 'mismatch', findings, reason: 'the write was answered, but the resource has other values' } as const
}

/** Returns the place in the read, in table names, of a place in the answer. */
function inRead({ table }: Reading, where: string): string {
  const [name = '', ...below] = segmentsOf(where).slice(table.list === undefined ? 0 : 2)
  const member = table.members.find((one) => one.where === name)
  const inRow = [...(member?.pathWhere ?? [name]), ...below]
  return pointerOf(table.reader.rows ? [ROWS, '*', ...inRow] : inRow)
}

function seen(value: unknown): SeenAnswer {
  return { status: 200, headers: {}, body: { kind: 'json', value } }
}
