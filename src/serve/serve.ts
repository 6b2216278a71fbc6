/**
 * Serving: a v1 request from the socket to its answer, from v2 alone. Who answers is a question to `sides.ts`; a migration may answer it.
 *
 * 1. `listen/` accepts connections; `http/admission.ts` lets a request in; `http/app.ts` classifies it: v1's, native, or refused.
 * 2. `http/v1-surface.ts` reads it, and `choose` below decides: answer it here, or pass v1's answer on.
 * 3. `respond` runs the operation: `answer.ts` takes its turns, `calls.ts` makes their calls.
 * 4. `upstream/send.ts` sends a call or shares one under way; `upstream/exchange.ts` speaks HTTP with v2.
 * 5. The rows go out as bytes; `watch/access-log.ts` ends the record: one log line, one span, the counters.
 *
 * It never compares, never decides by evidence, and writes no file. gRPC comes in by `core.ts`, with requests of the same form.
 */
import { asApiError } from '../errors.ts'
import { type Call, type CallReceiver, run } from '../tables/turn.ts'
import { type Answer, Answering, begin, refusal, unknownParameters } from './answer.ts'
import type { Core, KnownRead, RequestRecord } from './core.ts'
import { type ClientRequest, createRequest, identify, isBodyWithin, parseQuery, type RequestHead, searchOf } from './request.ts'
import { type Found, isFound, type Routed, routeRequest } from './route.ts'
import { type Choice, COMPARING, hasFailed, SERVED_BY, type ServedReceiver, type Side, type Unkept } from './sides.ts'
import type { CallEnd } from './upstream/exchange.ts'
import type { KeptAnswers, SendContext } from './upstream/send.ts'
import type { RawRequest } from './upstream/v1.ts'
import { outcomeOf } from './watch/access-log.ts'
import type { CallSpan } from './watch/spans.ts'

/** The decision about a request: answer it here, or pass v1's answer on unchanged. */
export type Decision = AnswerDecision | PassDecision

export interface AnswerDecision {
  readonly kind: 'answer'
  /** Decoded. */
  readonly path: string
  readonly routed: Found
  readonly choice: Choice
  /** The meaning of its URL, if the URL was requested before. */
  readonly known: KnownRead | undefined
  /** Tells the modes that the write of this request is done. Undefined for a read. */
  readonly written: (() => void) | undefined
}

interface PassDecision {
  readonly kind: 'pass'
  /** Decoded. */
  readonly path: string
  /** Without an operation if no table knows the path. */
  readonly routed: Routed
  readonly choice: Choice
  readonly written: (() => void) | undefined
}

/**
 * Decides how a request is answered; `path` is decoded, `known` is the meaning of its URL if that was requested before. Throws the ApiError
 * that refuses the request.
 */
export function choose(core: Core, head: RequestHead, path: string, record: RequestRecord, known: KnownRead | undefined): Decision {
  const { match, form } = known?.routed ?? routeRequest(core.router, head, path)
  if (typeof match !== 'object') return passOn(core, { match, form }, head, path, record)
  const { operation, params } = match
  record.operation = operation.id
  if (!known && !form) record.onlyV1 = core.onlyV1(operation, () => parseQuery(searchOf(head.url ?? '')))
  if (!operation.begin || record.onlyV1) return passOn(core, { match, form }, head, path, record)
  // Where no v1 service stands behind the proxy, no rule is asked.
  const choice = core.hasV1
    ? core.modes.choose(operation, head.url ?? '', head.headers)
    : { ...identify(head.headers.authorization), mode: 'v2' as const }
  const { mode } = choice
  record.mode = mode
  const written = operation.method === 'GET' ? undefined : core.modes.writing(operation, params, choice)
  // v1 streams an answer that is not compared. A body of unknown length is not compared either: it may exceed the limit.
  const isPassed = mode === 'v1' || (SERVED_BY[mode] === 'v1' && !isBodyWithin(head, core.settings.limits.requestBytes))
  const routed = known?.routed ?? { match, form }
  return isPassed ? { kind: 'pass', path, routed, choice, written } : { kind: 'answer', path, routed, choice, known, written }
}

/** Passes on a request that only v1 can answer. */
function passOn({ modes, hasV1 }: Core, routed: Routed, head: RequestHead, path: string, record: RequestRecord): PassDecision {
  const mode = hasV1 ? 'v1' : 'v2'
  record.mode = mode
  const choice = { ...modes.identify(head.headers), mode } as const
  const written = isFound(routed) ? modes.writing(routed.match.operation, routed.match.params, choice) : undefined
  return { kind: 'pass', path, routed, choice, written }
}

