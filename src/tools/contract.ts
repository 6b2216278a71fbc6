import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, resolve, sep } from 'node:path'
import { misuse, named, systemReason } from '../errors.ts'

/** The type of a value in a contract, in the words of the table language. */
export type SchemaShape =
  | { readonly kind: 'text' | 'flag' | 'int' | 'long' | 'time' | 'bytes' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: SchemaShape }
  | { readonly kind: 'object'; readonly name: string | undefined; readonly members: Members }
  /** A type that the language has no word for, or that the document does not say. */
  | { readonly kind: 'unknown'; readonly because: string }

export interface SchemaMember {
  readonly shape: SchemaShape
  readonly isReadOnly: boolean
  readonly isWriteOnly?: true
  /** A request without it is refused. */
  readonly isRequired?: true
}

export type Members = Readonly<Record<string, SchemaMember>>

/** A JSON object of a document. */
export type Node = Readonly<Record<string, unknown>>

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Looks up a `$ref` within a document; undefined if it leads nowhere. */
export type LookUp = (ref: string) => unknown

const SCALARS: Readonly<Record<string, SchemaShape>> = {
  'string date-time': { kind: 'time' },
  'string int64': { kind: 'long' },
  'string uint64': { kind: 'long' },
  'string byte': { kind: 'bytes' },
  'integer int64': { kind: 'long' },
  integer: { kind: 'int' },
  boolean: { kind: 'flag' },
  string: { kind: 'text' },
}

/** Returns the shape of a schema. `above` holds the references on the way to it: a cycle ends where it closes. */
export function shapeOf(schema: unknown, lookUp: LookUp, above: readonly string[] = []): SchemaShape {
  if (!isNode(schema)) return unknown('has no schema')
  const { $ref: ref } = schema
  if (typeof ref === 'string') {
    if (above.includes(ref)) return unknown(`${lastOf(ref)} holds itself`)
    const found = lookUp(ref)
    if (found === undefined) return unknown(`${ref} leads nowhere`)
    return namedSchema(shapeOf(found, lookUp, [...above, ref]), lastOf(ref))
  }
  const combined = ['oneOf', 'anyOf', 'not'].find((word) => word in schema)
  if (combined !== undefined) return unknown(`is a ${combined}`)
  if (Array.isArray(schema['allOf'])) return merged(schema['allOf'].map((part) => shapeOf(part, lookUp, above)))
  return plainShape(schema, lookUp, above)
}

function plainShape(schema: Node, lookUp: LookUp, above: readonly string[]): SchemaShape {
  const { format, properties, additionalProperties, items } = schema
  const values = schema['enum']
  const type = typeIn(schema)
  if (Array.isArray(values) && type === 'string') return { kind: 'choice', values: [...new Set(values.map(String))] }
  if (type === 'array') return { kind: 'list', of: shapeOf(items, lookUp, above) }
  if (isNode(properties) || (type === 'object' && !additionalProperties)) {
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    const members = Object.entries(isNode(properties) ? properties : {}).map(([name, member]) => [
      name,
      { ...memberOf(member, lookUp, above), ...(required.includes(name) && { isRequired: true }) },
    ])
    return { kind: 'object', name: undefined, members: Object.fromEntries(members) }
  }
  if (isNode(additionalProperties) && Object.keys(additionalProperties).length > 0)
    return { kind: 'map', of: shapeOf(additionalProperties, lookUp, above) }
  if (type === 'object') return unknown('may hold anything')
  return SCALARS[`${type} ${format}`] ?? SCALARS[String(type)] ?? unknown(type === undefined ? 'has no type' : `is a ${type}`)
}

/** A type of OpenAPI 3.1 may be a list with `null`. */
function typeIn({ type }: Node): unknown {
  return Array.isArray(type) ? type.filter((one) => one !== 'null')[0] : type
}

function memberOf(schema: unknown, lookUp: LookUp, above: readonly string[]): SchemaMember {
  const isWriteOnly = isNode(schema) && schema['writeOnly'] === true
  return {
    shape: shapeOf(schema, lookUp, above),
    isReadOnly: isNode(schema) && schema['readOnly'] === true,
    ...(isWriteOnly && { isWriteOnly }),
  }
}

function merged(parts: readonly SchemaShape[]): SchemaShape {
  const [first] = parts
  if (parts.length === 1 && first) return first
  const members = parts.map((part) => (part.kind === 'object' ? part.members : undefined))
  if (members.some((one) => one === undefined)) return unknown('is an allOf of other things than objects')
  return { kind: 'object', name: undefined, members: Object.assign({}, ...members) }
}

function namedSchema(shape: SchemaShape, name: string): SchemaShape {
  return shape.kind === 'object' ? { ...shape, name } : shape
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
  readonly path: string
  /** Query parameters by their names. */
  readonly query: Members
  /** The query parameters that it requires. */
  readonly needs: readonly string[]
  /** Headers and cookies by their names. */
  readonly headers: readonly string[]
  readonly request: SchemaShape | undefined
  readonly answer: SchemaShape | undefined
}

