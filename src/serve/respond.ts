import type { ApiError } from '../errors/api-error.ts'
import { SERVED_BY, type Side } from '../modes/choose/mode.ts'
import type { Served } from '../modes/serve/backend.ts'
import type { ClientRequest } from '../request/request.ts'
import type { Answer } from '../translate/answer.ts'
import type { Send } from '../translate/calls.ts'
import { begin, translate, unknownParameters } from '../translate/translated.ts'
import type { AnswerDecision } from './choose.ts'
import type { Core } from './core.ts'
import type { KnownRead } from './known-reads.ts'
import type { RequestRecord } from './request-record.ts'
import { watchCalls } from './watch-calls.ts'

/** A request that Crosswalk answers itself. */
export interface Serving {
  readonly decision: AnswerDecision
  readonly request: ClientRequest
  readonly exchange: RequestRecord
}

/** Writes answers in the client's protocol. */
export interface Writer {
  /** Takes the answer and the side that gave it. */
  write(answer: Answer, by: Side): void
  /** Takes the error that the request ends with instead. */
  failed(thrown: unknown): void
}

/** Answers a request, possibly at once. Throws the ApiError of an unreadable request. */
export function respond(core: Core, serving: Serving, writer: Writer): void {
  if (core.hasV1) {
    inMode(core, serving).then(
      ({ answer, by }) => writer.write(answer, by),
      (thrown) => writer.failed(thrown),
    )
  } else fromV2(core, serving, writer)
}

/** Returns the answer of the side that the mode chooses. The mode may also have it compared. */
async function inMode(core: Core, serving: Serving): Promise<Served> {
  const { decision, request, exchange } = serving
  if (decision.routed.form) exchange.onlyV1 = core.onlyV1(request.operation, () => request.read().query)
  const mode = exchange.onlyV1 ? 'v1' : decision.choice.mode
  exchange.mode = mode
  if (SERVED_BY[mode] === 'v1') exchange.asked = true
  const served = await core.modes.serve(mode, request, () => servedByV2(core, serving))
  if (served.failed) exchange.mode = 'fallback'
  return served
}

function servedByV2(core: Core, serving: Serving): Promise<Served> {
  return new Promise((resolve, failed) => {
    const write = (answer: Answer) => resolve({ answer, by: 'v2', ...(!serving.exchange.asked && { unasked: true }) })
    fromV2(core, serving, { write, failed })
  })
}

/** Answers from v2. Throws the ApiError of an unreadable request. */
function fromV2(core: Core, serving: Serving, writer: Writer): void {
  const { decision, request, exchange } = serving
  const known = decision.known ?? readAnew(core, serving)
  if (known.unknown.length > 0) exchange.dropped = known.unknown.map(core.nameForLog)
  const onError = (error: ApiError) => {
    exchange.error = error
  }
  translate(request.operation, known.first, sendOf(core, serving), core.settings, onError, (answer) => writer.write(answer, 'v2'))
}

/** Reads a request with the tables. The result is kept by URL if other callers may reuse its first turn. */
function readAnew({ reads, settings }: Core, { decision, request }: Serving): KnownRead {
  const { operation, raw } = request
  const { routed } = decision
  const asked = request.read()
  const unknown = unknownParameters(operation, asked)
  const first = () => {
    const turn = begin(operation, asked, settings)
    if (turn.kind === 'ask' && turn.again) reads.keep(raw, { routed, unknown, first: () => turn })
    return turn
  }
  return { routed, unknown, first }
}

/** Chooses how the calls of a request are made. */
function sendOf({ modes, endCall, sendFor }: Core, { request, exchange }: Serving): Send {
  const { operation, raw, credential, signal } = request
  const onCall = watchCalls(exchange, endCall, (status) => modes.heard(operation, credential, status))
  const onParsed = () => {
    exchange.parsedPages += 1
  }
  const send = sendFor({ headers: raw.headers, credential, requestId: exchange.id, signal, onCall, onParsed })
  return (call, landing) => {
    exchange.asked = true
    send(call, landing)
  }
}
