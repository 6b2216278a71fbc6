import { member } from '../../tables/compile.ts'
import type { Fields, FieldType } from '../../tables/fields.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'
import { shapeOf } from '../evidence/request-shape.ts'
import { isConcealed, type Redactor } from '../redact/redact.ts'
import { redactedWith } from '../redact/redacted.ts'
import { isTyped } from '../redact/typed-parameter.ts'

/** One kind of request that a client makes, with an example of its values. All names are those of the tables. */
export interface RequestKind {
  /** Two requests of one shape are of one kind. */
  readonly shape: string
  /** The variables of the path. A value that could be a secret is left out, here and in `query`. */
  readonly path: readonly Given[]
  readonly query: readonly Given[]
  /** Members of the body, as dotted names. Absent if the proxy read no body. */
  readonly members?: readonly string[]
  /** Parameters that no table knows. v1 ignores them. */
  readonly unknown?: number
}

/** A kind of request, and how often it was met among the requests that were looked at. */
export interface SampledKind extends RequestKind {
  readonly samples: number
}

/** A parameter, and its value if it may be kept. */
export type Given = readonly [name: string, value?: string]

/** Describes a request so that it can be kept. */
export type KindOf = (operation: Operation, request: V1Request) => RequestKind

/** Maximum values of one parameter, parameters, members, and characters of a value. */
const MOST = { values: 3, parameters: 20, members: 60, text: 300 }

/** Creates a function that describes requests under the rules of redaction. */
export function createKindOf(redactor: Redactor): KindOf {
  const redactedOf = redactedWith(redactor)
  return (operation, request) => {
    const redacted = redactedOf(operation)
    const given = (name: string, value: string): Given => {
      const kept = isTyped(operation, name, value) ? value : redacted.value(value, name)
      return typeof kept === 'string' && kept.length <= MOST.text && !isConcealed(kept) ? [name, kept] : [name]
    }
    const { query, unknown } = namedQuery(operation, request)
    const members = membersOf(operation, request.body)
    return {
      shape: shapeOf(operation, request),
      path: Object.entries(request.params).map(([name, value]) => given(name, value)),
      query: query.slice(0, MOST.parameters).map(([name, value]) => given(name, value)),
      ...(members && { members: members.slice(0, MOST.members) }),
      ...(unknown > 0 && { unknown }),
    }
  }
}

/** Returns the query under the names of the tables, in their order. Other names may be secrets, so they are counted. */
function namedQuery({ params, ownParams }: Operation, { query }: V1Request) {
  const names = [...Object.keys(params), ...ownParams]
  const spelled = new Set(names.flatMap(spellings))
  const pairs = names.flatMap((name) => {
    const values = spellings(name).flatMap((spelling) => query.get(spelling) ?? [])
    return values.slice(0, MOST.values).map((value) => [name, value] as const)
  })
  return { query: pairs, unknown: [...query.keys()].filter((name) => !spelled.has(name)).length }
}

/** Returns the table names of the members of a body. A list in place of an object stands for the only list of the message. */
function membersOf({ request }: Operation, body: unknown): readonly string[] | undefined {
  if (body === undefined || body === null) return undefined
  if (!request) return []
  if (isObject(body)) return named(request.fields, body, '')
  const [only] = Object.entries(request.fields)
  return Array.isArray(body) && only ? below(only[1].type, body, only[0]) : []
}

function named(fields: Fields, body: JsonObject, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const value = member(body, name, field)
    return value === undefined ? [] : below(field.type, value, prefix + name)
  })
}

function below(type: FieldType, value: unknown, name: string): readonly string[] {
  const [inner, values] = type.kind === 'list' && Array.isArray(value) ? [type.of, value] : [type, [value]]
  if (inner.kind !== 'object') return [name]
  const names = values.slice(0, MOST.values).flatMap((item) => (isObject(item) ? named(inner.fields, item, `${name}.`) : []))
  return names.length === 0 ? [name] : [...new Set(names)]
}
