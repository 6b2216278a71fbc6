import { type DescMessage, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf'
import type { JsonObject } from '../../tables/json.ts'
import { listField, type MessageSink, parseRows } from './message-sink.ts'

/**
 * Creates a sink for protojson, as servers of Connect write it: names in lower camel case, without zero values. The list comes first.
 */
export function createJsonSink(message: DescMessage): MessageSink {
  const list = listField(message)
  const pieces: Buffer[] = []
  let size = 0
  const push = (text: string) => {
    const bytes = Buffer.from(text)
    size += bytes.length
    pieces.push(bytes)
  }
  const textOf = (of: DescMessage, json: unknown) => JSON.stringify(toJson(of, fromJson(of, json as JsonValue, IGNORE_UNKNOWN)))
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
    end: () => pieces,
  }
}

const IGNORE_UNKNOWN = { ignoreUnknownFields: true }
