/**
 * Messages of a service as JSON, and back: Connect's JSON form of a call that is relayed, and the calls of v2 that only gRPC carries.
 * A whole message in one turn of the event loop would keep everybody else waiting. A list is therefore read row by row, for a few
 * milliseconds at a time, and one row is bounded.
 */
import { setImmediate } from 'node:timers/promises'
import { type DescMessage, fromBinary, fromJson, type JsonValue, type Registry, toBinary, toJson } from '@bufbuild/protobuf'
import { ApiError } from '../../errors.ts'
import type { Signal } from '../../serve/signals.ts'
import type { JsonObject } from '../../tables/json.ts'
import { fieldsOf } from '../wire/status.ts'
import { checkSize, listField, type MessageLimits } from './message-of.ts'
import { holdsMore, isLongerInJson, objectIn } from './request-of.ts'

/** Returns the bytes of a message that came as JSON. Throws if it is none of that type, or if it holds more than a body may hold. */
export function bytesOfJson(type: DescMessage, json: Uint8Array, registry: Registry): Uint8Array {
  const text = Buffer.from(json.buffer, json.byteOffset, json.length).toString()
  return toBinary(type, fromJson(type, objectIn(text), { registry, ignoreUnknownFields: true }))
}

/** What one answer may cost. */
export interface RecodeLimits extends MessageLimits {
  /** The most rows of a list. */
  readonly rowsPerRequest: number
}

/** An answer that came as bytes. */
export interface Recoded {
  readonly type: DescMessage
  readonly bytes: Buffer
  readonly registry: Registry
  readonly limits: RecodeLimits
  /** Ends the work of a long answer. */
  readonly signal: Signal
}

/** Bytes. A message, and some of its rows, that are no longer are read in one piece. */
const SHORT = 16 * 1024

/** Milliseconds after which others are served. */
const TURN = 10

/** The most fields of a row, or of what stands beside the rows, and its most bytes: they become JSON in one piece, in less than 50 ms. */
const MOST_FIELDS = 20_000
const MOST_BYTES = 4 * 2 ** 20

/**
 * Returns the text of an answer as JSON, in pieces. Rejects with an ApiError: INTERNAL if the bytes are none of that type, RESOURCE_EXHAUSTED
 * beyond the limits. Rejects with the reason of the signal.
 */
export async function jsonOfBytes(answer: Recoded): Promise<readonly Uint8Array[]> {
  const { bytes, limits } = answer
  const pieces: Buffer[] = []
  let size = 0
  const push = (text: string) => {
    const piece = Buffer.from(text)
    size += piece.length
    pieces.push(piece)
    checkSize(size, limits)
  }
  if (bytes.length <= SHORT) push(JSON.stringify(whole(answer)))
  else {
    let begin = ''
    const { list, rest } = await inTurns(answer, (rows, name) => {
      begin = pieces.length === 0 ? `{${JSON.stringify(name)}:[` : ','
      push(begin + rows.map((row) => JSON.stringify(row)).join(','))
    })
    const text = JSON.stringify(rest)
    if (list === undefined) push(text)
    else push(text === '{}' ? ']}' : `],${text.slice(1)}`)
  }
  return pieces
}

/** Returns the same answer as a value, as v2 writes it over REST: with empty lists and zero values. A message of no bytes is an empty list. */
export async function valueOfBytes(answer: Recoded): Promise<JsonObject> {
  if (answer.bytes.length <= SHORT) return whole(answer, true)
  const all: JsonValue[] = []
  const give = (rows: readonly JsonValue[]) => {
    for (const row of rows) all.push(row)
  }
  const { list, rest } = await inTurns(answer, give, true)
  return list === undefined ? rest : { ...rest, [list]: all }
}

const NO_UNKNOWN = { readUnknownFields: false }

function whole({ type, bytes, registry }: Pick<Recoded, 'type' | 'bytes' | 'registry'>, hasZeros = false): JsonObject {
  try {
    return toJson(type, fromBinary(type, bytes, NO_UNKNOWN), { registry, alwaysEmitImplicit: hasZeros }) as JsonObject
  } catch (cause) {
    throw notOf(type, cause)
  }
}

function notOf({ typeName }: DescMessage, cause?: unknown): ApiError {
  return new ApiError('INTERNAL', `the service sent an answer that is not a ${typeName}`, { cause })
}

/** A message without its rows, and the name of their list if there were any. */
interface Beside {
  readonly list: string | undefined
  readonly rest: JsonObject
}

/** Gives the rows of a list, some at a time, and serves others in between. Returns what stands beside them. */
async function inTurns(answer: Recoded, give: (rows: readonly JsonValue[], list: string) => void, hasZeros = false): Promise<Beside> {
  const { type, bytes, registry, limits, signal } = answer
  const list = listField(type)
  const rest: Buffer[] = []
  let [from, to, count] = [0, 0, 0]
  let began = performance.now()
  const flush = () => {
    const rows = bytes.subarray(from, to)
    from = to
    if (rows.length === 0 || !list) return
    const { [list.jsonName]: read } = whole({ type, bytes: bounded(type, rows), registry }, hasZeros)
    give(read as readonly JsonValue[], list.jsonName)
  }
  for (const { number, begin, end } of fieldsOf(bytes, () => notOf(type))) {
    if (number !== list?.number) {
      rest.push(bytes.subarray(begin, end))
      if (rest.length > MOST_FIELDS) throw tooLarge(type)
    } else {
      count += 1
      if (count > limits.rowsPerRequest) throw tooMany(limits)
      // Rows are read with those that stand right before them. A long one is read alone, so that its own bounds count.
      if (begin !== to || end - from > SHORT) {
        flush()
        from = begin
      }
      to = end
    }
    // What is held is short, or one long row, which has the next turn.
    if (performance.now() - began < TURN) continue
    await setImmediate()
    if (signal.aborted) throw signal.reason
    began = performance.now()
  }
  flush()
  const beside = whole({ type, bytes: bounded(type, Buffer.concat(rest)), registry }, hasZeros)
  return { list: count > 0 ? list?.jsonName : undefined, rest: beside }
}

function tooMany({ rowsPerRequest }: RecodeLimits): ApiError {
  return new ApiError(
    'RESOURCE_EXHAUSTED',
    `the answer holds more rows than limits.rowsPerRequest (${rowsPerRequest}) allows; ask for a page`,
  )
}

/** Returns the bytes, if they may become JSON in one piece. */
function bounded(type: DescMessage, bytes: Buffer): Buffer {
  if (isLongerInJson(bytes, MOST_BYTES) || holdsMore(type, bytes, MOST_FIELDS, () => notOf(type))) throw tooLarge(type)
  return bytes
}

function tooLarge({ typeName }: DescMessage): ApiError {
  const most = `${MOST_FIELDS} values or ${MOST_BYTES} bytes in one piece`
  return new ApiError(
    'RESOURCE_EXHAUSTED',
    `the answer is a ${typeName} with more than ${most}, too much for JSON; ask in application/proto`,
  )
}
