import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'

const schema = JSON.parse(readFileSync('docs/notification.schema.json', 'utf8'))
const ajv = new Ajv({ allErrors: true })
// biome-ignore lint/suspicious/noExplicitAny: the package describes its export for another module system
;(addFormats as any)(ajv)
const validate = ajv.compile(schema)

/** The types that the schema knows. */
export const TYPES: readonly string[] = schema.properties.type.enum

/** Returns what is wrong with an event. */
export function problemsOf(event: unknown): readonly unknown[] {
  return validate(event) ? [] : (validate.errors ?? [])
}
