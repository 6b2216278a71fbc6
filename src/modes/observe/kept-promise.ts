import type { Finding } from '../../diff/compare/finding.ts'
import { instant } from '../../diff/compare/instant.ts'
import type { Judgement } from '../../diff/judge/judge.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import { ROWS } from '../../tables/plan/plan.ts'

/** The answer to a write, and a later read of the same resource. */
export interface Promised {
  readonly write: Operation
  readonly answer: unknown
  readonly reading: Operation
  readonly read: unknown
  /** Whether the resource with this uid may have been deleted since. */
  readonly mayBeGone: (operation: Operation, uid: string) => boolean
}

/**
 * Checks that a write took effect by comparing its answer with a later read.
 * Comparing both sides is not enough: they may agree about a resource that a lost write never changed.
 * Returns undefined if the write took effect, or if another write intervened so that nothing is known.
 */
export function brokenPromise(promised: Promised): Judgement | undefined {
  const row = rowOf(promised.read)
  if (promised.write.method === 'DELETE') return row && lost('the delete was answered, but the resource is still there', [])
  const { answer } = promised
  if (!isObject(answer) || typeof answer.id !== 'string') return undefined
  if (!row) {
    const gone = promised.mayBeGone(promised.write, answer.id)
    return gone ? undefined : lost('the write was answered, but the resource is not there', [])
  }
  const order = compareTimes(stampOf(answer), stampOf(row))
  if (order === 'later' || order === 'unknown') return undefined
  if (order === 'earlier') return lost('the write was answered, but the resource is as old as before', [])
  const findings = differing(promised, answer, row)
  return findings.length === 0 ? undefined : lost('the write was answered, but the resource has other values', findings)
}

/** Returns the one row of a list, or the resource itself; undefined if there is none. */
function rowOf(read: unknown): JsonObject | undefined {
  if (!isObject(read)) return undefined
  const rows = read[ROWS]
  const row: unknown = Array.isArray(rows) ? rows[0] : read
  return isObject(row) && typeof row.id === 'string' && row.id !== '' ? row : undefined
}

function lost(reason: string, findings: readonly Finding[]): Judgement {
  return { outcome: 'mismatch', findings, reason }
}

const STAMPS = ['updated_at', 'update_time', 'updateTime', 'last_updated', 'lastUpdated']

function stampOf(row: JsonObject): string | undefined {
  const name = STAMPS.find((member) => typeof row[member] === 'string')
  return name === undefined ? undefined : instant(String(row[name]))
}

/** Compares the times at which the write's answer and the read say that the resource was written. */
function compareTimes(answered: string | undefined, read: string | undefined): 'same' | 'earlier' | 'later' | 'unknown' {
  if (answered === undefined || read === undefined) return 'unknown'
  if (answered === read) return 'same'
  return Number(read) < Number(answered) ? 'earlier' : 'later'
}

/** Compares the members with plain values that both the answer and the read have, by table name or published spelling. */
function differing({ write, reading }: Promised, answer: JsonObject, row: JsonObject): readonly Finding[] {
  if (write.answer !== reading.answer) return []
  return Object.keys(answer).flatMap((name): Finding[] => {
    const [left, right] = [answer[name], row[name]]
    if (!isPlain(left) || !isPlain(right) || left === right) return []
    const where = `/${name}`
    return [{ kind: 'value', at: where, where, path: where, v1: left, v2: right }]
  })
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'
}
