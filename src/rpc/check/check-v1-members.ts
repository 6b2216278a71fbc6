import type { Field } from '../../tables/fields.ts'
import type { Operation } from '../../tables/operation.ts'
import { asParam, type Params } from '../../tables/query.ts'
import type { MessageShape, V1OnlyShape } from '../../tables/resource.ts'
import { variablesOf } from '../../tables/uid.ts'
import type { FieldFact } from '../facts.ts'
import { jsonNameOf, readFieldType } from '../field-type.ts'
import { routeOf } from '../http-rule.ts'
import { compareMembers, compareParam, compareRows, compareType, type FactsSide, SCALARS } from './compare-members.ts'
import { factAt } from './fact-at.ts'
import type { MethodRoutes, RuledMethod } from './method-routes.ts'
import { type NamedFacts, wrongFact } from './wrong-fact.ts'

/** What the tables know of a v1 request and its answer. */
interface Described {
  readonly params?: Params
  readonly ownParams?: readonly string[]
  readonly request?: MessageShape
  readonly bodyIs?: string
  readonly answer: MessageShape & { readonly shown?: MessageShape['fields'] }
  readonly rows?: true
  readonly envelope?: MessageShape
}

/** Checks what an operation takes and answers against its method of v1, as far as the tables know it. Throws a sentence. */
export function checkV1Members(facts: NamedFacts, methods: MethodRoutes, operation: Operation, shape: V1OnlyShape | undefined): void {
  const method = methods.get(routeOf(operation))
  const { answer } = operation
  const described: Described | undefined = shape ?? (answer && { ...operation, answer })
  if (!method || !described) return
  checkQuery(facts, operation, method, described)
  if (described.request) checkBody(facts, operation.id, method, described.request, described.bodyIs)
  checkAnswer(facts, operation.id, method, described)
}

const side = (facts: NamedFacts, whole: boolean): FactsSide => ({
  facts,
  scalars: SCALARS,
  whole,
  paths: (name, { only }) => (only === 'specification' ? [] : [name]),
  valuesOf: ({ rows, v1Only }) => {
    const values = [...rows.map(([name, , number]) => [name, number] as const), ...v1Only]
    return values.some(([, number]) => number !== undefined) ? values : undefined
  },
  checkPresence(where, { presence, oneof, json, type }: Field, [, text, more]: FieldFact) {
    if (oneof !== more?.oneof) throw wrongFact(facts, where, `is in ${more?.oneof ?? 'no'} oneof, but the table says ${oneof ?? 'none'}`)
    const isOptional = readFieldType(text)?.label === 'optional'
    if (oneof === undefined && type.kind !== 'object' && isOptional !== (presence === 'optional')) {
      throw wrongFact(facts, where, `has type ${text}, but the table says that it is ${presence}`)
    }
    const name = where.slice(where.lastIndexOf('.') + 1)
    const own = more?.json ?? jsonNameOf(name)
    if (own !== (json ?? jsonNameOf(name)))
      throw wrongFact(facts, where, `has the JSON name ${own}, but the table says ${json ?? jsonNameOf(name)}`)
  },
})

function checkQuery(
  facts: NamedFacts,
  { id, template }: Operation,
  { in: input, rule }: RuledMethod,
  { params = {}, ownParams = [] }: Described,
): void {
  for (const [name, row] of Object.entries(params)) {
    compareParam(side(facts, false), id, `${input}.${name}`, asParam(row), factAt(facts, input, name))
  }
  if (rule.method !== 'GET') return
  const known = new Set([...Object.keys(params), ...ownParams, ...variablesOf(template)].map((name) => name.split('.')[0]))
  for (const [name, [, text]] of Object.entries(facts.messages[input] ?? {})) {
    // A query cannot hold a list of messages.
    const isList = text.startsWith('repeated ') && text.slice('repeated '.length) in facts.messages
    if (!known.has(name) && !isList) throw wrongFact(facts, `${input}.${name}`, `is no parameter of ${id}`)
  }
}

function checkBody(
  facts: NamedFacts,
  id: string,
  { in: input, rule }: RuledMethod,
  request: MessageShape,
  bodyIs: string | undefined,
): void {
  const { body = '*' } = rule
  const fact = body === '*' ? undefined : factAt(facts, input, body)
  const type = bodyIs === undefined ? ({ kind: 'object', fields: request.fields } as const) : request.fields[bodyIs]!.type
  if (fact) compareType(side(facts, false), id, `${input}.${body}`, type, fact)
  else compareMembers(side(facts, false), id, request.fields, input)
}

function checkAnswer(facts: NamedFacts, id: string, { out }: RuledMethod, { answer, rows, envelope }: Described): void {
  const fields = answer.shown ?? answer.fields
  if (!rows) {
    compareMembers(side(facts, true), id, fields, out)
    return
  }
  compareRows(side(facts, true), id, `${out}.${ROWS}`, fields, factAt(facts, out, ROWS))
  for (const name of Object.keys(facts.messages[out] ?? {})) {
    if (name !== ROWS && !envelope?.fields[name]) throw wrongFact(facts, `${out}.${name}`, `is no member of the answer of ${id}`)
  }
  if (envelope) compareMembers(side(facts, false), id, envelope.fields, out)
}

/** The field of a v1 list that holds its rows. */
const ROWS = 'items'
