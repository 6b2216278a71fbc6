import { isShownIn } from '../../tables/compile.ts'
import { type EnumMap, type Fields, objects } from '../../tables/fields.ts'
import { ROWS } from '../../tables/turn.ts'
import type { Dialect } from '../../tables/uid.ts'
import type { DescribedMessage, DescribedOperation } from '../described-operation.ts'
import { componentName } from './component-name.ts'
import { type JsonSchema, refTo } from './json-schema.ts'
import { type Direction, objectSchema } from './object-schema.ts'
import { enumSchema, typeSchema } from './type-schema.ts'

/** The schemas of a document. Each function adds what it returns a reference to. */
export interface SchemaComponents {
  /** Of the body of a request: the message, or the one member of it that is the whole body. */
  readonly request: (message: DescribedMessage, member?: string) => JsonSchema
  /** Of a successful answer. */
  readonly answer: (operation: Pick<DescribedOperation, 'answer' | 'rows' | 'envelope'>) => JsonSchema
  readonly choice: (of: EnumMap) => JsonSchema
  /** Adds a schema that no table has. */
  readonly add: (name: string, schema: JsonSchema) => JsonSchema
  /** All schemas so far, by name. */
  readonly all: () => Readonly<Record<string, JsonSchema>>
}

/**
 * Collects the schemas of messages, objects and enums, each once by its name. An object that is no message is named after its place:
 * `IdentityClaimMatch`. Throws if two different schemas have one name.
 */
export function createSchemaComponents(operations: readonly DescribedOperation[], dialect: Dialect): SchemaComponents {
  const schemas = new Map<string, JsonSchema>()
  const messages = messagesBy(operations, dialect)
  const add = (name: string, schema: JsonSchema) => {
    const known = schemas.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`two schemas have the name ${name}; rename one message`)
    schemas.set(name, schema)
    return refTo('schemas', name)
  }
  const choice = (of: EnumMap) => add(componentName(of.name), enumSchema(of))
  const inside = (name: string) => (member: string, direction: Direction) => ({
    choice,
    object(below: Fields, own?: string) {
      const message = direction === 'answer' ? messages.get(below) : undefined
      if (message) return shown(message)
      if (own !== undefined) return object(direction === 'answer' ? componentName(own) : requestName(own), below, direction)
      return object(componentName(direction === 'answer' ? name.replace(/Request$/, '') : name, member), below, direction)
    },
  })
  const made = new Map<string, Fields>()
  const object = (name: string, fields: Fields, direction: Direction): JsonSchema => {
    if (made.get(name) === fields) return refTo('schemas', name)
    made.set(name, fields)
    return add(name, objectSchema(fields, direction, dialect, inside(name)))
  }
  const shown = (message: DescribedMessage) => object(componentName(message.name), membersOf(message), 'answer')
  return {
    request(message, member) {
      const wanted = requestName(message.name)
      const fields = membersOf(message)
      const whole = member === undefined ? undefined : fields[member]
      return whole && member ? typeSchema(whole.type, inside(wanted)(member, 'request')) : object(wanted, fields, 'request')
    },
    answer({ answer, rows, envelope }) {
      if (!answer) throw new Error('an operation without an answer has no schema')
      if (!rows) return shown(answer)
      return object(
        `${componentName(answer.name)}List`,
        { [ROWS]: objects(ROWS, membersOf(answer)), ...(envelope && membersOf(envelope)) },
        'answer',
      )
    },
    choice,
    add,
    all: () => Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The members of a message, with those that the service adds. */
function membersOf({ fields, shown = fields }: DescribedMessage): Fields {
  return shown
}

function requestName(name: string): string {
  const wanted = componentName(name)
  return wanted.endsWith('Request') ? wanted : `${wanted}Request`
}

/** The messages that an object shows as a whole: by their members, and by those without stamps where this dialect has none. */
function messagesBy(operations: readonly DescribedOperation[], dialect: Dialect): ReadonlyMap<Fields, DescribedMessage> {
  const messages = new Map<Fields, DescribedMessage>()
  for (const { answer } of operations) {
    if (!answer) continue
    messages.set(membersOf(answer), answer)
    const isWhole = Object.entries(membersOf(answer)).every(([name, field]) => name in answer.fields || !isShownIn(dialect, field))
    if (isWhole) messages.set(answer.fields, answer)
  }
  return messages
}
