import type { Root, Type } from 'protobufjs/light.js'
import { createProtos } from './protos.ts'
import { type PublishedRule, readPublishedFacts } from './published-facts.ts'

const VERBS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const

/** What an http rule says: the REST request of a message. */
export type HttpRule = {
  readonly method: (typeof VERBS)[keyof typeof VERBS]
  readonly template: string
  /** The paths of the fields in the template, in order: `subscription.id`. */
  readonly variables: readonly string[]
  /** The field that is the body; `*`: every field that is not in the path. Undefined: every other field is in the query. */
  readonly body: string | undefined
}

export type GrpcMethod = {
  readonly name: string
  readonly input: Type
  readonly output: Type
  /** Undefined for the one method that REST does not have. */
  readonly rule: HttpRule | undefined
}

/** Every method of v1, v2 and v2beta1, and the types that they use. */
export type GrpcApi = {
  readonly root: Root
  /** Finds `/chainguard.platform.iam.Groups/List`. */
  readonly find: (path: string) => GrpcMethod | undefined
  readonly hasService: (name: string) => boolean
}

const readRule = (http: PublishedRule | undefined): HttpRule | undefined => {
  if (!http) return undefined
  for (const [verb, method] of Object.entries(VERBS)) {
    const template = http[verb as keyof typeof VERBS]
    if (template === undefined) continue
    const variables = [...template.matchAll(/\{([^=}]+)/g)].map(([, name = '']) => name)
    return { method, template, variables, body: http.body }
  }
  return undefined
}

/** v2beta1 is v2 in other packages (ASSUMPTIONS.md, "gRPC"). Its messages have the same bytes. */
const inV2 = (name: string): string => name.replace('.v2beta1.', '.v2.')

const createApi = (): GrpcApi => {
  const facts = readPublishedFacts()
  const root = createProtos(facts)
  const methods = new Map<string, GrpcMethod>()
  for (const [service, published] of Object.entries(facts.services)) {
    for (const [name, { in: input, out: output, http }] of Object.entries(published)) {
      methods.set(`/${service}/${name}`, {
        name,
        input: root.lookupType(input),
        output: root.lookupType(output),
        rule: readRule(http),
      })
    }
  }
  return { root, find: (path) => methods.get(inV2(path)), hasService: (name) => inV2(name) in facts.services }
}

let api: GrpcApi | undefined

/** The methods, from the facts. They are read once in a process. */
export const grpcApi = (): GrpcApi => {
  api ??= createApi()
  return api
}