/** Returns the choice for what only v1 can answer: no rule makes it. */
function byV1({ caller, subject, credential }: Choice): Choice {
  return { caller, subject, credential, mode: 'v1' }
}

/** A finished request; `status` is undefined if no answer had begun. */
interface FinishedRequest {
  readonly head: RequestHead
  readonly record: RequestRecord
  readonly status: number | undefined
  /** Only gRPC says what it asks for. */
  readonly isUncarried?: boolean
}

/** Tells why nothing of a request was kept. A body that v1 took may be refused with v2. */
function unkeptOf({ kind }: Decision, { head, record, status = 499, isUncarried = false }: FinishedRequest): Unkept | undefined {
  if (isUncarried) return 'uncarried'
  // The tables refuse every other request after they have read it.
  if (kind === 'answer') return !record.asked && !record.read && status === 400 ? 'bodyBytes' : undefined
  if (status === 499) return 'gone'
  if (status >= 400) return hasFailed(status) ? 'v1Failed' : 'refused'
  return head.headers['transfer-encoding'] === undefined ? 'bodyBytes' : 'bodyLength'
}

/** Counts a finished request. */
export function count({ modes }: Core, decision: Decision, finished: FinishedRequest): void {
  const { kind, path, routed, choice, written } = decision
  const { head, record, status } = finished
  const { asked, onlyV1 } = record
  const { match, form } = routed
  if (typeof match !== 'object') {
    // A request that v1 answers well will be missed when v1 is gone, even if no table knows it.
    if (asked && status !== undefined && status < 400) modes.usedUnknown(head.method ?? '', path, head.headers)
    return
  }
  const { operation } = match
  if (kind === 'pass' && asked && status !== undefined) modes.noteStatus(operation, choice.credential, status, 'v1')
  written?.()
  const refused = !asked && status !== undefined && status >= 400
  const by = record.mode === 'fallback' ? 'v1' : SERVED_BY[choice.mode]
  const started = status !== undefined && status < 400 ? record.started : undefined
  // What the tables answered well, they have read.
  const isRead = kind === 'answer' && !refused && !finished.isUncarried
  const unkept = COMPARING.has(choice.mode) && !isRead ? unkeptOf(decision, finished) : undefined
  const end = { refused, unkept, by, started, url: head.url, protocol: record.protocol, agent: head.headers['user-agent'] }
  const look = modes.used(onlyV1 ? byV1(choice) : choice, onlyV1 ?? operation, end)
  if (!look) return
  try {
    look(operation, record.read ? record.read() : createRequest({ match, form }, withoutBody(record.id, head)).read())
  } catch {
    // A request that the tables cannot read has nothing to keep.
  }
}

function withoutBody(id: string, { method = '', url = '', headers }: RequestHead): RawRequest {
  return { id, method, url, headers, body: undefined }
}

/** A request that Crosswalk answers itself. */
export interface Serving {
  readonly decision: AnswerDecision
  readonly request: ClientRequest
  readonly record: RequestRecord
}

/** Writes answers in the client's protocol. */
export interface Writer {
  /** Takes the answer and the side that gave it. `isOwn`: nobody else reads the answer, now or later. */
  write(answer: Answer, by: Side, isOwn: boolean): void
  /** Takes the error that the request ends with instead. */
  failed(thrown: unknown): void
}

/**
 * The conversation of one request with v2. It names the caller, makes and watches the calls, and writes the answer. A class, because every
 * request has one.
 */
export class Conversation extends Answering implements SendContext {
  readonly headers: SendContext['headers']
  readonly credential: string
  readonly requestId: string
  readonly signal: SendContext['signal']
  since: number | undefined
  by: string | undefined
  own: KeptAnswers | undefined
  readonly #core: Core
  readonly #serving: Serving
  readonly #writer: Writer

  constructor(core: Core, serving: Serving, writer: Writer) {
    super(core.settings.limits)
    const { request, record } = serving
    this.headers = request.raw.headers
    this.credential = request.credential
    this.requestId = record.id
    this.signal = request.signal
    this.since = undefined
    this.by = undefined
    this.own = undefined
    this.#core = core
    this.#serving = serving
    this.#writer = writer
  }

