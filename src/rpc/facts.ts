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

/**
 * Reads the facts anew: the check at start keeps nothing of them. An import attribute would retain them, and Node 20 warns of it.
 * Throws if a file is missing or is not JSON.
 */
export function readFacts(): FactsOfBoth {
  return { v1: readFile('v1'), v2: readFile('v2') }
}

function readFile(version: 'v1' | 'v2'): Facts {
  return JSON.parse(readFileSync(new URL(`../../mappings/grpc/${version}.json`, import.meta.url), 'utf8'))
}

const renamed = (name: string) => name.replace('.v2.', '.v2beta1.')

function renamedKeys<T, U>(record: Named<T>, value: (value: T) => U): Named<U> {
  return Object.fromEntries(Object.entries(record).map(([name, member]) => [renamed(name), value(member)]))
}

/** Returns the facts of v2beta1: its messages, numbers and rules are those of v2, in other packages. */
export function v2beta1Of({ services, messages, enums }: Facts): Facts {
  return {
    services: renamedKeys(services, (methods) =>
      renamedKeys(methods, (method) => ({ ...method, in: renamed(method.in), out: renamed(method.out) })),
    ),
    messages: renamedKeys(messages, (fields) =>
      renamedKeys(fields, ([number, type, more = {}]): FieldFact => [number, renamed(type), more]),
    ),
    enums: renamedKeys(enums, (values) => values),
  }
}
