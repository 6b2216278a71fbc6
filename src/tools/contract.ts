import { realpath, stat } from 'node:fs/promises'
import { dirname, posix, resolve, sep } from 'node:path'
import { misuse, systemReason } from '../errors.ts'
import { fileWithin } from '../files.ts'
import type { FieldType } from '../tables/fields.ts'
import { isObject, type JsonObject } from '../tables/json.ts'

/** The type of a value in a contract, in the words of the table language. */
export type SchemaShape =
  | { readonly kind: 'text' | 'flag' | 'int' | 'number' | 'long' | 'time' | 'bytes' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: SchemaShape; readonly holdsNull?: true }
  | { readonly kind: 'object'; readonly name: string | undefined; readonly members: Members }
  /** A type that the language has no word for, or that the document does not say. */
  | { readonly kind: 'unknown'; readonly because: string }

export interface SchemaMember {
  readonly shape: SchemaShape
  readonly isReadOnly: boolean
  readonly isWriteOnly?: true
  readonly isNullable?: true
  /** A request without it is refused. */
  readonly isRequired?: true
}

export type Members = Readonly<Record<string, SchemaMember>>

const TEXTS = ['text', 'time', 'bytes', 'choice', 'long']
const NUMBERS = ['int', 'number']

/** The kinds of a schema whose values a row of each kind takes and writes. */
export const KINDS: Readonly<Record<FieldType['kind'], readonly string[]>> = {
  text: TEXTS,
  time: TEXTS,
  duration: TEXTS,
  bytes: TEXTS,
  choice: TEXTS,
  long: TEXTS,
  int: NUMBERS,
  number: NUMBERS,
  flag: ['flag'],
  object: ['object'],
  list: ['list'],
  map: ['map'],
}

/** Those whose values a row reads of v2, which may write a number as text and an enum as a number (ProtoJSON). */
export const READ_KINDS: typeof KINDS = {
  ...KINDS,
  ...{ choice: [...TEXTS, ...NUMBERS], long: [...TEXTS, ...NUMBERS], int: [...TEXTS, ...NUMBERS] },
  ...{ object: ['object', 'map'], map: ['object', 'map'] },
}

/** Says of which other kind than its row a schema is; undefined if their values may be alike. */
export function otherKind(shape: SchemaShape, type: FieldType, kinds = KINDS): string | undefined {
  if (shape.kind === 'unknown') return undefined
  if ((shape.kind === 'list' && type.kind === 'list') || (shape.kind === 'map' && type.kind === 'map'))
    return otherKind(shape.of, type.of, kinds)
  return kinds[type.kind].includes(shape.kind) ? undefined : `it is of the kind ${shape.kind}, and its row of the kind ${type.kind}`
}

/** What a document may hold, and what may be made of it. */
const MOST_BYTES = 16 * 2 ** 20
const MOST_VALUES = 1_000_000
const MOST_NAMES = 10_000
const DEEPEST = 200
/** References that lead to references. The reader follows each chain anew from each of its links. */
const LONGEST_CHAIN = 100
/** References to other files that are followed. */
const MOST_LOADED = 100_000

const SCALARS: Readonly<Record<string, SchemaShape>> = {
  'string date-time': { kind: 'time' },
  'string int64': { kind: 'long' },
  'string uint64': { kind: 'long' },
  'string byte': { kind: 'bytes' },
  'integer int64': { kind: 'number' },
  number: { kind: 'number' },
  integer: { kind: 'int' },
  boolean: { kind: 'flag' },
  string: { kind: 'text' },
}

/** The schemas of a document. */
class Definitions {
  readonly #document: JsonObject
  #made = 0

  constructor(document: JsonObject) {
    this.#document = document
  }

