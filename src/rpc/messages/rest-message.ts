import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { isObject, type JsonObject } from '../../tables/json.ts'
import { camelCase } from '../../tables/uid.ts'
import type { RpcMethod } from '../open-rpc.ts'

/** A call over REST as data. Its path is decoded. */
export interface PlainCall {
  readonly method: string
  readonly path: string
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly body?: unknown
}

/** A call over gRPC that says what a call over REST says. */
export interface SameCall {
  readonly method: RpcMethod
  /** Protojson. */
  readonly message: JsonObject
}

/** Returns the gRPC call that says what a REST call says; undefined if none of the methods has its route. */
export function sameCall(methods: readonly RpcMethod[], call: PlainCall): SameCall | undefined {
  const found = methods.flatMap((method) => {
    const variables = method.rule?.method === call.method ? match(method.rule.template, call.path) : undefined
    return variables ? [{ method, variables }] : []
  })
  const [best] = found.toSorted((a, b) => literalOf(b.method) - literalOf(a.method))
  return best && { method: best.method, message: messageOfRest(best.method, call, best.variables) }
}

/** Of several routes, the most literal one is meant, and of two such the one with fewer variables. */
function literalOf({ rule }: RpcMethod): number {
  const pieces = (rule?.template ?? '').split(/\/?\{[^{}]+\}/)
  return pieces.join('').length - pieces.length / 10
}

type Variables = readonly (readonly [name: string, value: string])[]

function match(template: string, path: string): Variables | undefined {
  const names: string[] = []
  const pattern = template.replace(
    /(\/?)\{([^{}=]+)(=\*\*?)?\}|[.:]/g,
    (whole: string, slash: string, name: string | undefined, many?: string) => {
      if (name === undefined) return `\\${whole}`
      names.push(name)
      return many === '=**' ? `(?:${slash}(.*))?` : `${slash}([^/]+)`
    },
  )
  const found = new RegExp(`^${pattern}$`).exec(path)
  return found ? names.map((name, at) => [name, found[at + 1] ?? '']) : undefined
}

function messageOfRest({ input, rule }: RpcMethod, { query, body }: PlainCall, variables: Variables): JsonObject {
  const message: Record<string, unknown> = {}
  const part = input.fields.find(({ name }) => name === rule?.body)
  if (rule?.body === '*' && isObject(body)) Object.assign(message, structuredClone(body))
  else if (part && body !== undefined) message[part.jsonName] = structuredClone(body)
  for (const [name, value] of [...query, ...variables]) put(message, input, name.split('.'), value)
  return message
}

/** Sets the field with a dotted name, in either spelling. */
function put(json: Record<string, unknown>, { fields }: DescMessage, [first = '', ...rest]: readonly string[], value: string): void {
  const field = fields.find(({ name, jsonName }) => name === first || jsonName === first)
  if (!field) return
  if (rest.length > 0 && field.message) {
    json[field.jsonName] ??= {}
    put(json[field.jsonName] as Record<string, unknown>, field.message, rest, value)
  } else if (field.fieldKind === 'list') json[field.jsonName] = [...((json[field.jsonName] as unknown[]) ?? []), jsonOf(field, value)]
  else if (value !== '' || field.oneof || field.proto.proto3Optional) json[field.jsonName] = jsonOf(field, value)
}

function jsonOf({ scalar, message, enum: names }: DescField, value: string): unknown {
  if (scalar === ScalarType.BOOL) return value === 'true'
  if ((names || scalar === ScalarType.INT32) && Number.isInteger(Number(value))) return Number(value)
  return message?.typeName === 'google.protobuf.FieldMask' ? camelCase(value) : value
}
