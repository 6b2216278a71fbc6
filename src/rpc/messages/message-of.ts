import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../../errors.ts'
import { type Answer, bytesOf } from '../../serve/answer.ts'
import { isObject } from '../../tables/json.ts'
import { unfit } from '../encode/wire-scalar.ts'
import type { RpcMethod } from '../open-rpc.ts'
import { createJsonSink } from './json-sink.ts'
import { createListText, type ListText } from './list-text.ts'
import { listField } from './message-sink.ts'
import { createProtoSink, protoOfRows } from './proto-sink.ts'
import type { Codec } from './request-of.ts'

/** Limits of one answer, named as in the configuration. */
export interface MessageLimits {
  /** The maximum number of bytes of one message. */
  readonly messageBytes: number
  /** Tells whether the memory of all has room for a long message of this size. */
  readonly holding?: { reach(size: number): boolean } | undefined
}

/** Bytes. A shorter message holds nothing of the memory of all: there are no more of them than requests in flight. */
const SHORT = 64 * 1024

/** The rows, and the bytes of JSON text, that become bytes of a message before the event loop serves others. */
const BATCH = 500
const TURN = 256 * 1024

/**
 * Returns an answer below status 400 as the message of its method, in pieces. A long list is parsed and written batch by batch, so only its
 * bytes are held. Members that the message does not have are dropped.
 * Throws an ApiError: RESOURCE_EXHAUSTED beyond `messageBytes` or without room in `holding`, INTERNAL if the answer is none of the method. Throws what a stream breaks with.
 */
export function messageOf(method: RpcMethod, answer: Answer, codec: Codec, limits: MessageLimits): Pieces | Promise<Pieces> {
  const isShort = 'written' in answer && typeof answer.written === 'string'
  return isShort ? ofShort(method, answer.written, codec, limits) : ofLong(method, answer, codec, limits)
}

/** The bytes of a message, piece by piece. */
type Pieces = readonly Uint8Array[]

async function ofLong(method: RpcMethod, answer: Answer, codec: Codec, limits: MessageLimits): Promise<Pieces> {
  const message = createMessage(method, codec, limits)
  if ('body' in answer) await fromValue(message, answer.body)
  else if ('stream' in answer) for await (const piece of answer.stream) message.text(piece)
  else await fromPieces(message, bytesOf(answer.written))
  return message.end()
}

/** Returns the message of a text with a letter for each byte. */
function ofShort(method: RpcMethod, text: string, codec: Codec, limits: MessageLimits): readonly Uint8Array[] {
  const bytes = codec === 'proto' ? protoOfRows(method.output, text) : undefined
  if (!bytes) return createMessage(method, codec, limits).short(text)
  checkSize(bytes.length, limits)
  return [bytes]
}

async function fromPieces(message: GrowingMessage, pieces: readonly Uint8Array[]): Promise<void> {
  let turn = 0
  for (const piece of pieces) {
    if (turn > TURN) await setImmediate()
    turn = turn > TURN ? 0 : turn + piece.length
    message.text(piece)
  }
}

async function fromValue(message: GrowingMessage, body: unknown): Promise<void> {
  const rows = isObject(body) ? body[message.list] : undefined
  if (!Array.isArray(rows) || rows.length <= BATCH) return message.rest(body)
  for (let at = 0; at < rows.length; at += BATCH) {
    message.rows(rows.slice(at, at + BATCH))
    await setImmediate()
  }
  message.rest({ ...(body as object), [message.list]: [] })
}

/** One message while it grows. Every step throws an ApiError if the message gets too long, or if the answer is none of its method. */
interface GrowingMessage {
  /** The JSON name of its list; empty if it has none. */
  readonly list: string
  rows(rows: readonly unknown[]): void
  rest(rest: unknown): void
  /** Returns the message of a short text with a letter for each byte. */
  short(text: string): readonly Uint8Array[]
  /** Takes a piece of JSON text. */
  text(piece: Uint8Array): void
  end(): readonly Uint8Array[]
}

const NOT_ASCII = /[^\0-\x7f]/

function createMessage({ output }: RpcMethod, codec: Codec, limits: MessageLimits): GrowingMessage {
  const list = listField(output)?.jsonName ?? ''
  const sink = codec === 'proto' ? createProtoSink(output) : createJsonSink(output)
  let listText: ListText | undefined
  const checked = (step: () => void) => {
    try {
      step()
    } catch (cause) {
      throw new ApiError('INTERNAL', `the answer is no ${output.typeName}`, { cause })
    }
    checkSize(sink.size() + (listText?.held() ?? 0), limits)
  }
  const giveRest = (rest: unknown) => (isObject(rest) ? sink.rest(rest) : unfit('an object'))
  return {
    list,
    rows: (rows) => checked(() => sink.rows(rows)),
    rest: (rest) => checked(() => giveRest(rest)),
    short(text) {
      checked(() => giveRest(JSON.parse(NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text)))
      return sink.end()
    },
    text(piece) {
      listText ??= createListText(list, sink)
      const { push } = listText
      checked(() => push(piece))
    },
    end() {
      if (listText) checked(listText.end)
      return sink.end()
    },
  }
}

function checkSize(size: number, { messageBytes, holding }: MessageLimits): void {
  if (size > messageBytes) {
    const message = `the answer is longer than limits.messageBytes (${messageBytes}) allows; narrow its filter, ask for a page, or raise the limit`
    throw new ApiError('RESOURCE_EXHAUSTED', message)
  }
  checkRoom(size, holding)
}

/** Throws RESOURCE_EXHAUSTED if the memory of all has no room for a message of this size. */
export function checkRoom(size: number, holding: MessageLimits['holding']): void {
  if (size <= SHORT || !holding || holding.reach(size)) return
  throw new ApiError('RESOURCE_EXHAUSTED', 'the long answers under way fill limits.messagesBytes; ask for a page, or ask again later')
}
