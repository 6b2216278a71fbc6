import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { asText, isObject, type JsonObject } from '../../tables/json.ts'

/** What a message becomes in a query. */
export interface MessageQuery {
  /** `name=a&uidp.ids=b`, encoded, with the names of the proto. */
  readonly text: string
  /** Fields with values that no query can say: lists of messages. */
  readonly unsaid: readonly string[]
  /** The same with each message as JSON text, encoded: `image_refs=%7B…%7D`. No gateway reads it. */
  readonly unsaidText: string
}

/** Writes the protojson of a message as a query. A field of a field has both names, with a dot between them. */
export function queryOfMessage(message: DescMessage, json: JsonObject): MessageQuery {
  const pairs: string[] = []
  const unsaid: string[] = []
  const unsaidPairs: string[] = []
  const pair = (name: string, text: string) => `${name}=${encodeURIComponent(text)}`
  const add = (name: string, value: unknown) => pairs.push(pair(name, asText(value)))
  const leave = (name: string, values: readonly unknown[]) => {
    unsaid.push(name)
    unsaidPairs.push(...values.map((value) => pair(name, JSON.stringify(value))))
  }
  const walk = ({ fields }: DescMessage, object: JsonObject, prefix: string) => {
    for (const field of fields) {
      const value = object[field.jsonName]
      if (value === undefined) continue
      const name = prefix + field.name
      if (field.fieldKind === 'message' && isObject(value)) walk(field.message, value, `${name}.`)
      else if (field.fieldKind === 'map')
        for (const [key, item] of Object.entries(value as JsonObject)) add(`${name}[${encodeURIComponent(key)}]`, item)
      else if (!Array.isArray(value)) add(name, value)
      else if (isOfMessages(field)) leave(name, value)
      else for (const item of value) add(name, item)
    }
  }
  walk(message, json, '')
  return { text: pairs.join('&'), unsaid, unsaidText: unsaidPairs.join('&') }
}

/** No gateway reads a list of messages from a query (facts §7). */
function isOfMessages(field: DescField): boolean {
  return field.fieldKind === 'list' && field.listKind === 'message'
}
