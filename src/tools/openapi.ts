import { CODES, type CodeName } from '../errors.ts'
import type { Fields } from '../tables/fields.ts'
import { covers, type Operation } from '../tables/operation.ts'
import { asParam, ORDER_PARAMETER, type Param } from '../tables/query.ts'
import type { V1OnlyShape } from '../tables/resource.ts'
import { differencesOf, operationsOf, type Tables } from '../tables/tables.ts'
import { camelCase, type Dialect } from '../tables/uid.ts'
import { componentName, createSchemaComponents, type JsonSchema, refTo, type SchemaComponents } from './openapi-schemas.ts'

/** Addresses that mean every address of a machine. No client can call them. */
const EVERY: ReadonlySet<string> = new Set(['0.0.0.0', '[::]'])

/**
 * Returns the address at which clients reach the proxy. If it listens at every address, that is the host by which the machine was called.
 *
 *     serverUrl('http://0.0.0.0:8080', 'proxy.example') // 'http://proxy.example:8080'
 */
export function serverUrl(listening: string, calledHost: string): string {
  const url = new URL(listening)
  if (EVERY.has(url.hostname)) url.hostname = calledHost
  return url.href.replace(/\/$/, '')
}

/** Returns the header objects of what is announced, by name: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link` (RFC 5829). */
function announcedHeaders({ deprecation, sunset, successor }: DocumentSettings): Readonly<Record<string, JsonSchema>> {
  return {
    ...(deprecation !== undefined && { Deprecation: header('The date from which v1 is deprecated.', `@${deprecation}`) }),
    ...(sunset !== undefined && { Sunset: header('The date on which v1 ends.', new Date(sunset * 1000).toUTCString()) }),
    ...(successor !== undefined && { Link: header('The successor of v1.', `<${successor}>; rel="successor-version"`) }),
  }
}

function header(description: string, example: string): JsonSchema {
  return { description, schema: { type: 'string' }, example }
}

/** A message as it is described: what v1 takes of it, and what v1 shows if that is more. */
export interface DescribedMessage {
  readonly name: string
  readonly fields: Fields
  readonly shown?: Fields
}

/** An operation as it is described. */
export interface DescribedOperation extends Omit<Operation, 'request' | 'answer' | 'envelope'> {
  readonly request?: DescribedMessage
  readonly answer?: DescribedMessage
  readonly envelope?: DescribedMessage
}

/** Returns the operation with its shape, where v1 alone serves it and its contract is known. */
export function describedOperation(operation: Operation, shape: V1OnlyShape | undefined): DescribedOperation {
  return { ...operation, ...shape }
}

/**
 * Moves parameters that several operations have to `components`, each under its name. Of several variants of one name, the first that
 * occurs twice has it; the others stay where they are. Returns them, and what writes the parameters of an operation.
 */
function shareParameters(all: readonly Parameter[]) {
  const times = new Map<string, number>()
  for (const parameter of all) times.set(textOf(parameter), (times.get(textOf(parameter)) ?? 0) + 1)
  const shared = new Map<string, Parameter>()
  for (const parameter of all)
    if ((times.get(textOf(parameter)) ?? 0) > 1 && !shared.has(keyOf(parameter))) shared.set(keyOf(parameter), parameter)
  const place = (parameter: Parameter) => {
    const known = shared.get(keyOf(parameter))
    return known && textOf(known) === textOf(parameter) ? refTo('parameters', keyOf(parameter)) : parameter
  }
  const sorted = [...shared].sort(([a], [b]) => (a < b ? -1 : 1))
  return { place, parameters: Object.fromEntries(sorted) }
}

const textOf = (parameter: Parameter) => JSON.stringify(parameter)

/** A path and a query may use one name. */
const keyOf = ({ name, in: place }: Parameter) => `${place}.${name}`

/** A variable of a path: its name in the document and in the tables, and whether its value may hold slashes. */
interface PathVariable {
  readonly name: string
  readonly own: string
  readonly spansSlashes: boolean
}

/** The place of an operation in a document. */
export interface OperationPath {
  /** `/iam/v1/groups/{id}:requestGroupAccess` */
  readonly path: string
  readonly variables: readonly PathVariable[]
}

const VARIABLE = /\{([^{}=]+)(=\*\*)?\}/g

/**
 * Returns the path of each operation. OpenAPI takes paths that differ in the names of their variables alone for one path. A variable there
 * has the name that most of its operations give it, and of equally frequent names the first in the alphabet (facts §1).
 */