  send(call: Call, receiver: CallReceiver): void {
    // Also if the call is shared or its answer is kept.
    this.#serving.record.asked = true
    this.#core.send(this, call, receiver)
  }

  onWritten(): void {
    this.#serving.record.written = true
  }

  /** Makes the call a child of the request's span. */
  onCall({ method, path }: Call): CallSpan | undefined {
    const { record } = this.#serving
    record.calls += 1
    return record.span?.call(method, path)
  }

  onCallEnd(end: CallEnd, started: number, span: CallSpan | undefined): void {
    const { modes, endCall } = this.#core
    const status = typeof end === 'number' ? end : undefined
    endCall(typeof end === 'number' ? outcomeOf(end) : end, (performance.now() - started) / 1000, span?.recorded)
    span?.end(status)
    if (status !== undefined) modes.noteStatus(this.#serving.request.operation, this.credential, status, 'v2')
  }

  onParsed(): void {
    this.#serving.record.parsedPages += 1
  }

  done(answer: Answer): void {
    this.#writer.write(answer, 'v2', true)
  }

  /** Answers with an error in v1's form. */
  failed(thrown: unknown): void {
    const { request, record } = this.#serving
    const error = asApiError(thrown)
    record.error = error
    this.done(refusal(request.operation, this.#core.settings, error))
  }
}

/** Answers a request, possibly at once. Throws the ApiError of an unreadable request. */
export function respond(core: Core, serving: Serving, writer: Writer): void {
  serving.record.read = serving.request.read
  if (core.hasV1) inMode(core, serving, writer)
  else fromV2(core, serving, writer)
}

/** Answers from the side that the mode chooses. The mode may also have the answer compared. Throws the ApiError of an unreadable request. */
function inMode(core: Core, serving: Serving, writer: Writer): void {
  const { decision, request, record } = serving
  if (decision.routed.form) record.onlyV1 = core.onlyV1(request.operation, () => request.read().query)
  const mode = record.onlyV1 ? 'v1' : decision.choice.mode
  record.mode = mode
  const asked = COMPARING.has(mode) ? { ...request, begin: () => (decision.known ?? readAnew(core, serving)).first() } : request
  const isByV1 = SERVED_BY[mode] === 'v1'
  if (isByV1) record.asked = true
  core.modes.serve(mode, asked, (receiver) => fromV2(core, serving, new ServedByV2(record, receiver)), {
    served(served) {
      // Whether v1 may have done what it was asked for.
      if (isByV1) record.written = !NOTHING_DONE.has(served.answer.status)
      if (served.failed) record.mode = 'fallback'
      writer.write(served.answer, served.by, !served.isKept)
    },
    failed(thrown) {
      if (isByV1) record.written = !asApiError(thrown).unsent
      writer.failed(thrown)
    },
  })
}

/** The statuses of v1 after which nothing was done: a malformed request, a caller without rights, a rate. */
const NOTHING_DONE: ReadonlySet<number> = new Set([400, 401, 403, 429])

/** Takes v2's answer for a mode. */
class ServedByV2 implements Writer {
  readonly #record: RequestRecord
  readonly #receiver: ServedReceiver

  constructor(record: RequestRecord, receiver: ServedReceiver) {
    this.#record = record
    this.#receiver = receiver
  }

  write(answer: Answer): void {
    this.#receiver.served(this.#record.asked ? { answer, by: 'v2' } : { answer, by: 'v2', unasked: true })
  }

  failed(thrown: unknown): void {
    this.#receiver.failed(thrown)
  }
}

/** Answers from v2. Throws the ApiError of an unreadable request. */
function fromV2(core: Core, serving: Serving, writer: Writer): void {
  const known = serving.decision.known ?? readAnew(core, serving)
  if (known.unknown.length > 0) serving.record.dropped = known.unknown.map(core.nameForLog)
  run(known.first, new Conversation(core, serving, writer))
}

/** Reads a request with the tables. The result is kept by URL if other callers may reuse its first turn. */
function readAnew({ reads, settings }: Core, { decision, request }: Serving): KnownRead {
  const { operation, raw } = request
  const { path, routed } = decision
  const asked = request.read()
  const unknown = unknownParameters(operation, asked)
  const first = () => {
    const turn = begin(operation, asked, settings)
    if (turn.kind === 'ask' && turn.again) reads.keep(raw, { kind: 'v1', path, routed, request: asked, unknown, first: () => turn })
    return turn
  }
  return { kind: 'v1', path, routed, request: asked, unknown, first }
}
