import { covers } from '../tables/operation.ts'
import { differencesOf, type Tables } from '../tables/tables.ts'
import type { Dialect } from '../tables/uid.ts'
import { type Announced, announcedHeaders, headersIn } from './announced-headers.ts'
import { type DescribedOperation, describedOperation } from './described-operation.ts'
import { domainOf, operationObject } from './operations/operation-object.ts'
import { pathsOf } from './operations/path-of.ts'
import { type RefusalSettings, refusalResponses } from './operations/responses.ts'
import type { JsonSchema } from './schemas/json-schema.ts'
import { createSchemaComponents } from './schemas/schema-components.ts'
import { shareParameters } from './share-parameters.ts'

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1'
  readonly info: JsonSchema
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly security: readonly JsonSchema[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonSchema>>>> & {
    readonly schemas: Readonly<Record<string, JsonSchema>>
  }
}

export interface DocumentSettings extends Announced, RefusalSettings {
  readonly dialect: Dialect
  /** The address of the proxy. */
  readonly server: string
  /** Patterns of operation ids; all operations if there are none. */
  readonly operations: readonly string[]
}

/**
 * Returns the v1 contract of the proxy. Equal tables and settings give equal bytes.
 *
 *     openApiDocument(tables, { dialect: 'published', server: 'http://127.0.0.1:8080', … })
 */
export function openApiDocument(tables: Tables, settings: DocumentSettings): OpenApiDocument {
  const all = tables.mappings.flatMap(({ operations }) => operations.map((one) => describedOperation(one, tables.shapes[one.id])))
  const wanted = all.filter(({ id }) => settings.operations.length === 0 || settings.operations.some((pattern) => covers(pattern, id)))
  const { dialect, notFound } = settings
  const schemas = createSchemaComponents(all, dialect)
  const announced = announcedHeaders(settings)
  const headers = headersIn(announced)
  const paths = pathsOf(all, dialect)
  const shared = { dialect, notFound, schemas, headers, differencesOf: differencesOf(tables) }
  const objects = wanted.flatMap((operation) => {
    const path = paths.get(operation)
    return path ? [[operation, operationObject(operation, path, shared)] as const] : []
  })
  const { operations, parameters } = shareParameters(new Map(objects))
  const responses = refusalResponses(schemas.add, headers, tables.errors !== undefined)
  return {
    openapi: '3.1.1',
    info: { title: 'API v1', version: 'v1', description: introduction(dialect) },
    servers: [{ url: settings.server }],
    tags: tagsOf(wanted),
    security: [{ bearer: [] }],
    paths: pathItems([...operations].map(([operation, object]) => ({ path: paths.get(operation)?.path ?? '', operation, object }))),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      ...(headers && { headers: announced }),
      parameters,
      responses,
      schemas: schemas.all(),
      'x-crosswalk-differences': textsOf(tables, wanted),
    },
  }
}

interface Placed {
  readonly path: string
  readonly operation: DescribedOperation
  readonly object: JsonSchema
}

/** One tag for each domain, with the beginnings of its paths: `/events/v1 and /iam/v1`. */
function tagsOf(operations: readonly DescribedOperation[]): OpenApiDocument['tags'] {
  const prefixes = new Map<string, Set<string>>()
  for (const operation of operations) {
    const prefix = operation.template.split('/').slice(0, 3).join('/')
    prefixes.set(domainOf(operation), (prefixes.get(domainOf(operation)) ?? new Set()).add(prefix))
  }
  return [...prefixes].map(([name, below]) => ({ name, description: `Paths below ${[...below].join(' and ')}.` }))
}

/** Operations of one path stand together, in the order of the tables. */
function pathItems(placed: readonly Placed[]): OpenApiDocument['paths'] {
  const items = new Map<string, Record<string, JsonSchema>>()
  for (const { path, operation, object } of placed) items.set(path, { ...items.get(path), [operation.method.toLowerCase()]: object })
  return Object.fromEntries(items)
}

/** The differences of these operations in words, once each. */
function textsOf(tables: Tables, operations: readonly DescribedOperation[]): Readonly<Record<string, JsonSchema>> {
  const codes = new Set(operations.flatMap(({ id }) => differencesOf(tables)(id)))
  return Object.fromEntries(
    tables.differences.filter(({ code }) => codes.has(code)).map(({ code, seen, because }) => [code, { seen, because }]),
  )
}

function introduction(dialect: Dialect): string {
  return [
    `The v1 API as Crosswalk serves it, in the ${dialect} dialect.`,
    'Every success is status 200.',
    'A request may spell members and parameters in snake_case or in lowerCamelCase, name an enum value by its number and write 64-bit integers as numbers.',
    'Null means unset. Members that v1 does not know are ignored.',
    'A body is read as JSON whatever its content type says.',
  ].join(' ')
}
