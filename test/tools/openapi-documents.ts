import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { tables } from '../../mappings/index.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import { type DocumentSettings, type OpenApiDocument, openApiDocument } from '../../src/tools/openapi.ts'

/** The keywords of a schema that decide how a value may also be written. */
interface Schema {
  readonly $ref?: string
  readonly readOnly?: true
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
}

/**
 * Writes a value as the document spells it. v1 also reads the other spelling of a member, null for an unset one, numbers of enum values
 * and integers of either JSON type, and it ignores members that it alone writes (facts §16).
 */
export function canonical(document: OpenApiDocument, schema: Schema, value: unknown): unknown {
  const { type, format, properties, additionalProperties, items, ...rest } = resolved(document, schema)
  if (Array.isArray(value)) return items ? value.map((item) => canonical(document, items, item)) : value
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).flatMap(([name, inner]): (readonly [string, unknown])[] => {
      if (inner === null) return []
      if (additionalProperties) return [[name, canonical(document, additionalProperties, inner)]]
      const known = Object.keys(properties ?? {}).find((other) => plain(other) === plain(name)) ?? name
      const below = properties?.[known] ?? {}
      return below.readOnly ? [] : [[known, canonical(document, below, inner)]]
    })
    return Object.fromEntries(entries)
  }
  if (rest.enum && typeof value === 'number') return rest.enum[0]
  if (type === 'integer' && typeof value === 'string' && /^-?\d+$/.test(value)) return Number(value)
  return type === 'string' && format === 'int64' && typeof value === 'number' ? String(value) : value
}

/** The same text for both spellings of a name. */
export function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

function resolved({ components }: OpenApiDocument, schema: Schema): Schema {
  return schema.$ref ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema) : schema
}

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

/** A v1 request and its answer. */
export interface V1Exchange {
  readonly request: { readonly path: string; readonly text?: string }
  readonly answer: { readonly status: number; readonly type: string | null; readonly body: unknown }
}

/** Returns what a document says otherwise of an exchange of this operation, in sentences. */
export type Undescribed = (operation: string, exchange: V1Exchange) => readonly string[]

interface Described {
  readonly parameters?: readonly { readonly $ref?: string; readonly name?: string; readonly in?: string }[]
  readonly requestBody?: { readonly content: { readonly [JSON_TYPE]: { readonly schema: object } } }
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>
}

const JSON_TYPE = 'application/json'
const SCHEMA = 'content/application~1json/schema'

/** Holds exchanges against a document: every answer, and the parameters and the body of every request that is answered 200. */
export function createUndescribed(document: OpenApiDocument): Undescribed {
  const check = createCheck(document)
  const operations = operationsOf(document)
  return (id, { request, answer }) => {
    const found = operations.get(id)
    if (!found) return [`${id} is not in the document`]
    const { at, described } = found
    const refused = answer.status === 200 ? wrongRequest(described, at, request) : []
    return [...wrongAnswer(described, at, answer), ...refused].map((wrong) => `${id} ${wrong}, which the document does not say`)
  }

  function wrongAnswer({ responses }: Described, at: string, { status, type, body }: V1Exchange['answer']): readonly string[] {
    const response = responses[status]
    if (!response) return [`answers ${status}`]
    if (type?.split(';', 1)[0] !== JSON_TYPE) return [`answers the type ${type}`]
    return check(`${response.$ref?.slice(1) ?? `${at}/responses/${status}`}/${SCHEMA}`, body).map((wrong) => `answers ${status}: ${wrong}`)
  }

  function wrongRequest({ parameters = [], requestBody }: Described, at: string, { path, text }: V1Exchange['request']): readonly string[] {
    const names = new Set(parameters.map((one) => plain(nameOf(document, one))))
    const given = [...new URL(path, 'http://v1').searchParams.keys()].filter((name) => !names.has(plain(name)))
    const unknown = given.map((name) => `takes the parameter ${name}`)
    if (!requestBody || text === undefined || text === '') return unknown
    const body = canonical(document, requestBody.content[JSON_TYPE].schema, JSON.parse(text))
    return [...unknown, ...check(`${at}/requestBody/${SCHEMA}`, body).map((wrong) => `takes a body: ${wrong}`)]
  }
}

function nameOf({ components }: OpenApiDocument, { $ref, name }: { readonly $ref?: string; readonly name?: string }): string {
  return name ?? String(components.parameters?.[$ref?.split('/').at(-1) ?? '']?.name)
}

function operationsOf({ paths }: OpenApiDocument): ReadonlyMap<string, { readonly at: string; readonly described: Described }> {
  return new Map(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => {
        const at = `/paths/${encodeURIComponent(path.replaceAll('/', '~1'))}/${method}`
        return [String(operation.operationId), { at, described: operation as unknown as Described }] as const
      }),
    ),
  )
}

/** Returns the document of the tables with these settings. */
export function documentWith(settings: Partial<DocumentSettings>): OpenApiDocument {
  const nothing = { deprecation: undefined, sunset: undefined, successor: undefined }
  const defaults = { ...nothing, dialect: 'specification', server: 'http://127.0.0.1:8080', notFound: 'empty', operations: [] } as const
  return openApiDocument(tables, { ...defaults, ...settings })
}

const documents = new Map<Dialect, OpenApiDocument>()

/** Returns the document of a dialect, made once. */
export function documentOf(dialect: Dialect): OpenApiDocument {
  const known = documents.get(dialect) ?? documentWith({ dialect })
  documents.set(dialect, known)
  return known
}
