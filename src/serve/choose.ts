import { parseQuery, searchOf } from '../request/query-string.ts'
import { createRequest, isBodyWithin, type RequestHead } from '../request/request.ts'
import { type Found, isFound, type Routed, routeRequest } from '../request/route-request.ts'
import type { RawRequest } from '../upstream/ask-rest.ts'
import type { Core } from './core.ts'
import type { KnownRead } from './known-reads.ts'
import type { RequestRecord } from './request-record.ts'
import { type Choice, SERVED_BY } from './sides.ts'

/** The decision about a request: answer it here, or pass v1's answer on unchanged. */
export type Decision = AnswerDecision | PassDecision

export interface AnswerDecision {
  readonly kind: 'answer'
  readonly routed: Found
  readonly choice: Choice
  /** The meaning of its URL, if the URL was requested before. */
  readonly known: KnownRead | undefined
  /** Tells the modes that the write of this request, if it is one, is done. */
  readonly written: () => void
}

export interface PassDecision {
  readonly kind: 'pass'
  /** Without an operation if no table knows the path. */
  readonly routed: Routed
  readonly choice: Choice
  readonly written: () => void
}

/** Decides how a request is answered; `path` is decoded. Throws the ApiError that refuses the request. */
export function choose(core: Core, head: RequestHead, path: string, record: RequestRecord): Decision {
  const known = core.reads.find(head)
  const routed = known?.routed ?? routeRequest(core.router, head, path)
  if (!isFound(routed)) return passOn(core, routed, head, record)
  const { operation, params } = routed.match
  record.operation = operation.id
  if (!known && !routed.form) record.onlyV1 = core.onlyV1(operation, () => parseQuery(searchOf(head.url ?? '')))
  if (!operation.begin || record.onlyV1) return passOn(core, routed, head, record)
  const choice = core.modes.choose(operation, head.url ?? '', head.headers)
  const { mode } = choice
  record.mode = mode
  const written = core.modes.writing(operation, params, choice)
  // v1 streams an answer that is not compared. A body of unknown length is not compared either: it may exceed the limit.
  const isPassed = mode === 'v1' || (SERVED_BY[mode] === 'v1' && !isBodyWithin(head, core.settings.limits.requestBytes))
  return isPassed ? { kind: 'pass', routed, choice, written } : { kind: 'answer', routed, choice, known, written }
}

/** Passes on a request that only v1 can answer. */
function passOn({ modes, hasV1 }: Core, routed: Routed, head: RequestHead, record: RequestRecord): PassDecision {
  const mode = hasV1 ? 'v1' : 'v2'
  record.mode = mode
  const choice = { ...modes.identify(head.headers), mode } as const
  const written = isFound(routed) ? modes.writing(routed.match.operation, routed.match.params, choice) : nothingWritten
  return { kind: 'pass', routed, choice, written }
}

const nothingWritten = () => {}

/** Returns the choice for what only v1 can answer: no rule makes it. */
function byV1({ caller, subject, credential }: Choice): Choice {
  return { caller, subject, credential, mode: 'v1' }
}

/** A finished request; `status` is undefined if no answer had begun. */
export interface FinishedRequest {
  readonly head: RequestHead
  /** The decoded path. */
  readonly path: string
  readonly record: RequestRecord
  readonly status: number | undefined
}

/** Counts a finished request. */
export function count({ modes }: Core, { kind, routed, choice, written }: Decision, { head, path, record, status }: FinishedRequest): void {
  const { asked, onlyV1 } = record
  if (!isFound(routed)) {
    // A request that v1 answers well will be missed when v1 is gone, even if no table knows it.
    if (asked && status !== undefined && status < 400) modes.usedUnknown(head.method ?? '', path, head.headers)
    return
  }
  const { operation } = routed.match
  if (kind === 'pass' && asked && status !== undefined) modes.heard(operation, choice.credential, status)
  written()
  const refused = !asked && status !== undefined && status >= 400
  const by = record.mode === 'fallback' ? 'v1' : SERVED_BY[choice.mode]
  const look = modes.used(onlyV1 ? byV1(choice) : choice, onlyV1 ?? operation, { refused, by, protocol: record.protocol })
  if (!look) return
  try {
    look(operation, record.read ? record.read() : createRequest(routed, withoutBody(record.id, head)).read())
  } catch {
    // A request that the tables cannot read has nothing to keep.
  }
}

function withoutBody(id: string, { method = '', url = '', headers }: RequestHead): RawRequest {
  return { id, method, url, headers, body: undefined }
}
