import { setImmediate } from 'node:timers/promises'
import { type DescField, type DescMessage, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf'
import { ApiError } from '../../errors.ts'
import { type Answer, BEGIN, bytesOf } from '../../serve/answer.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import { ROWS } from '../../tables/turn.ts'
import { type EncodeFields, type EncodeRowsText, fieldsEncoder, messageEncoder, rowsTextEncoder } from '../encode/encode.ts'
import { ByteWriter, unfit } from '../encode/writer.ts'
import type { RpcMethod } from '../proto-files.ts'
import type { Codec } from './request-of.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LIST = 0x5b
const OBJECT = 0x7b
const LIST_END = 0x5d
const OBJECT_END = 0x7d

/** The depth of the rows: within the object and its list. */
const IN_LIST = 2

/** Letters before a bracket that are searched for the name of its list. */
const NAME = 99

/**
 * Finds the rows of `{"items":[…], …}` in text that may be cut anywhere. Only whole rows leave it. `list` is the JSON name of the member
 * with the rows.
 */
function createRowScanner(list: string) {
  const name = new RegExp(`"${list}"\\s*:\\s*$`)
  let head = Buffer.alloc(0)
  let text = Buffer.alloc(0)
  let phase: 'head' | 'rows' | 'tail' = 'head'
  let at = 0
  let depth = 0
  let inText = false

  const isList = () => phase === 'head' && depth === 1 && name.test(text.toString('latin1', Math.max(0, at - NAME), at))
  const beginList = () => {
    head = Buffer.from(text.subarray(0, at + 1))
    text = text.subarray(at + 1)
    at = -1
    depth = IN_LIST
    phase = 'rows'
  }
  /** Reads on to the end of the text or of the list. Returns the end of the last whole row, 0 if there is none. */
  const scan = (): number => {
    let end = 0
    for (; at < text.length; at += 1) {
      const letter = text[at]
      if (inText) {
        if (letter === BACKSLASH) at += 1
        else if (letter === QUOTE) inText = false
      } else if (letter === QUOTE) inText = true
      else if (letter === LIST && isList()) beginList()
      else if (letter === LIST || letter === OBJECT) depth += 1
      else if (letter === LIST_END || letter === OBJECT_END) {
        depth -= 1
        if (phase === 'rows' && depth === IN_LIST) end = at + 1
        else if (phase === 'rows' && depth < IN_LIST) {
          phase = 'tail'
          return at
        }
      }
    }
    return end
  }
  return {
    /** Takes a piece. Returns the text of the rows that have become whole, with commas between and perhaps before them, if there are any. */
    push(piece: Uint8Array): Buffer | undefined {
      text = Buffer.concat([text, piece])
      const end = phase === 'tail' ? 0 : scan()
      if (end === 0) return undefined
      const rows = text.subarray(0, end)
      text = text.subarray(end)
      at -= end
      return rows
    },
    /** Returns the text without the rows that have left it. Throws a SyntaxError if it ended within its list. */
    rest(): string {
      if (phase === 'rows') throw new SyntaxError('the list has no end')
      return Buffer.concat([head, text]).toString()
    },
    /** The bytes that it holds. */
    held: () => head.length + text.length,
  }
}

/** Bytes of an answer that is parsed as a whole if it has no more. */
const SMALL = 256 * 1024

type ListText = ReturnType<typeof createListText>

/**
 * Reads `{"items":[…], …}` piece by piece, where `list` is the name of the member with the rows, and gives the sink its rows as they come: never all of them at
 * once. Pieces of Crosswalk's own writer hold whole rows and are not searched; those of another service may end anywhere.
 */
function createListText(list: string, sink: Pick<MessageSink, 'rowsText' | 'rest'>) {
  let pieces: Uint8Array[] = []
  let size = 0
  let isOwn = false
  let scanner: ReturnType<typeof createRowScanner> | undefined

  const giveRows = (rows: Uint8Array | undefined) => {
    if (rows) sink.rowsText(Buffer.from(rows.buffer, rows.byteOffset, rows.length))
  }
  const hold = (piece: Uint8Array) => {
    // A service may send the same bytes first, and cut its rows.
    if (piece === BEGIN && list === ROWS) isOwn = true
    pieces.push(piece)
    size += piece.length
    if (isOwn || size <= SMALL) return
    scanner = createRowScanner(list)
    giveRows(scanner.push(Buffer.concat(pieces)))
    pieces = []
    size = 0
  }
  return {
    /** Takes a piece. Throws a SyntaxError if its rows are no JSON. */
    push(piece: Uint8Array): void {
      if (isOwn && piece[0] !== LIST_END && pieces.length === 1) giveRows(piece)
      else if (scanner) giveRows(scanner.push(piece))
      else hold(piece)
    },
    /** Ends the answer. Throws a SyntaxError if it is no JSON object. */
    end(): void {
      const rest: unknown = JSON.parse(scanner ? scanner.rest() : Buffer.concat(pieces).toString())
      if (!isObject(rest)) throw new SyntaxError('not an object')
      sink.rest(rest)
    },
    /** The bytes that are held unparsed. */
    held: () => size + (scanner?.held() ?? 0),
  }
}

/** Makes the bytes of one message from the parts of its JSON. */
interface MessageSink {
  /** Takes rows of its list. Throws if one is not of its type. */
  rows(rows: readonly unknown[]): void
  /** Takes rows as JSON text, with commas between and perhaps before them. Throws if it is none, or as `rows` does. */
  rowsText(text: Buffer): void
  /** Takes the members beside the rows, or a whole message; once, last. */
  rest(rest: JsonObject): void
  /** The bytes so far. */
  size(): number
  /** Returns the whole message. */
  end(): readonly Uint8Array[]
}

/** The field with the rows of a list: the first list of messages. */
type ListField = DescField & { readonly fieldKind: 'list'; readonly listKind: 'message' }

/** Returns the list of a message; undefined if it has none. */
export function listField({ fields }: DescMessage): ListField | undefined {
  return fields.find((field): field is ListField => field.fieldKind === 'list' && field.listKind === 'message')
}

const COMMA = 0x2c

/** Parses the text of rows. */
function parseRows(text: Buffer): readonly unknown[] {
  return JSON.parse(`[${text.toString('utf8', text[0] === COMMA ? 1 : 0)}]`) as readonly unknown[]
}

/**
 * Creates a sink for protojson, as servers of Connect write it: names in lower camel case, without zero values. The list comes first.
 */
function createJsonSink(message: DescMessage): MessageSink {
  const list = listField(message)
  const pieces: Buffer[] = []
  let size = 0
  const push = (text: string) => {
    const bytes = Buffer.from(text)
    size += bytes.length
    pieces.push(bytes)
  }
  const written = (of: DescMessage, json: unknown) => JSON.stringify(toJson(of, fromJson(of, json as JsonValue, IGNORE_UNKNOWN)))
  const textOf = (of: DescMessage, json: unknown) => {
    try {
      return written(of, json)
    } catch {
      return written(of, wellFormed(json))
    }
  }
  const rows = (given: readonly unknown[]) => {
    if (!list || given.length === 0) return
    const begin = pieces.length === 0 ? `{${JSON.stringify(list.jsonName)}:[` : ','
    push(begin + given.map((row) => textOf(list.message, row)).join(','))
  }
  return {
    rows,
    rowsText: (text) => rows(parseRows(text)),
    rest(rest: JsonObject) {
      if (pieces.length === 0) return push(textOf(message, rest))
      const { [list?.jsonName ?? '']: _, ...others } = rest
      const text = textOf(message, others)
      push(text === '{}' ? ']}' : `],${text.slice(1)}`)
    },
    size: () => size,
    // An empty text is no JSON.
    end: () => (pieces.length === 0 ? [Buffer.from('{}')] : pieces),
  }
}

const IGNORE_UNKNOWN = { ignoreUnknownFields: true }

/** Returns the JSON with U+FFFD for each half of a pair of surrogates, as the bytes of a message have it: no message holds a half. */
function wellFormed(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json), (_, value) => (typeof value === 'string' ? Buffer.from(value).toString() : value))
}

