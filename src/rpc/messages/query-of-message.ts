import type { DescField, DescMessage } from '@bufbuild/protobuf'
import { asText, isObject, type JsonObject } from '../../tables/json.ts'

/** What a message becomes in a query. */
export interface MessageQuery {
  /** `name=a&uidp.ids=b`, encoded, with the names of the proto. */
  readonly text: string
  /** Fields with values that no query can say: lists of messages. */
  readonly unsaid: readonly string[]
}

/** Writes the protojson of a message as a query. A field of a field has both names, with a dot between them. */
export function queryOfMessage(message: DescMessage, json: JsonObject): MessageQuery {
  const pairs: string[] = []
  const unsaid: string[] = []
  const add = (name: string, value: unknown) => pairs.push(`${name}=${encodeURIComponent(asText(value))}`)
  const walk = ({ fields }: DescMessage, object: JsonObject, prefix: string) => {
    for (const field of fields) {
      const value = object[field.jsonName]
      if (value === undefined) continue
      const name = prefix + field.name
      if (field.fieldKind === 'message' && isObject(value)) walk(field.message, value, `${name}.`)
      else if (field.fieldKind === 'map')
        for (const [key, item] of Object.entries(value as JsonObject)) add(`${name}[${encodeURIComponent(key)}]`, item)
      else if (!Array.isArray(value)) add(name, value)
      else if (isOfMessages(field)) unsaid.push(name)
      else for (const item of value) add(name, item)
    }
  }
  walk(message, json, '')
  return { text: pairs.join('&'), unsaid }
}

/** No gateway reads a list of messages from a query (facts §7). */
function isOfMessages(field: DescField): boolean {
  return field.fieldKind === 'list' && field.listKind === 'message'
}