export function pathsOf(operations: readonly DescribedOperation[], dialect: Dialect): ReadonlyMap<DescribedOperation, OperationPath> {
  const names = commonNames(operations)
  return new Map(
    operations.map((operation) => {
      const common = names.get(shapeOf(operation)) ?? []
      const variables = variablesIn(operation).map(({ own, spansSlashes }, at) => ({
        name: spelled(common[at] ?? own, dialect),
        own: spelled(own, dialect),
        spansSlashes,
      }))
      let at = 0
      const path = operation.template.replace(VARIABLE, () => `{${variables[at++]?.name}}`)
      return [operation, { path, variables }]
    }),
  )
}

/** The spelling of a name in parameters. */
function spelled(name: string, dialect: Dialect): string {
  return dialect === 'published' ? camelCase(name) : name
}

function variablesIn({ template }: DescribedOperation) {
  return [...template.matchAll(VARIABLE)].map(([, own = '', stars]) => ({ own, spansSlashes: stars !== undefined }))
}

function shapeOf({ template }: DescribedOperation): string {
  return template.replace(VARIABLE, '{}')
}

function commonNames(operations: readonly DescribedOperation[]): ReadonlyMap<string, readonly string[]> {
  const alike = new Map<string, (readonly string[])[]>()
  for (const operation of operations) {
    const shape = shapeOf(operation)
    alike.set(shape, [...(alike.get(shape) ?? []), variablesIn(operation).map(({ own }) => own)])
  }
  return new Map([...alike].map(([shape, rows]) => [shape, (rows[0] ?? []).map((_, at) => mostFrequent(rows.map((row) => row[at] ?? '')))]))
}

function mostFrequent(names: readonly string[]): string {
  const times = (name: string) => names.filter((other) => other === name).length
  return [...names].sort((a, b) => times(b) - times(a) || (a < b ? -1 : 1))[0] ?? ''
}

/** Returns a short title: `iam.role_bindings.create_batch` is "Role bindings: create batch". */
function summaryOf({ id }: DescribedOperation): string {
  const [, subject = '', ...rest] = id.split('.').map((word) => word.replaceAll('_', ' '))
  return [subject.charAt(0).toUpperCase() + subject.slice(1), ...rest].join(': ')
}

type Described = Pick<DocumentSettings, 'dialect' | 'notFound'>

/** Returns what the tables know of an operation, a sentence each. */
export function descriptionOf(operation: DescribedOperation, settings: Described): string {
  return [
    servedText(operation),
    ...rowsText(operation),
    ...missingText(operation, settings),
    ...writeText(operation, settings.dialect),
  ].join(' ')
}

function servedText({ kind, because, answer }: DescribedOperation): string {
  if (kind === 'v1-only') {
    const known = answer ? '' : ' Its query and bodies are not described here.'
    return `Only a v1 service answers: ${because}. Without one (upstream.v1) the answer is 501.${known}`
  }
  if (kind === 'emulated') return `Crosswalk approximates the answer from v2: ${because}.`
  return kind === 'composed' ? 'Crosswalk composes the answer of several calls to v2.' : 'v2 serves this operation.'
}

function rowsText({ rows, windowOf }: DescribedOperation): readonly string[] {
  if (!rows) return []
  if (windowOf?.(new Map()).take !== undefined) return ['It answers one page.']
  return ['It answers all rows, unless the query asks for some of them.']
}

function missingText({ missing, rows, kind }: DescribedOperation, { notFound }: Described): readonly string[] {
  if (kind === 'v1-only' || notFound === 'error') return []
  if (missing === 'done') return ['It succeeds if there is nothing to delete.']
  if (missing === 'error') return []
  return [rows ? 'If nothing is found, there are no rows.' : 'If nothing is found, every member of the answer is unset.']
}

function writeText({ mask, fieldName, takes, takesNoToken }: DescribedOperation, dialect: Dialect): readonly string[] {
  const kept = typeof mask === 'object' ? (mask.whenSet ?? []).map((path) => spelled(fieldName(path), dialect)) : []
  return [
    ...(mask
      ? [`It replaces the whole: a member that the body omits is reset${kept.length > 0 ? `, but for ${kept.join(', ')}` : ''}.`]
      : []),
    ...(takes === 'below' ? ['What is below goes too.'] : []),
    ...(takesNoToken ? ['It needs no token.'] : []),
  ]
}

