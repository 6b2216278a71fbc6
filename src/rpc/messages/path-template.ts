import type { DescMessage } from '@bufbuild/protobuf'
import { invalidArgument } from '../../errors.ts'
import { asText, at, type JsonObject } from '../../tables/json.ts'

/** A path with variables, compiled for a message. */
export interface PathTemplate {
  /** The members of the message's JSON that the path takes: `[['subscription', 'id']]`. */
  readonly taken: readonly (readonly string[])[]
  /** Fills the path, encoded. Throws INVALID_ARGUMENT if a variable is empty that cannot be. */
  fill(message: JsonObject): string
}

interface Variable {
  /** Its name in the proto. */
  readonly name: string
  /** Its place in the JSON of the message. */
  readonly path: readonly string[]
  /** True if it may hold slashes, or nothing. */
  readonly many: boolean
}

const VARIABLE = /\{([^{}=]+)(=\*\*?)?\}/

/** Compiles `/events/v1/subscriptions/{subscription.id=**}:check` for a message whose `subscription` has an `id`. */
export function pathTemplate(template: string, message: DescMessage): PathTemplate {
  const literals: string[] = []
  const variables: Variable[] = []
  let rest = template
  for (let found = VARIABLE.exec(rest); found; found = VARIABLE.exec(rest)) {
    const [whole, name = '', pattern] = found
    literals.push(rest.slice(0, found.index))
    variables.push({ name, path: jsonPath(message, name), many: pattern === '=**' })
    rest = rest.slice(found.index + whole.length)
  }
  return {
    taken: variables.map(({ path }) => path),
    fill: (json) => variables.map((variable, index) => literals[index] + filled(variable, json)).join('') + rest,
  }
}

function jsonPath(message: DescMessage, name: string): readonly string[] {
  const [first = '', ...rest] = name.split('.')
  const field = message.fields.find((candidate) => candidate.name === first)
  if (!field) throw new Error(`${message.typeName} has no field ${first} for its path`)
  return rest.length > 0 && field.message ? [field.jsonName, ...jsonPath(field.message, rest.join('.'))] : [field.jsonName]
}

/** A variable of one segment encodes its slashes. The others keep theirs, as a client of REST writes a uid. */
function filled({ name, path, many }: Variable, json: JsonObject): string {
  const value = asText(at(json, path))
  if (many) return value.split('/').map(encodeURIComponent).join('/')
  if (value === '') throw invalidArgument({ field: name, description: 'must not be empty' })
  return encodeURIComponent(value)
}

/** Returns the JSON of a message without the members that its path takes. */
export function without(json: JsonObject, taken: PathTemplate['taken']): JsonObject {
  return taken.reduce<JsonObject>(withoutOne, json)
}

function withoutOne(json: JsonObject, [first = '', ...rest]: readonly string[]): JsonObject {
  if (!(first in json)) return json
  const { [first]: value, ...others } = json
  return rest.length === 0 ? others : { ...others, [first]: withoutOne(value as JsonObject, rest) }
}