  /** Looks up a `$ref`; undefined if it leads nowhere. */
  find(ref: string): unknown {
    return ref.startsWith('#/') ? partsOf(ref).reduce<unknown>(below, this.#document) : undefined
  }

  /** Counts a shape that is made of a schema. Throws if a few references have become very many shapes. */
  count(): void {
    this.#made += 1
    if (this.#made > MOST_VALUES) throw misuse(`its references, followed, make more than ${MOST_VALUES} schemas`)
  }

  /** The headers and cookies with which a caller must name itself. `Authorization` passes through. */
  keysOf({ security }: JsonObject): readonly string[] {
    const { security: ofAll, securityDefinitions, components } = this.#document
    const schemes = isObject(components) ? components['securitySchemes'] : securityDefinitions
    const ways = listOf(security ?? ofAll)
      .filter(isObject)
      .map((way) =>
        Object.keys(way)
          .map((name) => this.resolved(below(schemes, name)))
          .filter(isObject)
          .filter(({ type, in: place, name }) => type === 'apiKey' && place !== 'query' && !/^authorization$/i.test(wordOf(name)))
          .map(({ name }) => wordOf(name)),
      )
    return ways.every((keys) => keys.length > 0) ? (ways[0] ?? []) : []
  }

  /** Follows a reference, if there is one. */
  resolved(node: unknown): unknown {
    return isObject(node) && typeof node['$ref'] === 'string' ? this.find(node['$ref']) : node
  }
}

/** Returns the shape of a schema. `above` holds the references on the way to it, and '' for each other level: a cycle ends where it closes. */
function shapeOf(schema: unknown, definitions: Definitions, above: readonly string[] = []): SchemaShape {
  definitions.count()
  if (!isObject(schema)) return unknown('has no schema')
  if (above.length > DEEPEST) return unknown(`is nested deeper than ${DEEPEST} levels`)
  const { $ref: ref } = schema
  if (typeof ref === 'string') {
    if (above.includes(ref)) return unknown(`${lastOf(ref)} holds itself`)
    const found = definitions.find(ref)
    if (found === undefined) return unknown(`${ref} leads nowhere`)
    const shape = shapeOf(found, definitions, [...above, ref])
    return shape.kind === 'object' ? { ...shape, name: lastOf(ref) } : shape
  }
  const combined = ['oneOf', 'anyOf', 'not'].find((word) => word in schema)
  if (combined !== undefined) {
    const forms = listOf(schema[combined])
    const [form, ...others] = forms.filter((one) => !isObject(one) || one['type'] !== 'null')
    return others.length === 0 && forms.length > 1 ? shapeOf(form, definitions, [...above, '']) : unknown(`is a ${combined}`)
  }
  if (Array.isArray(schema['allOf'])) {
    const { allOf, ...own } = schema
    const parts = isObject(own['properties']) ? [...schema['allOf'], own] : schema['allOf']
    return merged(parts.map((part) => shapeOf(part, definitions, [...above, ''])))
  }
  return plainShape(schema, definitions, above)
}

function plainShape(schema: JsonObject, definitions: Definitions, above: readonly string[]): SchemaShape {
  const { format, properties, additionalProperties, items } = schema
  const values = schema['enum']
  const below = [...above, '']
  const type = typeIn(schema)
  if (Array.isArray(values) && type === 'string')
    return { kind: 'choice', values: [...new Set(values.filter((one) => one !== null).map(wordOf))] }
  if (type === 'array') return manyOf('list', items, definitions, below)
  if (isObject(properties) || (type === 'object' && !additionalProperties)) {
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    const members = Object.entries(isObject(properties) ? properties : {}).map(([name, member]) => [
      name,
      { ...memberOf(member, definitions, below), ...(required.includes(name) && { isRequired: true }) },
    ])
    return { kind: 'object', name: undefined, members: Object.fromEntries(members) }
  }
  if (isObject(additionalProperties) && Object.keys(additionalProperties).length > 0)
    return manyOf('map', additionalProperties, definitions, below)
  if (type === 'object') return unknown('may hold anything')
  const word = wordOf(type)
  return SCALARS[`${word} ${wordOf(format)}`] ?? SCALARS[word] ?? unknown(type === undefined ? 'has no type' : `is a ${word}`)
}

function manyOf(kind: 'list' | 'map', items: unknown, definitions: Definitions, above: readonly string[]): SchemaShape {
  return { kind, of: shapeInside(items, definitions, above), ...(mayBeNull(items, definitions) && { holdsNull: true }) }
}

/** A document may hold an object in the place of a word. */
function wordOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** A type of OpenAPI 3.1 may be a list with `null`. */
function typeIn({ type }: JsonObject): unknown {
  return Array.isArray(type) ? type.filter((one) => one !== 'null')[0] : type
}

/** Returns the shape of what stands in a message. An object of which nothing is said is the empty message only where it is a whole body. */
function shapeInside(schema: unknown, definitions: Definitions, above: readonly string[]): SchemaShape {
  const shape = shapeOf(schema, definitions, above)
  return shape.kind === 'object' && Object.keys(shape.members).length === 0 ? unknown('may hold anything') : shape
}

function memberOf(schema: unknown, definitions: Definitions, above: readonly string[]): SchemaMember {
  const isWriteOnly = isObject(schema) && schema['writeOnly'] === true
  return {
    shape: shapeInside(schema, definitions, above),
    isReadOnly: isObject(schema) && schema['readOnly'] === true,
    ...(isWriteOnly && { isWriteOnly }),
    ...(mayBeNull(schema, definitions) && { isNullable: true }),
  }
}

/** True where `null` is a value: in the words of OpenAPI 2, 3.0 or 3.1. */
function mayBeNull(schema: unknown, definitions: Definitions, links = 0): boolean {
  definitions.count()
  if (!isObject(schema) || links > LONGEST_CHAIN) return false
  const { $ref: ref, type, nullable, 'x-nullable': inOpenApi2, anyOf, oneOf } = schema
  if (nullable === true || inOpenApi2 === true || [type].flat().includes('null') || listOf(schema['enum']).includes(null)) return true
  const others = typeof ref === 'string' ? [definitions.find(ref)] : [...listOf(anyOf), ...listOf(oneOf)]
  return others.some((one) => mayBeNull(one, definitions, links + 1))
}

function merged(parts: readonly SchemaShape[]): SchemaShape {
  const [first] = parts
  if (parts.length === 1 && first) return first
  const members = parts.map((part) => (part.kind === 'object' ? part.members : undefined))
  if (members.some((one) => one === undefined)) return unknown('is an allOf of other things than objects')
  return { kind: 'object', name: undefined, members: Object.assign({}, ...members) }
}

function unknown(because: string): SchemaShape {
  return { kind: 'unknown', because }
}

function lastOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

/** One operation of a contract. */
export interface ContractOperation {
  readonly id: string | undefined
  readonly method: string
  /** With the base path of the document. */
  readonly path: string
  /** The path as the document spells it. */
  readonly below: string
  /** Query parameters by their names. */
  readonly query: Members
  /** The query parameters that it requires. */
  readonly needs: readonly string[]
  /** Headers and cookies by their names. */
  readonly headers: readonly string[]
  readonly request: SchemaShape | undefined
  readonly answer: SchemaShape | undefined
  /** The statuses of a success, without ranges. */
  readonly statuses: readonly number[]
  /** The media types of JSON of a success, without parameters. */
  readonly types: readonly string[]
  /** What its errors are if they are described, and not as a google.rpc.Status. */
  readonly ownErrors?: string | undefined
}

/** v1's status of a success where it is not 200; the first of several. */
export function statusOf({ statuses }: ContractOperation) {
  return statuses.includes(200) ? undefined : ([201, 202, 204] as const).find((status) => statuses.includes(status))
}

/** v1's media type of a success where it is never `application/json`; the first of several. */
export function mediaTypeOf({ types }: ContractOperation) {
  return types.includes('application/json') ? undefined : types[0]
}

/** Says why a call cannot be made: its only successes are statuses that leave the answer open, such as 202 (send.ts). */
export function whyUnfinished({ statuses }: ContractOperation): string | undefined {
  if (statuses.length === 0 || statuses.some((status) => [200, 201, 204].includes(status))) return undefined
  return `it answers ${statuses.join(' or ')}, and a call takes 200, 201 and 204`
}

export interface Contract {
  readonly title: string
  readonly operations: readonly ContractOperation[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Reads the operations of a document of OpenAPI 2, 3.0 or 3.1 whose references all lead into itself. */
export function contractOf(document: JsonObject): Contract {
  const definitions = new Definitions(document)
  const { paths, info } = document
  const base = basePathOf(document)
  const operations = Object.entries(isObject(paths) ? paths : {}).flatMap(([path, item]) =>
    operationsAt(base, path, definitions.resolved(item), definitions),
  )
  return { title: isObject(info) ? wordOf(info['title'] ?? '') : '', operations }
}

/** `/api/v1`, of the `basePath` of OpenAPI 2 or of the first server, from the root of its host; empty without one. */
function basePathOf({ basePath, servers }: JsonObject): string {
  const [server] = listOf(servers).filter(isObject)
  const variables = isObject(server?.['variables']) ? server['variables'] : {}
  const given = wordOf(basePath ?? server?.['url'] ?? '')
  const url = given.replace(/\{([^{}]*)\}/g, (_, name) => {
    const variable = variables[name]
    return isObject(variable) ? wordOf(variable['default']) : ''
  })
  // A variable that is empty by default leaves two slashes, and no host behind them.
  const isPath = /^\/(?!\/)/.test(given)
  const [path = ''] = (isPath ? url : url.replace(/^(?:[a-z][a-z\d+.-]*:)?\/\/[^/]*/i, '')).split(/[?#]/, 1)
  const absolute = posix.join('/', path)
  return absolute.endsWith('/') ? absolute.slice(0, -1) : absolute
}

function operationsAt(base: string, path: string, item: unknown, definitions: Definitions): readonly ContractOperation[] {
  if (!isObject(item)) return []
  const shared = listOf(item['parameters'])
  return METHODS.flatMap((method) => {
    const found = item[method]
    if (!isObject(found)) return []
    const parameters = [...shared, ...listOf(found['parameters'])].map((one) => definitions.resolved(one)).filter(isObject)
    const body = parameters.find((one) => one['in'] === 'body')
    const requestBody = definitions.resolved(found['requestBody'])
    const isForm = parameters.some((one) => one['in'] === 'formData')
    const inQuery = parameters.filter((one) => one['in'] === 'query')
    return {
      id: typeof found['operationId'] === 'string' ? found['operationId'] : undefined,
      method: method.toUpperCase(),
      path: base + path,
      below: path,
      query: Object.fromEntries(
        inQuery.map((one) => [wordOf(one['name']), { shape: inText(shapeOf(one['schema'] ?? one, definitions)), isReadOnly: false }]),
      ),
      needs: inQuery.filter((one) => one['required'] === true).map((one) => wordOf(one['name'])),
      headers: [
        ...parameters.filter((one) => ['header', 'cookie'].includes(wordOf(one['in']))).map((one) => wordOf(one['name'])),
        ...definitions.keysOf(found),
      ],
      request: body ? shapeOf(body['schema'], definitions) : isForm ? unknown('is a form, not JSON') : contentOf(requestBody, definitions),
      answer: answerOf(found['responses'], definitions),
      statuses: Object.keys(isObject(found['responses']) ? found['responses'] : {}).flatMap((code) =>
        /^2\d\d$/.test(code) ? Number(code) : [],
      ),
      types: typesOf(found['responses'], definitions),
      ownErrors: ownErrorsOf(found['responses'], definitions),
    }
  })
}

/** In a query every number is a text. */
function inText(shape: SchemaShape): SchemaShape {
  return shape.kind === 'list' ? { kind: 'list', of: inText(shape.of) } : shape.kind === 'number' ? { kind: 'text' } : shape
}

/** The answer of the first status that is a success, or of any status if none is. */
function answerOf(responses: unknown, definitions: Definitions): SchemaShape | undefined {
  return responseOf(successOf(responses), definitions)
}

function successOf(responses: unknown): unknown {
  if (!isObject(responses)) return undefined
  const status = Object.keys(responses)
    .sort()
    .find((code) => code.startsWith('2'))
  return responses[status ?? 'default']
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json$/

/** Of any type, `application/json` is one. */
function typesOf(responses: unknown, definitions: Definitions): readonly string[] {
  const response = definitions.resolved(successOf(responses))
  const content = isObject(response) && isObject(response['content']) ? Object.keys(response['content']) : []
  return content.map(bareType).flatMap((type) => (type === '*/*' ? 'application/json' : JSON_TYPE.test(type) ? type : []))
}

function bareType(text: string): string {
  return text.replace(/;.*/s, '').trim().toLowerCase()
}

function responseOf(described: unknown, definitions: Definitions): SchemaShape | undefined {
  const response = definitions.resolved(described)
  return isObject(response) && 'schema' in response ? shapeOf(response['schema'], definitions) : contentOf(response, definitions)
}

/** Returns the name of the first schema of an error that has not both members of a google.rpc.Status, as only the default reads it. */
function ownErrorsOf(responses: unknown, definitions: Definitions): string | undefined {
  if (!isObject(responses)) return undefined
  const shapes = Object.keys(responses)
    .filter((code) => /^[45]|^default$/.test(code))
    .map((code) => responseOf(responses[code], definitions))
  const other = shapes.find((shape) => shape && !(shape.kind === 'object' && isStatus(shape.members)))
  return other && ((other.kind === 'object' && other.name) || 'another body')
}

function isStatus({ code, message }: Members): boolean {
  return code !== undefined && ['int', 'number'].includes(code.shape.kind) && message?.shape.kind === 'text'
}

function contentOf(body: unknown, definitions: Definitions): SchemaShape | undefined {
  const content = isObject(body) ? body['content'] : undefined
  if (!isObject(content)) return undefined
  const types = Object.keys(content)
  const type = types.find((name) => /json|^\*\/\*$/i.test(name))
  if (type === undefined) return types.length === 0 ? undefined : unknown(`is ${types.join(' or ')}, not JSON`)
  const media = content[type]
  return isObject(media) ? shapeOf(media['schema'], definitions) : undefined
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part).replace(/~1/g, '/').replace(/~0/g, '~')
  } catch {
    return part
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

const PACKAGE = '@redocly/openapi-core'

/**
 * Reads an OpenAPI document (2, 3.0 or 3.1, in JSON or YAML) with the files of its folder that it refers to. A document of somebody else
 * could otherwise have this machine ask any address, and read any file.
 * If it `mayLeave`, references to other hosts, and to files outside the folder of the document, are followed too. Returns the contract, and
 * what the document says that cannot be read.
 * Rejects with a sentence if the file is absent or is no such document, or if the package that reads it is not installed.
 */
export async function readDocument(path: string, { mayLeave = false } = {}) {
  const text = await fileWithin(path, MOST_BYTES).catch((error: unknown) => {
    throw misuse(`a document cannot be read: ${systemReason(error)}`)
  })
  const reader = await loadReader()
  const config = await reader.createConfig({})
  const root = resolve(path)
  const externalRefResolver = await resolverOf(root, text.toString(), mayLeave, reader, config)
  const bundled = await reader.bundle({ ref: root, config, externalRefResolver }).catch((error: Error) => {
    throw misuse(`${path} is not an OpenAPI document: ${firstLine(error.message)}`)
  })
  const document: unknown = bundled.bundle.parsed
  if (!isObject(document) || !isObject(document['paths'])) throw misuse(`${path} has no paths, so it is not an OpenAPI document of an API`)
  try {
    return { contract: contractOf(document), problems: bundled.problems.map(({ message }) => `${path}: ${firstLine(message)}`) }
  } catch (error) {
    throw misuse(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Throws if a document holds too much. An alias of YAML counts as what it stands for, each time. Returns the references. */
function checkSize(value: unknown, room: { values: number }, refs = new Set<string>(), depth = 0): ReadonlySet<string> {
  if (typeof value !== 'object' || value === null) return refs
  if (depth > DEEPEST) throw new Error(`it is nested deeper than ${DEEPEST} levels`)
  if (isObject(value) && typeof value['$ref'] === 'string') refs.add(value['$ref'])
  const inside = Object.values(value)
  if (inside.length > MOST_NAMES) throw new Error(`one object or list of it holds more than ${MOST_NAMES} values`)
  room.values -= inside.length
  if (room.values < 0) throw new Error(`it holds more than ${MOST_VALUES} values`)
  for (const one of inside) checkSize(one, room, refs, depth + 1)
  return refs
}

/** Throws if a reference within a document leads through too many others. */
function checkChains(document: unknown, refs: ReadonlySet<string>): void {
  /** `length` counts the references on the way, with the first. */
  type Followed = { readonly node: unknown; readonly length: number }
  const known = new Map<string, Followed>()
  const follow = (ref: string, depth: number): Followed => {
    const found = known.get(ref)
    if (found) return found
    // A cycle ends where it closes.
    known.set(ref, { node: undefined, length: 1 })
    let [node, length] = [ref.startsWith('#/') ? document : undefined, 1]
    const landed = () => {
      if (!isObject(node) || typeof node['$ref'] !== 'string') return
      const inner = depth > LONGEST_CHAIN ? { node: undefined, length: depth } : follow(node['$ref'], depth + 1)
      node = inner.node
      length += inner.length
    }
    for (const part of partsOf(ref)) {
      landed()
      node = below(node, part)
    }
    landed()
    if (length > LONGEST_CHAIN) throw new Error(`a reference of it leads through more than ${LONGEST_CHAIN} others`)
    known.set(ref, { node, length })
    return { node, length }
  }
  for (const ref of refs) follow(ref, 0)
}

function partsOf(ref: string): readonly string[] {
  return ref.slice(2).split('/').map(decoded)
}

function below(node: unknown, part: string): unknown {
  return typeof node === 'object' && node !== null && Object.hasOwn(node, part) ? (node as JsonObject)[part] : undefined
}

/** It is not installed with this package: only this command needs it, and it is half as large as all the rest. */
async function loadReader() {
  try {
    return await import('@redocly/openapi-core')
  } catch (cause) {
    throw new Error(`reading OpenAPI documents needs the package ${PACKAGE}; install it beside crosswalk: npm install ${PACKAGE}`, {
      cause,
    })
  }
}

type Reader = Awaited<ReturnType<typeof loadReader>>

/** Reads the document itself, and regular files of its folder. Links count as what they lead to. All of them together are bounded. */
async function resolverOf(
  root: string,
  text: string,
  mayLeave: boolean,
  reader: Reader,
  { resolve: resolving }: Awaited<ReturnType<Reader['createConfig']>>,
) {
  const { BaseResolver, ResolveError, Source } = reader
  const folder = `${await realpath(dirname(root))}${sep}`
  // What may still be read of all files of a document.
  const room = { values: MOST_VALUES, loads: MOST_LOADED }
  const isWithin = async (file: string) => {
    const real = await realpath(file)
    return real.startsWith(folder) && (await stat(real)).isFile()
  }
  class Bounded extends BaseResolver {
    override async resolveDocument<T>(base: string | null, ref: string, isRoot?: boolean) {
      room.loads -= 1
      if (room.loads < 0) throw new Error(`its references lead to other files more than ${MOST_LOADED} times`)
      return super.resolveDocument<T>(base, ref, isRoot)
    }

    override async loadExternalRef(file: string) {
      if (file === root) return new Source(root, text)
      if (mayLeave && /^https?:/i.test(file)) return super.loadExternalRef(file)
      const isRead = mayLeave || (await isWithin(file).catch(() => false))
      if (!isRead)
        throw new ResolveError(new Error(`${file} is not read: it is not a file in the folder of the document; see --allow-refs`))
      return fileWithin(file, MOST_BYTES).then(
        (body) => new Source(file, body.toString()),
        (error: Error) => {
          throw new ResolveError(error)
        },
      )
    }

    override parseDocument(...given: Parameters<InstanceType<typeof BaseResolver>['parseDocument']>) {
      const document = super.parseDocument(...given)
      checkChains(document.parsed, checkSize(document.parsed, room))
      return document
    }
  }
  return new Bounded(mayLeave ? resolving : undefined)
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
