import type { DescField, DescMessage } from '@bufbuild/protobuf'
import type { JsonObject } from '../../tables/json.ts'

/** Makes the bytes of one message from the parts of its JSON. */
export interface MessageSink {
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
export type ListField = DescField & { readonly fieldKind: 'list'; readonly listKind: 'message' }

/** Returns the list of a message; undefined if it has none. */
export function listField({ fields }: DescMessage): ListField | undefined {
  return fields.find((field): field is ListField => field.fieldKind === 'list' && field.listKind === 'message')
}

const COMMA = 0x2c

/** Parses the text of rows. */
export function parseRows(text: Buffer): readonly unknown[] {
  return JSON.parse(`[${text.toString('utf8', text[0] === COMMA ? 1 : 0)}]`) as readonly unknown[]
}
