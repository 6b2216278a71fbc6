import { isObject } from '../../tables/json.ts'
import { linesOf } from './lines.ts'
import type { Entry } from './record.ts'

const KINDS: ReadonlySet<unknown> = new Set<Entry['kind']>(['comparison', 'would-send', 'traffic', 'tally', 'note', 'rollout'])

/** Yields the entries of one record file in the order of its lines. Rejects if the file cannot be read. */
export async function* readEntries(path: string): AsyncGenerator<Entry> {
  for await (const line of linesOf(path)) {
    const entry = entryOf(line)
    if (entry) yield entry
  }
}

/** Returns the entry of a line. Undefined for a line that a crash or a full disk tore, or that another program wrote. */
export function entryOf(line: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const isEntry = isObject(value) && KINDS.has(value.kind) && typeof value.at === 'string' && !Number.isNaN(Date.parse(value.at))
    return isEntry ? (value as unknown as Entry) : undefined
  } catch {
    return undefined
  }
}