/** The encoders of a message by the order of its fields: those before its list, the list, those after it. */
interface Encoders {
  readonly before: EncodeFields
  readonly list: EncodeFields
  readonly after: EncodeFields
  readonly whole: EncodeFields
  readonly text: EncodeRowsText | undefined
  readonly name: string
  /** The JSON text of a message before its rows. */
  readonly begin: string
}

const compiled = new WeakMap<DescMessage, Encoders>()

function encodersOf(message: DescMessage): Encoders {
  let encoders = compiled.get(message)
  if (!encoders) {
    const list = listField(message)
    const number = list?.number ?? Number.POSITIVE_INFINITY
    const name = list?.jsonName ?? ''
    encoders = {
      before: fieldsEncoder(message.fields.filter((field) => field.number < number)),
      list: fieldsEncoder(list ? [list] : []),
      after: fieldsEncoder(message.fields.filter((field) => field.number > number)),
      whole: messageEncoder(message),
      text: list && rowsTextEncoder(list),
      name,
      begin: `{${JSON.stringify(name)}:[`,
    }
    compiled.set(message, encoders)
  }
  return encoders
}

/** One writer for all messages from JSON: each is written without a pause. */
const writer = new ByteWriter()

/** Creates a sink for protobuf's bytes. A repeated field is a concatenation, so each batch is a piece of the message. */
function createProtoSink(message: DescMessage): MessageSink {
  const { before, list, after, whole, text, name } = encodersOf(message)
  const pieces: Uint8Array[] = []
  let size = 0
  const bytesOf = (encode: EncodeFields, json: JsonObject): Uint8Array => {
    writer.begin()
    encode(writer, json)
    const bytes = writer.take()
    size += bytes.length
    return bytes
  }
  const rows = (given: readonly unknown[]) => void pieces.push(bytesOf(list, { [name]: given }))
  return {
    rows,
    rowsText(given) {
      const bytes = text?.(given)
      if (!bytes) return rows(parseRows(given))
      size += bytes.length
      pieces.push(bytes)
    },
    rest(rest) {
      if (pieces.length === 0) pieces.push(bytesOf(whole, rest))
      else {
        pieces.unshift(bytesOf(before, rest))
        pieces.push(bytesOf(after, rest))
      }
    },
    size: () => size,
    end: () => pieces,
  }
}

