import type { DescMessage } from '@bufbuild/protobuf'
import type { JsonObject } from '../../tables/json.ts'
import { ByteWriter } from '../encode/byte-writer.ts'
import { type EncodeFields, fieldsEncoder, messageEncoder } from '../encode/encode-json.ts'
import { listField, type MessageSink } from './message-sink.ts'

/** The encoders of a message by the order of its fields: those before its list, the list, those after it. */
interface Encoders {
  readonly before: EncodeFields
  readonly list: EncodeFields
  readonly after: EncodeFields
  readonly whole: EncodeFields
  readonly name: string
}

const compiled = new WeakMap<DescMessage, Encoders>()

function encodersOf(message: DescMessage): Encoders {
  let encoders = compiled.get(message)
  if (!encoders) {
    const list = listField(message)
    const number = list?.number ?? Number.POSITIVE_INFINITY
    encoders = {
      before: fieldsEncoder(message.fields.filter((field) => field.number < number)),
      list: fieldsEncoder(list ? [list] : []),
      after: fieldsEncoder(message.fields.filter((field) => field.number > number)),
      whole: messageEncoder(message),
      name: list?.jsonName ?? '',
    }
    compiled.set(message, encoders)
  }
  return encoders
}

/** One writer for all messages: each is written without a pause. */
const writer = new ByteWriter()

/** Creates a sink for protobuf's bytes. A repeated field is a concatenation, so each batch is a piece of the message. */
export function createProtoSink(message: DescMessage): MessageSink {
  const { before, list, after, whole, name } = encodersOf(message)
  const pieces: Uint8Array[] = []
  let size = 0
  const bytesOf = (encode: EncodeFields, json: JsonObject): Uint8Array => {
    writer.begin()
    encode(writer, json)
    const bytes = writer.take()
    size += bytes.length
    return bytes
  }
  return {
    rows: (rows) => void pieces.push(bytesOf(list, { [name]: rows })),
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
