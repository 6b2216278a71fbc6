import type { DescMessage } from '@bufbuild/protobuf'
import type { JsonObject } from '../../tables/json.ts'
import { ByteWriter } from '../encode/byte-writer.ts'
import { type EncodeFields, fieldsEncoder, messageEncoder } from '../encode/encode-json.ts'
import { type EncodeRowsText, rowsTextEncoder } from '../encode/encode-text.ts'
import { listField, type MessageSink, parseRows } from './message-sink.ts'

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
export function createProtoSink(message: DescMessage): MessageSink {
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
export function protoOfRows(message: DescMessage, json: string): Buffer | undefined {
  const { text, begin } = encodersOf(message)
  if (!text || !json.startsWith(begin) || !json.endsWith(END)) return undefined
  try {
    return text(json.slice(begin.length, -END.length))
  } catch {
    return undefined
  }
}
