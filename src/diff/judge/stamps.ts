import { isObject, type JsonObject } from '../../tables/json.ts'

/** When a row says that it was created and last written, in milliseconds since 1970. */
export interface Stamps {
  readonly created?: number
  readonly updated?: number
}

/** Names of the times that a service sets, in v1, in its published dialect and in v2 (facts §19). */
const CREATED = ['created_at', 'createdAt', 'create_time', 'createTime'] as const
const UPDATED = ['updated_at', 'updatedAt', 'update_time', 'updateTime', 'last_updated', 'lastUpdated'] as const

/** Members that every write changes. */
export const UPDATE_STAMPS: ReadonlySet<string> = new Set(UPDATED)

export function stampsOf(row: JsonObject): Stamps {
  const [created, updated] = [timeOf(row, CREATED), timeOf(row, UPDATED)]
  return { ...(created !== undefined && { created }), ...(updated !== undefined && { updated }) }
}

/** Returns the name under which a row shows when it was last written. */
export function updateStampOf(row: JsonObject): string | undefined {
  return UPDATED.find((name) => typeof row[name] === 'string')
}

function timeOf(row: JsonObject, names: readonly string[]): number | undefined {
  const text = names.map((name) => row[name]).find((value) => typeof value === 'string')
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Collects the stamps of every row of an answer of v2, by uid. v1 hides the stamps of many rows; v2 shows them. */
export function collectStamps(body: unknown, found: Map<string, Stamps>): void {
  const waiting: unknown[] = [body]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (isObject(value) && typeof value.uid === 'string') found.set(value.uid, { ...found.get(value.uid), ...stampsOf(value) })
    if (typeof value === 'object' && value !== null) waiting.push(...Object.values(value))
  }
}

/** The time in which one request was asked of both sides, in milliseconds since 1970. */
export interface Period {
  readonly from: number
  readonly to: number
}

/** Milliseconds by which the clock of a service may differ from this machine's. */
export const CLOCK_TOLERANCE_MS = 2000

/** True if a row was created or written in the period. */
export function isWithin({ from, to }: Period, ...times: readonly (number | undefined)[]): boolean {
  return times.some((time) => time !== undefined && time >= from - CLOCK_TOLERANCE_MS && time <= to + CLOCK_TOLERANCE_MS)
}