export interface Contract {
  readonly title: string
  readonly operations: readonly ContractOperation[]
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** Reads the operations of a document of OpenAPI 2, 3.0 or 3.1 whose references all lead into itself. */
export function contractOf(document: Node): Contract {
  const lookUp = lookUpIn(document)
  const { paths, info } = document
  const operations = Object.entries(isNode(paths) ? paths : {}).flatMap(([path, item]) => operationsAt(path, item, lookUp))
  return { title: isNode(info) ? String(info['title'] ?? '') : '', operations }
}

function operationsAt(path: string, item: unknown, lookUp: LookUp): readonly ContractOperation[] {
  if (!isNode(item)) return []
  const shared = listOf(item['parameters'])
  return METHODS.flatMap((method) => {
    const found = item[method]
    if (!isNode(found)) return []
    const parameters = [...shared, ...listOf(found['parameters'])].map((one) => resolved(one, lookUp)).filter(isNode)
    const body = parameters.find((one) => one['in'] === 'body')
    return {
      id: typeof found['operationId'] === 'string' ? found['operationId'] : undefined,
      method: method.toUpperCase(),
      path,
      query: queryOf(parameters, lookUp),
      needs: parameters.filter((one) => one['in'] === 'query' && one['required'] === true).map((one) => String(one['name'])),
      headers: parameters.filter((one) => ['header', 'cookie'].includes(String(one['in']))).map((one) => String(one['name'])),
      request: body ? shapeOf(body['schema'], lookUp) : contentOf(resolved(found['requestBody'], lookUp), lookUp),
      answer: answerOf(found['responses'], lookUp),
    }
  })
}

function queryOf(parameters: readonly Node[], lookUp: LookUp): Members {
  const inQuery = parameters.filter((one) => one['in'] === 'query')
  return Object.fromEntries(
    inQuery.map((one) => [String(one['name']), { shape: shapeOf(one['schema'] ?? one, lookUp), isReadOnly: false }]),
  )
}

/** The answer of the first status that is a success. */
function answerOf(responses: unknown, lookUp: LookUp): SchemaShape | undefined {
  if (!isNode(responses)) return undefined
  const status = Object.keys(responses)
    .sort()
    .find((code) => code.startsWith('2'))
  const response = resolved(status === undefined ? undefined : responses[status], lookUp)
  return isNode(response) && 'schema' in response ? shapeOf(response['schema'], lookUp) : contentOf(response, lookUp)
}

function contentOf(body: unknown, lookUp: LookUp): SchemaShape | undefined {
  const content = isNode(body) ? body['content'] : undefined
  if (!isNode(content)) return undefined
  const type = Object.keys(content).find((name) => /json/i.test(name))
  const media = type === undefined ? undefined : content[type]
  return isNode(media) ? shapeOf(media['schema'], lookUp) : undefined
}

function resolved(node: unknown, lookUp: LookUp): unknown {
  return isNode(node) && typeof node['$ref'] === 'string' ? lookUp(node['$ref']) : node
}

function lookUpIn(document: Node): LookUp {
  return (ref) => {
    if (!ref.startsWith('#/')) return undefined
    const path = ref.slice(2).split('/')
    return path.reduce<unknown>(
      (node, part) => (isNode(node) ? node[decodeURIComponent(part).replace(/~1/g, '/').replace(/~0/g, '~')] : undefined),
      document,
    )
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** A contract, and what its document says that cannot be read. */
export interface ReadContract {
  readonly contract: Contract
  readonly problems: readonly string[]
}

const PACKAGE = '@redocly/openapi-core'

export interface ReadingDocument {
  /** Follows references to other hosts, and to files outside the folder of the document. */
  readonly mayLeave?: boolean
}

/**
 * Reads an OpenAPI document (2, 3.0 or 3.1, in JSON or YAML) with the files of its folder that it refers to. A document of somebody else
 * could otherwise have this machine ask any address, and read any file.
 * Rejects with a sentence if the file is absent or is no such document, or if the package that reads it is not installed.
 */
export async function readDocument(path: string, { mayLeave = false }: ReadingDocument = {}): Promise<ReadContract> {
  await readFile(path).catch((error: unknown) => {
    throw misuse(`a document cannot be read: ${systemReason(named(error, path))}`)
  })
  const reader = await loadReader()
  const config = await reader.createConfig({})
  const root = resolve(path)
  const externalRefResolver = mayLeave ? new reader.BaseResolver(config.resolve) : await resolverWithin(root, reader)
  const bundled = await reader.bundle({ ref: root, config, externalRefResolver }).catch((error: Error) => {
    throw misuse(`${path} is no OpenAPI document: ${firstLine(error.message)}`)
  })
  const document: unknown = bundled.bundle.parsed
  if (!isNode(document) || !isNode(document['paths'])) throw misuse(`${path} has no paths, so it is no OpenAPI document of an API`)
  return { contract: contractOf(document), problems: bundled.problems.map(({ message }) => `${path}: ${firstLine(message)}`) }
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

/** Reads the document itself, and regular files of its folder. Links count as what they lead to. */
async function resolverWithin(root: string, { BaseResolver, ResolveError }: Awaited<ReturnType<typeof loadReader>>) {
  const folder = `${await realpath(dirname(root))}${sep}`
  const isWithin = async (file: string) => {
    const real = await realpath(file)
    return real.startsWith(folder) && (await stat(real)).isFile()
  }
  class Within extends BaseResolver {
    override async loadExternalRef(file: string) {
      const isRead = file === root || (await isWithin(file).catch(() => false))
      if (!isRead) throw new ResolveError(new Error(`${file} is not read: it is no file in the folder of the document; see --allow-refs`))
      return super.loadExternalRef(file)
    }
  }
  return new Within()
}

function firstLine(text: string): string {
  return text.split('\n')[0] ?? ''
}
