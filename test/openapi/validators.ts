import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../src/tools/openapi.ts'

/** Checks a value with the schema at a pointer into the document; returns what is wrong. */
export type Check = (pointer: string, value: unknown) => readonly string[]

/** Reads each schema of a document when it is first needed. An object may then have the members alone that its schema lists. */
export function createCheck(document: OpenApiDocument): Check {
  const ajv = new Ajv2020({ strict: true, validateSchema: false, code: { optimize: false } })
  addFormats.default(ajv)
  ajv.addVocabulary(Object.keys(document))
  ajv.addSchema(closed(document) as object, 'v1')
  const compiled = new Map<string, ValidateFunction>()
  return (pointer, value) => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `v1#${pointer}` })
    compiled.set(pointer, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
  }
}

function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed)
  if (typeof value !== 'object' || value === null) return value
  const inside = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]))
  return inside.type === 'object' && !('additionalProperties' in inside) ? { ...inside, additionalProperties: false } : inside
}
