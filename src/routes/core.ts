import type { IncomingHttpHeaders } from 'node:http'
import type { ApiError } from '../errors/api-error.ts'
import { SERVED_BY, type Side } from '../modes/choose/mode.ts'
import type { Choice, Modes } from '../modes/modes.ts'
import type { Incoming, Served } from '../modes/serve/backend.ts'
import { isBodyWithin } from '../request/incoming.ts'
import { parseQuery, searchOf } from '../request/query-string.ts'
import { type Routed, routeRequest } from '../request/route-request.ts'
import { createRouter, type Router } from '../request/router.ts'
import type { Operation } from '../tables/language/operation.ts'
import { createOnlyV1, type OnlyV1 } from '../tables/language/v1-values.ts'
import type { Answer } from '../translate/answer.ts'
import type { Send } from '../translate/calls.ts'
import { begin, type TranslateSettings, translate, unknownParameters } from '../translate/translated.ts'
import type { SendFor } from '../upstream/send.ts'
import type { Signal } from '../upstream/signal.ts'
import type { Exchange } from './exchange.ts'
import { createKnownReads, type KnownRead, type KnownReads } from './known-reads.ts'
import { watchCalls } from './watch/calls.ts'
import type { Metrics } from './watch/metrics.ts'
import { createNameForLog } from './watch/name-for-log.ts'

export interface CoreSettings extends TranslateSettings {
  readonly limits: TranslateSettings['limits'] & { readonly requestBytes: number }
}

export interface CoreParts {
  readonly operations: readonly Operation[]
  readonly sendFor: SendFor
  readonly modes: Modes
  readonly metrics: Metrics
  /** Whether a v1 service stands behind the proxy as well. */
  readonly hasV1: boolean
  readonly settings: CoreSettings
}

/** What serves v1 requests, whatever carries them. */
export interface Core extends CoreParts {
  readonly router: Router
  readonly onlyV1: OnlyV1
  readonly reads: KnownReads
  readonly nameForLog: (name: string) => string
}

export function createCore(parts: CoreParts): Core {
  const { operations, hasV1 } = parts
  return {
    ...parts,
    router: createRouter(operations),
    onlyV1: createOnlyV1(hasV1 ? operations : []),
    reads: createKnownReads(),
    nameForLog: createNameForLog(operations),
  }
}

