import type { Dialect } from '../../tables/language/names.ts'
import type { V1Request } from '../../tables/operations/operation.ts'
import type { Call } from '../../tables/plan/plan.ts'
import type { Seen } from '../compare/compare.ts'
import type { Redacted } from '../redact/redacted.ts'

/** One v2 call of a translated request and what v2 answered. */
export interface Exchanged {
  readonly call: Call
  readonly status: number
  readonly body: unknown
}

/** Everything that it takes to see a mismatch again, redacted: what v1 answered, and what v2 answered call by call. */
export interface Exhibit {
  readonly dialect: Dialect
  /** Operation that was read. */
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly query: readonly (readonly [name: string, values: readonly string[]])[]
  readonly v1: { readonly status: number; readonly body: unknown }
  readonly v2: readonly { readonly method: string; readonly path: string; readonly status: number; readonly body: unknown }[]
}

/** What is known when a mismatch is believed in. */
export interface Observed {
  readonly request: V1Request
  readonly v1: Seen
  readonly calls: readonly Exchanged[]
}

/** Characters of one exhibit; a larger one is not worth its place in the records. */
const LARGEST = 64 * 1024

/** `redacted` must not cut lists. undefined when it is too large, or when there is nothing to see. */
export function exhibitOf(operation: string, dialect: Dialect, { request, v1, calls }: Observed, redacted: Redacted): Exhibit | undefined {
  if (calls.length === 0 || v1.body.kind !== 'json') return undefined
  const exhibit: Exhibit = {
    dialect,
    operation,
    params: Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, redacted.path(value)])),
    query: [...request.query].map(([name, values]) => [redacted.word(name), values.map((value) => parameter(value, name, redacted))]),
    v1: { status: v1.status, body: redacted.value(v1.body.value, '') },
    v2: calls.map(({ call, status, body }, nth) => ({
      method: call.method,
      path: redacted.path(call.path),
      status,
      body: withCursor(body, redacted.value(body, ''), nth),
    })),
  }
  return JSON.stringify(exhibit).length > LARGEST ? undefined : exhibit
}

/** Flags, small numbers and directions decide about the calls, and are nobody's secret. */
const PLAIN = /^(?:true|false|t|f|[+-]?\d{1,9})$/i
const DIRECTED = /^(\S+)\s+(asc|desc)$/i

function parameter(value: string, name: string, redacted: Redacted): string {
  if (PLAIN.test(value)) return value
  const [, field, direction] = DIRECTED.exec(value) ?? []
  return field === undefined ? String(redacted.value(value, name)) : `${redacted.value(field, name)} ${direction}`
}

/** A page token is hidden like every secret, but pages without tokens of their own would look like one that comes again. */
function withCursor(original: unknown, shown: unknown, nth: number): unknown {
  const token = (original as { nextPageToken?: unknown } | null)?.nextPageToken
  return typeof token === 'string' && token !== '' ? { ...(shown as object), nextPageToken: `page-${nth + 1}` } : shown
}
