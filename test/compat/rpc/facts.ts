import { readFileSync } from 'node:fs'

/** A field of a message, as the published protos describe it. */
export interface FieldFact {
  readonly proto: string
  /** Its name in protobuf JSON. */
  readonly json: string
  readonly number: number
  readonly shape: 'one' | 'list' | 'map'
  /** A scalar, a message or an enum; of a map, that of its values. */
  readonly type: string
  readonly keys?: string
  readonly oneof?: string
  /** True for `optional`: a set zero is not an unset one. */
  readonly optional: boolean
}

/** A gRPC method with its REST route. */
export interface MethodFact {
  readonly path: string
  readonly input: string
  readonly output: string
  readonly verb: string
  readonly template: string
  readonly body: string | undefined
}

interface Facts {
  readonly services: Readonly<
    Record<string, Readonly<Record<string, { in: string; out: string; http?: Readonly<Record<string, string>> }>>>
  >
  readonly messages: Readonly<Record<string, Readonly<Record<string, readonly [number, string, { oneof?: string; json?: string }?]>>>>
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>
}

const facts: Facts = JSON.parse(readFileSync('mappings/grpc/v1.json', 'utf8'))

export const enums: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map(Object.entries(facts.enums))

export const messages: ReadonlyMap<string, readonly FieldFact[]> = new Map(
  Object.entries(facts.messages).map(([name, fields]) => [
    name,
    Object.entries(fields).map(([proto, [number, type, more = {}]]): FieldFact => {
      const json = more.json ?? proto.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
      return { proto, json, number, ...(more.oneof !== undefined && { oneof: more.oneof }), ...shaped(type) }
    }),
  ]),
)

function shaped(type: string): Pick<FieldFact, 'shape' | 'type' | 'keys' | 'optional'> {
  const [, keys, values] = /^map<(\w+),(.+)>$/.exec(type) ?? []
  if (keys !== undefined && values !== undefined) return { shape: 'map', keys, type: values, optional: false }
  const [, label, plain = type] = /^(repeated|optional) (.+)$/.exec(type) ?? []
  return { shape: label === 'repeated' ? 'list' : 'one', type: plain, optional: label === 'optional' }
}

/** The methods that have a REST route. */
export const methods: readonly MethodFact[] = Object.entries(facts.services).flatMap(([service, all]) =>
  Object.entries(all).flatMap(([name, { in: input, out: output, http }]): MethodFact[] => {
    if (!http) return []
    const { body, ...rule } = http
    const [[verb = '', template = ''] = []] = Object.entries(rule)
    return [{ path: `/${service}/${name}`, input, output, verb: verb.toUpperCase(), template, body }]
  }),
)