/** What the parameters of every list do, by their names in the tables (facts §10.4, specification §9.5). */
const PARAMETER_TEXTS: Readonly<Record<string, string>> = {
  'uidp.ancestors_of': 'Only the chain from this uid up to its root.',
  'uidp.descendants_of': 'Only what is below this uid, at any depth.',
  'uidp.children_of': 'Only the direct children of this uid.',
  'uidp.in_root': 'Only what has no parent.',
  'uidp.ids': 'Only what has one of these uids.',
  order_by: 'The order of the rows: a column, optionally followed by a space and asc or desc.',
  offset: 'The number of rows to leave out. It may stand beside limit alone.',
  limit: 'The largest number of rows. It may stand beside offset alone.',
  page: 'The page, counted from 1. It may stand beside page_size alone.',
  page_size: 'The number of rows of a page.',
  page_number: 'The page, counted from 1. It may stand beside per_page alone.',
  per_page: 'The number of rows of a page. It may stand beside page_number alone.',
  page_token: 'The page token of the answer before. Without one the list begins at its first row.',
  skip: 'The number of rows to leave out, counted from the page token.',
}

/** Those of them that are whole numbers. */
const WHOLE_NUMBERS: ReadonlySet<string> = new Set(['offset', 'limit', 'page', 'page_size', 'page_number', 'per_page', 'skip'])

/** A parameter object of OpenAPI. */
interface Parameter extends JsonSchema {
  readonly name: string
  readonly in: 'path' | 'query'
}

/** Returns the parameters of an operation in the order of its path, its table and the window of its rows. */
export function parametersOf(
  operation: DescribedOperation,
  { variables }: Pick<OperationPath, 'variables'>,
  choice: SchemaComponents['choice'],
  dialect: Dialect,
): readonly Parameter[] {
  const { params, ownParams, orders } = operation
  const query = (name: string, description: string | undefined, rest: JsonSchema): Parameter => ({
    name: spelled(name, dialect),
    in: 'query',
    ...(description !== undefined && { description }),
    ...rest,
  })
  return [
    ...variables.map((variable) => pathParameter(variable, operation)),
    ...Object.entries(params)
      .map(([name, row]) => [name, asParam(row)] as const)
      .filter(([, { neverTaken }]) => !neverTaken)
      .map(([name, param]) => query(name, parameterTextOf(name, param), schemaOf(param, choice))),
    ...ownParams.map((name) => {
      if (name === ORDER_PARAMETER && orders) return query(name, 'The order of the rows.', { schema: choice(orders) })
      const schema = WHOLE_NUMBERS.has(name) ? { type: 'integer', minimum: 0 } : { type: 'string' }
      return query(name, PARAMETER_TEXTS[name] ?? (name === operation.selects ? 'Only the row with this uid.' : undefined), { schema })
    }),
  ]
}

/** OpenAPI has no path variable with slashes: the description says how they are sent (facts §12.2). */
function pathParameter({ name, own, spansSlashes }: PathVariable, { root }: DescribedOperation): Parameter {
  const sentences = [
    ...(spansSlashes ? ['The value may contain slashes. A slash may be sent as it is or as %2F.'] : []),
    ...(root ? ['It may be empty: what is created then has no parent.'] : []),
    ...(own === name ? [] : [`Errors call it ${own}.`]),
  ]
  return {
    name,
    in: 'path',
    required: true,
    ...(sentences.length > 0 && { description: sentences.join(' ') }),
    schema: { type: 'string', pattern: spansSlashes ? '^.+$' : '^[^/]+$' },
  }
}

function schemaOf({ kind, of, many }: Param, choice: SchemaComponents['choice']): JsonSchema {
  const one = of ? choice(of) : SCALARS[kind]
  return many ? { style: 'form', explode: true, schema: { type: 'array', items: one } } : { schema: one }
}

const SCALARS: Readonly<Record<Param['kind'], JsonSchema>> = {
  text: { type: 'string' },
  flag: { type: 'boolean' },
  time: { type: 'string', format: 'date-time' },
  int: { type: 'integer', format: 'int32' },
  choice: { type: 'string' },
}

function parameterTextOf(name: string, { v1Only, zeroIsNone, of, many }: Param): string | undefined {
  const sentences = [
    ...(PARAMETER_TEXTS[name] === undefined ? [] : [PARAMETER_TEXTS[name]]),
    ...(many ? ['It may be repeated: any of the values matches.'] : []),
    ...(zeroIsNone && of ? [`${of.zero[0]} filters nothing.`] : []),
    ...(v1Only === undefined ? [] : [`Only a v1 service takes true: ${v1Only}.`]),
  ]
  return sentences.length > 0 ? sentences.join(' ') : undefined
}

