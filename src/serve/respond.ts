import { asApiError } from '../errors.ts'
import { type Answer, answer } from '../translate/answer.ts'
import { createCalls } from '../translate/calls.ts'
import { begin, unknownParameters } from '../translate/translated.ts'
import { Conversation, type Serving, type Writer } from './conversation.ts'
import type { Core } from './core.ts'
import type { KnownRead } from './known-reads.ts'
import type { RequestRecord } from './request-record.ts'
import { SERVED_BY, type Served } from './sides.ts'

/** Answers a request, possibly at once. Throws the ApiError of an unreadable request. */
export function respond(core: Core, serving: Serving, writer: Writer): void {
  serving.record.read = serving.request.read
  if (core.hasV1) {
    inMode(core, serving).then(
      (served) => {
        if (served.failed) serving.record.mode = 'fallback'
        writer.write(served.answer, served.by, false)
      },
      (thrown) => writer.failed(thrown),
    )
  } else fromV2(core, serving, writer)
}

/** Returns the answer of the side that the mode chooses. The mode may also have it compared. Throws the ApiError of an unreadable request. */
function inMode(core: Core, serving: Serving): Promise<Served> {
  const { decision, request, record } = serving
  if (decision.routed.form) record.onlyV1 = core.onlyV1(request.operation, () => request.read().query)
  const mode = record.onlyV1 ? 'v1' : decision.choice.mode
  record.mode = mode
  const serve = () => core.modes.serve(mode, request, () => servedByV2(core, serving))
  return SERVED_BY[mode] === 'v1' ? askedV1(record, serve) : serve()
}

/** Notes whether v1 may have done what it was asked for. */
async function askedV1(record: RequestRecord, serve: () => Promise<Served>): Promise<Served> {
  record.asked = true
  try {
    const served = await serve()
    record.written = !NOTHING_DONE.has(served.answer.status)
    return served
  } catch (thrown) {
    record.written = !asApiError(thrown).unsent
    throw thrown
  }
}

/** The statuses of v1 after which nothing was done: a malformed request, a caller without rights, a rate. */
const NOTHING_DONE: ReadonlySet<number> = new Set([400, 401, 403, 429])

function servedByV2(core: Core, serving: Serving): Promise<Served> {
  return new Promise((resolve, failed) => {
    const write = (given: Answer) => resolve({ answer: given, by: 'v2', ...(!serving.record.asked && { unasked: true }) })
    fromV2(core, serving, { write, failed })
  })
}

/** Answers from v2. Throws the ApiError of an unreadable request. */
function fromV2(core: Core, serving: Serving, writer: Writer): void {
  const known = serving.decision.known ?? readAnew(core, serving)
  if (known.unknown.length > 0) serving.record.dropped = known.unknown.map(core.nameForLog)
  const { limits } = core.settings
  const conversation = new Conversation(core, serving, writer)
  answer(known.first, createCalls(core.sendFor(conversation), limits), limits, conversation)
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