/** The head of a request. */
export interface Head {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** What becomes of a request. */
export interface Decision {
  readonly routed: Routed
  /** Undefined where no table knows its path. */
  readonly operation: Operation | undefined
  /** What its URL means, where it was asked before. */
  readonly known: KnownRead | undefined
  readonly choice: Choice
  /** v1's answer goes to the client as it is. */
  readonly passes: boolean
  readonly head: Head
  /** Its path, decoded. */
  readonly path: string
  /** Says that what the request may write is written. */
  readonly written: () => void
}

/** Decides what becomes of a request; `path` is decoded. Throws the ApiError that it is refused with. */
export function choose(core: Core, head: Head, path: string, exchange: Exchange): Decision {
  const { modes, hasV1 } = core
  const known = core.reads.find(head)
  const routed = known?.routed ?? routeRequest(core.router, head, path)
  const match = typeof routed.match === 'object' ? routed.match : undefined
  if (match) exchange.operation = match.operation.id
  if (match && !known && !routed.form) exchange.onlyV1 = core.onlyV1(match.operation, () => parseQuery(searchOf(head.url ?? '')))
  if (!match?.operation.begin || exchange.onlyV1) {
    exchange.mode = hasV1 ? 'v1' : 'v2'
    const choice = { ...modes.identify(head.headers), mode: exchange.mode }
    const written = match ? modes.writing(match.operation, match.params, choice) : nothingWritten
    return { routed, operation: match?.operation, known: undefined, choice, passes: true, head, path, written }
  }
  const { operation, params } = match
  const choice = modes.choose(operation, head.url ?? '', head.headers)
  exchange.mode = choice.mode
  const written = modes.writing(operation, params, choice)
  return { routed, operation, known, choice, passes: isPassed(core, choice, head), head, path, written }
}

const nothingWritten = () => {}

/** v1 streams what nobody compares; also a body of unknown length, which may be more than could be compared. */
function isPassed({ settings }: Core, { mode }: Choice, head: Head): boolean {
  return mode === 'v1' || (SERVED_BY[mode] === 'v1' && !isBodyWithin(head, settings.limits.requestBytes))
}

/** Counts a request that is over. `status` is undefined where no answer had begun. */
export function count({ modes }: Core, decision: Decision, exchange: Exchange, status: number | undefined): void {
  const { operation, choice, passes, head, path, written } = decision
  if (!operation) {
    // What v1 answers well will be missed when v1 is gone, whether a table knows it or not.
    if (exchange.asked && status !== undefined && status < 400) modes.usedUnknown(head.method ?? '', path, head.headers)
    return
  }
  if (passes && exchange.asked && status !== undefined) modes.heard(operation, choice.credential, status)
  written()
  const { onlyV1, asked } = exchange
  modes.used(onlyV1 ? { ...choice, mode: 'v1' } : choice, onlyV1 ?? operation, !asked && status !== undefined && status >= 400)
}

/** A request that is answered here. */
export interface Serving {
  readonly decision: Decision & { readonly operation: Operation }
  readonly incoming: Pick<Incoming, 'raw' | 'read' | 'client'>
  /** Fires when the client goes away, or the deadline of the request passes. */
  readonly signal: Signal
  readonly exchange: Exchange
}

/** Takes the answer and the side that gave it, or what the request ends with instead. */
export interface Writer {
  write(answer: Answer, by: Side): void
  failed(thrown: unknown): void
}

/** Answers a request, perhaps at once. */
export function answer(core: Core, serving: Serving, writer: Writer): void {
  if (core.hasV1)
    answerInMode(core, serving).then(
      ({ answer, by }) => writer.write(answer, by),
      (thrown) => writer.failed(thrown),
    )
  else answerFromV2(core, serving, (given) => writer.write(given, 'v2'))
}

async function answerInMode(core: Core, serving: Serving): Promise<Served> {
  const { decision, incoming, exchange } = serving
  const { routed, operation, choice } = decision
  const { caller, subject, credential } = choice
  if (routed.form) exchange.onlyV1 = core.onlyV1(operation, () => incoming.read().query)
  const mode = exchange.onlyV1 ? 'v1' : choice.mode
  exchange.mode = mode
  if (SERVED_BY[mode] === 'v1') exchange.asked = true
  const served = await core.modes.serve(mode, { ...incoming, caller, subject, credential, operation }, () => servedByV2(core, serving))
  if (served.failed) exchange.mode = 'fallback'
  return served
}

function servedByV2(core: Core, serving: Serving): Promise<Served> {
  return new Promise((resolve) =>
    answerFromV2(core, serving, (given) => resolve({ answer: given, by: 'v2', ...(!serving.exchange.asked && { unasked: true }) })),
  )
}

/** Throws the ApiError of a request that cannot be read. */
function answerFromV2(core: Core, serving: Serving, done: (answer: Answer) => void): void {
  const { decision, exchange } = serving
  const { operation, known } = decision
  const asks = known ?? readAnew(core, serving)
  if (asks.unknown.length > 0) exchange.dropped = asks.unknown.map(core.nameForLog)
  const failed = (error: ApiError) => {
    exchange.error = error
  }
  translate(operation, asks.first, sendOf(core, serving), core.settings, failed, done)
}

/** What a request asks of the tables; it is kept by its URL where another caller may take its first turn again. */
function readAnew({ reads, settings }: Core, { decision, incoming }: Serving): KnownRead {
  const { operation, routed } = decision
  const request = incoming.read()
  const first = () => {
    const turn = begin(operation, request, settings)
    if (turn.kind === 'ask' && turn.again) reads.keep(incoming.raw, { routed, unknown, first: () => turn })
    return turn
  }
  const unknown = unknownParameters(operation, request)
  return { routed, unknown, first }
}

/** How the calls of a request are made. */
function sendOf({ modes, metrics, sendFor }: Core, { decision, incoming, exchange, signal }: Serving): Send {
  const { operation, choice } = decision
  const { credential } = choice
  const onCall = watchCalls(exchange, metrics, (status) => modes.heard(operation, credential, status))
  const onParsed = () => {
    exchange.parsedPages += 1
  }
  const send = sendFor({ headers: incoming.raw.headers, credential, requestId: exchange.id, signal, onCall, onParsed })
  return (call, landing) => {
    exchange.asked = true
    send(call, landing)
  }
}