const JSON_TYPE = 'application/json'

/** The statuses of refusals and a name for each. The codes of a status follow from their table (facts §15). */
const REFUSALS: Readonly<Record<number, string>> = {
  400: 'Invalid',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'Not found',
  409: 'Conflict',
  429: 'Too many requests',
  500: 'Failed',
  501: 'Not served',
  503: 'Unavailable',
  504: 'Late',
}

/** Returns the answers of an operation by status. */
function responsesOf(operation: DescribedOperation, success: JsonSchema, settings: DocumentSettings): Readonly<Record<string, JsonSchema>> {
  const refusals = statusesOf(operation, settings).map((status) => [status, refTo('responses', componentName(REFUSALS[status] ?? ''))])
  return { [operation.status ?? 200]: success, ...Object.fromEntries(refusals), default: refTo('responses', 'Refused') }
}

function statusesOf({ kind, method, missing, rows, takesNoToken }: DescribedOperation, { notFound }: DocumentSettings): readonly number[] {
  const isV1Only = kind === 'v1-only'
  // A list can be broken off because v2 began it anew (facts §10.3).
  const mayConflict = method !== 'GET' || rows || kind === 'emulated'
  return [
    400,
    ...(takesNoToken && !isV1Only ? [] : [401, 403]),
    ...(isV1Only || missing === 'error' || notFound === 'error' ? [404] : []),
    ...(mayConflict || isV1Only ? [409] : []),
    429,
    500,
    ...(isV1Only ? [501] : []),
    503,
    504,
  ]
}

/** Returns a response with a body. */
function responseOf(description: string, schema: JsonSchema | undefined, headers: JsonSchema | undefined, type = JSON_TYPE): JsonSchema {
  return { description, ...(headers && { headers }), ...(schema && { content: { [type]: { schema } } }) }
}

/** Returns the refusals that operations refer to, by name. */
function refusalResponses(
  add: SchemaComponents['add'],
  headers: JsonSchema | undefined,
  hasOwnForm: boolean,
): Readonly<Record<string, JsonSchema>> {
  const details = () => ({ type: 'array', items: add('Detail', DETAIL) })
  const schema = hasOwnForm ? OWN_FORM : add('Status', { ...STATUS, properties: { ...STATUS.properties, details: details() } })
  const named = Object.entries(REFUSALS).map(([status, name]) => [
    componentName(name),
    responseOf(codesText(Number(status), hasOwnForm), schema, headers),
  ])
  return { ...Object.fromEntries(named), Refused: responseOf('Any other refusal.', schema, headers) }
}

/** The tables write refusals by a function, which nobody can describe. */
const OWN_FORM: JsonSchema = { type: 'object', description: 'A refusal, as the API writes it.', additionalProperties: true }

function codesText(status: number, hasOwnForm: boolean): string {
  const codes = (Object.keys(CODES) as CodeName[]).filter((name) => CODES[name].http === status)
  return `Refused with ${codes.map((name) => (hasOwnForm ? name : `code ${CODES[name].number} (${name})`)).join(' or ')}.`
}

/** Every refusal is a google.rpc.Status (facts §15). */
const STATUS = {
  type: 'object',
  description: 'A refusal: a google.rpc.Status.',
  properties: {
    code: { type: 'integer', format: 'int32', description: 'The number of the google.rpc code.', minimum: 1, maximum: 16 },
    message: { type: 'string', description: 'A text for people. Programs must not read it.' },
  },
  required: ['code', 'message', 'details'],
} as const

const DETAIL: JsonSchema = {
  type: 'object',
  description: 'Its type says which other members it has: ErrorInfo, BadRequest, ResourceInfo or PreconditionFailure of google.rpc.',
  properties: { '@type': { type: 'string' } },
  required: ['@type'],
  additionalProperties: true,
}

