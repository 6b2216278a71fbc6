import type { V1Request } from '../../tables/operation.ts'
import type { Call } from '../../tables/turn.ts'
import type { Dialect } from '../../tables/uid.ts'
import type { SeenAnswer } from '../compare/compare.ts'
import { recordedParameter } from '../redact/recorded-parameter.ts'
import type { Redacted } from '../redact/redacted.ts'

/** One v2 call of a translated request, and v2's answer. */
export interface Exchanged {
  readonly call: Call
  readonly status: number
  readonly body: unknown
}

/** All that is needed to reproduce a mismatch, redacted: v1's answer, and v2's answer to each call. */
export interface Exhibit {
  readonly dialect: Dialect
  /** The operation that was read. */
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly query: readonly (readonly [name: string, values: readonly string[]])[]
  readonly v1: { readonly status: number; readonly body: unknown }
  readonly v2: readonly { readonly method: string; readonly path: string; readonly status: number; readonly body: unknown }[]
}

/** What is known when a mismatch is confirmed. */
export interface Observed {
  readonly request: V1Request
  readonly v1: SeenAnswer
  readonly calls: readonly Exchanged[]
}

/** Maximum characters of one exhibit; a larger one is not recorded. */
const LARGEST = 64 * 1024

/** `redacted` must not cut lists, and knows the words of all operations, because the calls of one may read what another describes. Returns undefined if the exhibit is too large or has no calls. */
export function exhibitOf(operation: string, dialect: Dialect, { request, v1, calls }: Observed, redacted: Redacted): Exhibit | undefined {
  if (calls.length === 0 || v1.body.kind !== 'json') return undefined
  const exhibit: Exhibit = {
    dialect,
    operation,
    params: Object.fromEntries(Object.entries(request.params).map(([name, value]) => [name, redacted.path(value)])),
    query: [...request.query].map(([name, values]) => [
      redacted.word(name),
      values.map((value) => recordedParameter(value, name, redacted)),
    ]),
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

/** Hides a page token like every secret, but numbers it. Otherwise tokens of different pages would look the same. */
function withCursor(original: unknown, shown: unknown, nth: number): unknown {
  const token = (original as { nextPageToken?: unknown } | null)?.nextPageToken
  return typeof token === 'string' && token !== '' ? { ...(shown as object), nextPageToken: `page-${nth + 1}` } : shown
}