const END = ']}'

/**
 * Returns the bytes of a message whose JSON text holds rows alone: `{"items":[…]}`, with a letter for each byte. Returns undefined for any other
 * text: a parser reads it, or says what is wrong.
 */
function protoOfRows(message: DescMessage, json: string): Buffer | undefined {
  const { text, begin } = encodersOf(message)
  if (!text || !json.startsWith(begin) || !json.endsWith(END)) return undefined
  try {
    return text(json.slice(begin.length, -END.length))
  } catch {
    return undefined
  }
}

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
  const isShort = 'text' in answer && typeof answer.text === 'string'
  return isShort ? ofShort(method, answer.text, codec, limits) : ofLong(method, answer, codec, limits)
}

/** The bytes of a message, piece by piece. */
type Pieces = readonly Uint8Array[]

async function ofLong(method: RpcMethod, answer: Answer, codec: Codec, limits: MessageLimits): Promise<Pieces> {
  const message = createMessage(method, codec, limits)
  if ('body' in answer) await fromValue(message, answer.body)
  else if ('stream' in answer) for await (const piece of answer.stream) message.text(piece)
  else await fromPieces(message, bytesOf(answer.text))
  return message.end()
}

/** Returns the message of a text with a letter for each byte. */
function ofShort(method: RpcMethod, text: string, codec: Codec, limits: MessageLimits): Pieces {
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

const NOT_ASCII = /[^\0-\x7f]/

type GrowingMessage = ReturnType<typeof createMessage>

/** One message while it grows. Every step throws an ApiError if the message gets too long, or if the answer is none of its method. */
function createMessage({ output }: RpcMethod, codec: Codec, limits: MessageLimits) {
  const list = listField(output)?.jsonName ?? ''
  const sink = codec === 'proto' ? createProtoSink(output) : createJsonSink(output)
  let listText: ListText | undefined
  const checked = (step: () => void) => {
    try {
      step()
    } catch (cause) {
      throw new ApiError('INTERNAL', `the answer is not a ${output.typeName}`, { cause })
    }
    checkSize(sink.size() + (listText?.held() ?? 0), limits)
  }
  const giveRest = (rest: unknown) => (isObject(rest) ? sink.rest(rest) : unfit('an object'))
  return {
    /** The JSON name of its list; empty if it has none. */
    list,
    rows: (rows: readonly unknown[]) => checked(() => sink.rows(rows)),
    rest: (rest: unknown) => checked(() => giveRest(rest)),
    /** Returns the message of a short text with a letter for each byte. */
    short(text: string): Pieces {
      checked(() => giveRest(JSON.parse(NOT_ASCII.test(text) ? Buffer.from(text, 'latin1').toString() : text)))
      return sink.end()
    },
    /** Takes a piece of JSON text. */
    text(piece: Uint8Array): void {
      listText ??= createListText(list, sink)
      const { push } = listText
      checked(() => push(piece))
    },
    end(): Pieces {
      if (listText) checked(listText.end)
      return sink.end()
    },
  }
}

/** Throws RESOURCE_EXHAUSTED if a message is too long, or if the memory of all has no room for it. */
export function checkSize(size: number, { messageBytes, holding }: MessageLimits): void {
  if (size > messageBytes) {
    const message = `the answer is longer than limits.messageBytes (${messageBytes}) allows; narrow the filter, ask for a page, or raise the limit`
    throw new ApiError('RESOURCE_EXHAUSTED', message)
  }
  checkRoom(size, holding)
}

/** Throws RESOURCE_EXHAUSTED if the memory of all has no room for a message of this size. */
export function checkRoom(size: number, holding: MessageLimits['holding']): void {
  if (size <= SHORT || !holding || holding.reach(size)) return
  throw new ApiError('RESOURCE_EXHAUSTED', 'the long answers under way fill limits.messagesBytes; ask for a page, or ask again later')
}
