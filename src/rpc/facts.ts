import { readFileSync } from 'node:fs'

/** What is known of a field: its number, its type as a proto file writes it, its oneof, and its JSON name where that is not derived. */
export type FieldFact = readonly [number: number, type: string, more?: { readonly oneof?: string; readonly json?: string }]

/** The verb of an http rule, beside the member of the message that is the body (`*`: all of it). */
export type HttpFact = Readonly<Partial<Record<'get' | 'put' | 'post' | 'delete' | 'patch' | 'body', string>>>

/** What is known of a method. */
export interface MethodFact {
  readonly in: string
  readonly out: string
  readonly http?: HttpFact
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

/** Reads the facts anew, so that nobody retains them: an import would, and Node 20 warns of one. Throws a sentence if a file is no JSON. */
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

/** Returns the facts of v2beta1: its messages, numbers and rules are those of v2, in other packages. */
export function v2beta1Of(v2: Facts): Facts {
  return renamedFacts(v2, (name) => name.replace('.v2.', '.v2beta1.'))
}
