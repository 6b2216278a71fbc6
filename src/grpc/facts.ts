import { readFileSync } from 'node:fs'
import type { Method } from '../tables/operation.ts'

/** What is known of a field: its number, its type as a proto file writes it, its oneof, and its JSON name where that is not derived. */
export type FieldFact = readonly [number: number, type: string, more?: { readonly oneof?: string; readonly json?: string }]

/** The verb of an http rule, beside the member of the message that is the body (`*`: all of it). */
export type HttpFact = Readonly<Partial<Record<'get' | 'put' | 'post' | 'delete' | 'patch' | 'body', string>>>

/** What is known of a method. */
export interface MethodFact {
  readonly in: string
  readonly out: string
  readonly http?: HttpFact
  /** It has no side effects, although its rule is no GET: the rule has a second binding that is one. */
  readonly safe?: true
  /** It answers with a stream of messages, or takes a stream as well. */
  readonly streams?: 'answers' | 'both'
}

type Named<T> = Readonly<Record<string, T>>

/** What the protos of one version say: `mappings/grpc/v1.json`. A nested type carries the name of its outer one. */
export interface Facts {
  readonly services: Named<Named<MethodFact>>
  readonly messages: Named<Named<FieldFact>>
  readonly enums: Named<Named<number>>
}

/** The facts of both versions. */
export interface FactsOfBoth {
  readonly v1: Facts
  readonly v2: Facts
}

const FOLDER = new URL('../../mappings/grpc/', import.meta.url)

/** The file with the facts of a version, or of the services that gRPC has for itself (health, reflection). */
export function factsFile(api: 'v1' | 'v2' | 'standard', folder = FOLDER): URL {
  return new URL(`${api}.json`, folder)
}

/** Reads the facts anew, so that nobody retains them: an import would, and Node 20 warns of one. Throws a sentence if a file is not JSON. */
export function readFacts(folder = FOLDER): FactsOfBoth {
  return { v1: readFile('v1', folder), v2: readFile('v2', folder) }
}

function readFile(api: 'v1' | 'v2', folder: URL): Facts {
  const text = readFileSync(factsFile(api, folder), 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`mappings/grpc/${api}.json is not JSON: ${(error as Error).message}`)
  }
}

function renamedKeys<T, U>(record: Named<T>, renamed: (name: string) => string, value: (value: T) => U): Named<U> {
  return Object.fromEntries(Object.entries(record).map(([name, member]) => [renamed(name), value(member)]))
}

/** Returns the same facts under other names. */
export function renamedFacts({ services, messages, enums }: Facts, renamed: (name: string) => string): Facts {
  return {
    services: renamedKeys(services, renamed, (methods) =>
      renamedKeys(methods, renamed, (method) => ({ ...method, in: renamed(method.in), out: renamed(method.out) })),
    ),
    messages: renamedKeys(messages, renamed, (fields) =>
      renamedKeys(fields, renamed, ([number, type, more = {}]): FieldFact => [number, renamed(type), more]),
    ),
    enums: renamedKeys(enums, renamed, (values) => values),
  }
}

/**
 * Returns the facts of v2beta1: its messages, numbers and rules are those of v2, in other packages. A service without a version in its name,
 * the exchange of tokens, is v2's alone.
 */
export function v2beta1Of(v2: Facts): Facts {
  const services = Object.entries(v2.services).filter(([name]) => name.includes('.v2.'))
  return renamedFacts({ ...v2, services: Object.fromEntries(services) }, (name) => name.replace('.v2.', '.v2beta1.'))
}

/** The parts of a field's type. */
export interface FieldTypeParts {
  readonly label: 'repeated' | 'optional' | undefined
  /** The type of a map's key. */
  readonly key: string | undefined
  /** A scalar, a message or an enum; of a map, the type of its values. */
  readonly of: string
}

/** A type as a proto file writes it: `repeated string`, `map<string,int32>`. */
const TYPE = /^(?:(repeated|optional) ([\w.]+)|map<(\w+),([\w.]+)>|([\w.]+))$/

/** Reads `optional string`. Returns undefined if the text is not a type. */
export function readFieldType(text: string): FieldTypeParts | undefined {
  const parts = TYPE.exec(text)
  if (!parts) return undefined
  const [, label, labelled, key, value, single] = parts
  return { label: label as FieldTypeParts['label'], key, of: labelled ?? value ?? single ?? '' }
}

/** `sync_config` → `syncConfig`: the JSON name that protoc derives. */
export function jsonNameOf(field: string): string {
  return field.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase())
}

/** The REST request that says the same as a gRPC call. */
export interface HttpRule {
  readonly method: Method
  /** The path with variables: `{id=**}` spans slashes, `{id}` does not. A variable may name a field of a field: `{subscription.id=**}`. */
  readonly template: string
  /** The field that is the body, or `*` for all fields that the path does not take. The others are the query. */
  readonly body: string | undefined
}

const METHODS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const

/** Returns the rule that the facts of a method state; undefined if they state none. */
export function ruleOf(http: HttpFact | undefined): HttpRule | undefined {
  for (const [verb, method] of Object.entries(METHODS)) {
    const template = http?.[verb as keyof typeof METHODS]
    if (template !== undefined) return { method, template, body: http?.body }
  }
  return undefined
}

/**
 * Returns the route without the names of its variables: `GET /iam/v1/roles/{}`. The tables write `{id=**}` for `{id=*}`, and name the
 * variable of an update alone (`{id=**}` for `{subscription.id=**}`).
 */
export function routeOf({ method, template }: Pick<HttpRule, 'method' | 'template'>): string {
  return `${method} ${template.replace(/\{[^{}]+\}/g, '{}')}`
}

/** True for a rule of v1 that v2 publishes too, so that v2 gets its calls: those of the token service. */
export function isOfBoth({ template }: Pick<HttpRule, 'template'>): boolean {
  return template.startsWith('/sts/')
}

/** `/package.Service/Method` → `package.Service`. */
export function serviceIn(path: string): string {
  return path.slice(1, path.lastIndexOf('/'))
}

/** `/package.Service/Method` → `Method`. */
export function methodIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
