import type { DescMessage } from '@bufbuild/protobuf'
import type { JsonObject } from '../../tables/json.ts'

/**
 * Returns the protojson of a message whose fields are the pairs of a query. A message within it is JSON text there, which no query of REST can
 * hold: `[['image_refs', '{"repo":"a"}']]`. Throws if a text is no JSON. A pair without a field is left out.
 */
export function jsonOfQuery({ fields }: DescMessage, query: readonly (readonly [name: string, value: string])[]): JsonObject {
  const json: Record<string, unknown> = {}
  for (const field of fields) {
    const texts = query.filter(([name]) => name === field.name).map(([, text]) => text)
    if (texts.length === 0) continue
    if (field.fieldKind !== 'list') json[field.name] = texts[0]
    else json[field.name] = field.listKind === 'message' ? texts.map((text) => JSON.parse(text)) : texts
  }
  return json
}