/** Returns the operation object of OpenAPI. Every v1 operation is deprecated: v2 succeeds v1. `codes` are those of its differences. */
function operationObject(
  operation: DescribedOperation,
  parameters: readonly JsonSchema[],
  schemas: SchemaComponents,
  headers: JsonSchema | undefined,
  codes: readonly string[],
  settings: DocumentSettings,
): JsonSchema {
  const { id, kind, calls, because, takesNoToken } = operation
  const body = bodyOf(operation, schemas)
  const success = responseOf('Success.', operation.status === 204 ? undefined : answerOf(operation, schemas), headers, operation.type)
  return {
    operationId: id,
    tags: [domainOf(operation)],
    summary: summaryOf(operation),
    description: descriptionOf(operation, settings),
    deprecated: true,
    ...(takesNoToken && { security: [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: false, content: { [JSON_TYPE]: { schema: body } } } }),
    responses: responsesOf(operation, success, settings),
    'x-crosswalk-kind': kind,
    ...(because !== undefined && { 'x-crosswalk-because': because }),
    ...(calls.length > 0 && { 'x-crosswalk-v2-calls': calls }),
    ...(codes.length > 0 && { 'x-crosswalk-differences': codes }),
  }
}

/** The first word of an operation's id. */
function domainOf({ id }: DescribedOperation): string {
  return id.split('.', 1)[0] ?? ''
}

function bodyOf(
  { kind, method, request, answer, bodyIs }: DescribedOperation,
  { request: schemaOf, add }: SchemaComponents,
): JsonSchema | undefined {
  if (request) return schemaOf(request, bodyIs)
  if (kind !== 'v1-only' || answer || method === 'GET' || method === 'DELETE') return undefined
  return add('V1OnlyRequest', {
    description: 'What the v1 service takes. The tables of Crosswalk do not describe it: it is passed on unchanged.',
  })
}

function answerOf(operation: DescribedOperation, { answer, add }: SchemaComponents): JsonSchema {
  if (operation.answer) return answer(operation)
  return add('V1OnlyAnswer', {
    description: 'What the v1 service answers. The tables of Crosswalk do not describe it: it is passed on unchanged.',
  })
}

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

export interface DocumentSettings {
  readonly dialect: Dialect
  /** It decides which refusals a client can get. */
  readonly notFound: 'empty' | 'error'
  /** What v1 answers announce about the end of v1, in seconds since the epoch, and the address of its replacement. */
  readonly deprecation: number | undefined
  readonly sunset: number | undefined
  readonly successor: string | undefined
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
  const all = operationsOf(tables).map((one) => describedOperation(one, tables.shapes[one.id]))
  const wanted = all.filter(({ id }) => settings.operations.length === 0 || settings.operations.some((pattern) => covers(pattern, id)))
  const { dialect } = settings
  const schemas = createSchemaComponents(all, dialect)
  const announced = announcedHeaders(settings)
  const names = Object.keys(announced)
  const headers = names.length > 0 ? Object.fromEntries(names.map((name) => [name, refTo('headers', name)])) : undefined
  const paths = pathsOf(all, dialect)
  const codesOf = differencesOf(tables)
  const described = wanted.map((operation) => {
    const { path = '', variables = [] } = paths.get(operation) ?? {}
    return { path, operation, parameters: parametersOf(operation, { variables }, schemas.choice, dialect) }
  })
  const { place, parameters } = shareParameters(described.flatMap((one) => one.parameters))
  // Operations of one path stand together, in the order of the tables.
  const items = new Map<string, Record<string, JsonSchema>>()
  for (const { path, operation, parameters } of described) {
    const object = operationObject(operation, parameters.map(place), schemas, headers, codesOf(operation.id), settings)
    items.set(path, { ...items.get(path), [operation.method.toLowerCase()]: object })
  }
  const responses = refusalResponses(schemas.add, headers, tables.errors !== undefined)
  const codes = new Set(wanted.flatMap(({ id }) => codesOf(id)))
  const differences = tables.differences.filter(({ code }) => codes.has(code))
  return {
    openapi: '3.1.1',
    info: { title: 'API v1', version: 'v1', description: introduction(dialect) },
    servers: [{ url: settings.server }],
    tags: tagsOf(wanted),
    security: [{ bearer: [] }],
    paths: Object.fromEntries(items),
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      ...(headers && { headers: announced }),
      parameters,
      responses,
      schemas: schemas.all(),
      // The differences of these operations in words, once each.
      'x-crosswalk-differences': Object.fromEntries(differences.map(({ code, seen, because }) => [code, { seen, because }])),
    },
  }
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

function introduction(dialect: Dialect): string {
  return [
    `The v1 API as Crosswalk serves it, in the ${dialect} dialect.`,
    'A request may spell members and parameters in snake_case or in lowerCamelCase, name an enum value by its number and write 64-bit integers as numbers.',
    'Null means unset. Members that v1 does not know are ignored.',
    'A body is read as JSON whatever its content type says.',
  ].join(' ')
}
