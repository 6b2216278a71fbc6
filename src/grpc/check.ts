import type { EnumMap, Field, Fields, FieldType, Source } from '../tables/fields.ts'
import type { Mapping, Operation } from '../tables/operation.ts'
import { asParam, type Param, type Params } from '../tables/query.ts'
import type { MessageShape, V1OnlyShape } from '../tables/resource.ts'
import { ROWS } from '../tables/turn.ts'
import { snakeCase, variablesOf } from '../tables/uid.ts'
import {
  type Facts,
  type FactsOfBoth,
  type FieldFact,
  type FieldTypeParts,
  type HttpRule,
  isOfBoth,
  jsonNameOf,
  type MethodFact,
  readFieldType,
  routeOf,
  ruleOf,
} from './facts.ts'

/** The route of a v2 call as a table writes it: `GET /iam/v2/roles/{id}` → `GET /iam/v2/roles/{}`. */
function callRoute(call: string): string {
  const [method, template = ''] = call.split(' ')
  return routeOf({ method: method as Operation['method'], template })
}

/** Returns the field at a dotted path of a message: `uidp.descendants_of`. */
function factAt({ messages }: Facts, message: string, path: string): FieldFact | undefined {
  const dot = path.indexOf('.')
  const fact = messages[message]?.[dot < 0 ? path : path.slice(0, dot)]
  if (!fact || dot < 0) return fact
  return factAt({ messages } as Facts, readFieldType(fact[1])?.of ?? '', path.slice(dot + 1))
}

/** The facts of a version beside the name of their file. */
interface NamedFacts extends Facts {
  readonly api: 'v1' | 'v2'
}

/** Returns the error that stops the start: `mappings/grpc/v1.json: chainguard.platform.iam.Group.name has number 0, …`. */
function wrongFact({ api }: NamedFacts, where: string, problem: string): Error {
  return new Error(`mappings/grpc/${api}.json: ${where} ${problem}`)
}

/**
 * Checks that each operation has one method of v1, each method of v1 one operation, and each v2 call of a table one method of v2.
 * Every rule's variables and body must be fields. Throws a sentence.
 */
function checkMethods(
  v1: NamedFacts,
  v1Methods: MethodRoutes,
  v2: NamedFacts,
  v2Methods: MethodRoutes,
  mappings: readonly Mapping[],
): void {
  const used = new Set<string>()
  for (const { operations } of mappings) {
    for (const operation of operations) {
      checkOperation(v1, v1Methods, operation)
      used.add(routeOf(operation))
      for (const call of operation.calls) {
        used.add(callRoute(call))
        if (!v2Methods.has(callRoute(call))) throw wrongFact(v2, operation.id, `calls ${call}, which no method has as its route`)
      }
    }
  }
  for (const [facts, methods] of [
    [v1, v1Methods],
    [v2, v2Methods],
  ] as const) {
    for (const [route, method] of methods) {
      if (!used.has(route) && !isOfBoth(method.rule)) throw wrongFact(facts, method.name, `has the route ${route}, which no table has`)
      checkRule(facts, method)
    }
  }
}

function checkOperation(v1: NamedFacts, methods: MethodRoutes, operation: Operation): void {
  const method = methods.get(routeOf(operation))
  if (!method) throw wrongFact(v1, operation.id, `has the route ${operation.method} ${operation.template}, which no method has`)
  // An update names its variable by the field of a field: `subscription.id` is `id` to the tables.
  const names = variablesOf(method.rule.template).map((name) => name.split('.').at(-1))
  const own = variablesOf(operation.template)
  if (String(names) !== String(own))
    throw wrongFact(v1, method.name, `has the variables ${names} in its route, but ${operation.id} has ${own}`)
}

function checkRule(facts: NamedFacts, { name, in: input, rule }: RuledMethod): void {
  for (const variable of variablesOf(rule.template)) {
    const type = factAt(facts, input, variable)?.[1]
    if (type !== 'string') throw wrongFact(facts, name, `has ${variable} in its route, but ${input}.${variable} is ${type ?? 'not there'}`)
  }
  if (rule.body === undefined || rule.body === '*') return
  const body = factAt(facts, input, rule.body)
  if (!body || !readFieldType(body[1])) throw wrongFact(facts, name, `has the body ${rule.body}, but ${input} has no such field`)
}

const KEYS: ReadonlySet<string> = new Set(['bool', 'int32', 'int64', 'string', 'uint32'])

/** The types that no facts describe: scalars, and what the library knows of google.protobuf. */
const BUILT_IN: ReadonlySet<string> = new Set([
  ...KEYS,
  'bytes',
  'double',
  'uint64',
  ...['Any', 'Duration', 'Empty', 'FieldMask', 'Struct', 'Timestamp', 'Value'].map((name) => `google.protobuf.${name}`),
])

const HIGHEST = 2 ** 29 - 1

/** Checks what messages, enums and methods say for themselves: known types, numbers in range, no number or name twice. Throws a sentence. */
function checkTypes(facts: NamedFacts): void {
  for (const [message, fields] of Object.entries(facts.messages)) {
    const seen = new Map<string | number, string>()
    for (const [name, fact] of Object.entries(fields)) {
      checkField(facts, `${message}.${name}`, fact)
      const [number, , more] = fact
      claim(facts, message, seen, name, number)
      claim(facts, message, seen, name, more?.json ?? jsonNameOf(name))
    }
  }
  for (const [name, values] of Object.entries(facts.enums)) checkEnum(facts, name, values)
  for (const [service, methods] of Object.entries(facts.services)) {
    for (const [method, fact] of Object.entries(methods)) {
      for (const type of [fact.in, fact.out]) {
        if (type in facts.messages || type === 'google.protobuf.Empty') continue
        throw wrongFact(facts, `${service}/${method}`, `takes or answers ${type}, which is not a message`)
      }
    }
  }
}

/** Two members must share neither a number nor a spelling. */
function claim(facts: NamedFacts, outer: string, seen: Map<string | number, string>, name: string, key: string | number): void {
  const other = seen.get(key)
  if (other !== undefined) throw wrongFact(facts, `${outer}.${name}`, `has ${key}, which ${other} has too`)
  seen.set(key, name)
}

function checkField(facts: NamedFacts, where: string, [number, type, more]: FieldFact): void {
  // From 19000 to 19999 protobuf keeps the numbers for itself.
  if (!Number.isInteger(number) || number < 1 || number > HIGHEST || (number >= 19_000 && number < 20_000)) {
    throw wrongFact(facts, where, `has number ${number}, which no field may have`)
  }
  const parts = readFieldType(type)
  if (!parts || !(BUILT_IN.has(parts.of) || parts.of in facts.messages || parts.of in facts.enums)) {
    throw wrongFact(facts, where, `has type ${type}, which is not known`)
  }
  if (parts.key !== undefined && !KEYS.has(parts.key)) throw wrongFact(facts, where, `has keys of type ${parts.key}`)
  if (more?.oneof !== undefined && (parts.label !== undefined || parts.key !== undefined)) {
    throw wrongFact(facts, where, `has type ${type}, which cannot be in oneof ${more.oneof}`)
  }
}

function checkEnum(facts: NamedFacts, name: string, values: Readonly<Record<string, number>>): void {
  const seen = new Map<string | number, string>()
  for (const [value, number] of Object.entries(values)) {
    if (!Number.isInteger(number) || (number | 0) !== number)
      throw wrongFact(facts, `${name}.${value}`, `has number ${number}, not one of 32 bits`)
    if (seen.size === 0 && number !== 0) throw wrongFact(facts, `${name}.${value}`, `has number ${number}; the first value has 0`)
    claim(facts, name, seen, value, number)
  }
}

/** The scalars of each kind of member. */
const SCALARS: FactsSide['scalars'] = {
  text: ['string'],
  flag: ['bool'],
  int: ['int32', 'uint32'],
  long: ['int64'],
  time: ['google.protobuf.Timestamp'],
  duration: ['google.protobuf.Duration'],
  bytes: ['bytes'],
}

/** How the facts of a version are compared with the members of a table. */
interface FactsSide {
  readonly facts: NamedFacts
  /** Whether the table must have every field of the message. */
  readonly whole?: boolean
  readonly scalars: Readonly<Partial<Record<FieldType['kind'], readonly string[]>>>
  /** The fields of the message that hold a member, as dotted paths. An empty path stands for the message itself. */
  paths(name: string, field: Field): readonly string[]
  /** The values of an enum that a table lists, with their numbers where it has them; undefined if the facts hold it as a string. */
  valuesOf(of: EnumMap): readonly (readonly [name: string, number: number | undefined])[] | undefined
  /** Checks how a member shows that it is unset, and its JSON name. */
  checkPresence?(where: string, field: Field, fact: FieldFact): void
}

/** Members that v1's published contract of REST has and its protos do not have, so that no number of theirs is known. */
const WITHOUT_NUMBER: ReadonlySet<string> = new Set(['chainguard.platform.auth.WhoAmI.Capability.capabilities'])

/** Compares a message with the members that a table gives it; `by` is the operation that says so. Throws a sentence. */
function compareMembers(side: FactsSide, by: string, fields: Fields, message: string): void {
  for (const name of side.whole ? Object.keys(side.facts.messages[message] ?? {}) : []) {
    if (!Object.hasOwn(fields, name)) throw wrongFact(side.facts, `${message}.${name}`, `is not a member of the answer of ${by}`)
  }
  for (const [name, field] of Object.entries(fields)) {
    for (const path of side.paths(name, field)) {
      if (path === '' && field.type.kind === 'object') compareMembers(side, by, field.type.fields, message)
      if (path === '') continue
      const where = `${message}.${path}`
      const fact = factAt(side.facts, message, path)
      if (!fact && WITHOUT_NUMBER.has(where)) continue
      compareType(side, by, where, field.type, fact)
      if (fact) side.checkPresence?.(where, field, fact)
    }
  }
}

/** Compares the type of a member or parameter with the type of its field. Throws a sentence. */
function compareType(side: FactsSide, by: string, where: string, type: FieldType, fact: FieldFact | undefined): void {
  if (!fact) throw wrongFact(side.facts, where, `is missing; ${by} needs it`)
  const [, text] = fact
  const parts = readFieldType(text)
  if (!parts || !isOfType(side, by, type, parts)) {
    throw wrongFact(side.facts, where, `has type ${text}, but ${by} has another: ${kindOf(type)}`)
  }
}

function kindOf(type: FieldType): string {
  return type.kind === 'list' || type.kind === 'map' ? `${type.kind} of ${kindOf(type.of)}` : type.kind
}

/** A query knows neither the width of an integer nor the form of a mask. */
const QUERY_SCALARS: FactsSide['scalars'] = { int: ['int32', 'uint32', 'int64'], text: ['string', 'google.protobuf.FieldMask'] }

/** Compares the type of a query parameter with the type of its field. Throws a sentence. */
function compareParam(
  side: FactsSide,
  by: string,
  where: string,
  { kind, of, many, neverTaken }: Param,
  fact: FieldFact | undefined,
): void {
  const single: FieldType = neverTaken ? ANY : kind === 'choice' ? { kind, of: of! } : { kind }
  const type: FieldType = many || neverTaken ? { kind: 'list', of: single } : single
  compareType({ ...side, scalars: { ...side.scalars, ...QUERY_SCALARS } }, by, where, type, fact)
}

/** The type of the rows of an answer. */
const rowsOf = (fields: Fields): FieldType => ({ kind: 'list', of: { kind: 'object', fields } })

/** A value of which no member is known. */
const ANY: FieldType = { kind: 'object', fields: {} }

function isOfType(side: FactsSide, by: string, type: FieldType, { label, key, of }: FieldTypeParts): boolean {
  const isList = type.kind === 'list'
  const isMap = type.kind === 'map'
  if (isList !== (label === 'repeated') || isMap !== (key !== undefined)) return false
  const single = isList || isMap ? type.of : type
  if (single.kind === 'choice') return compareEnum(side, by, single.of, of)
  if (single.kind !== 'object') return side.scalars[single.kind]?.includes(of) ?? false
  if (Object.keys(single.fields).length === 0) return true
  if (!(of in side.facts.messages)) return false
  compareMembers(side, by, single.fields, of)
  return true
}

function compareEnum(side: FactsSide, by: string, table: EnumMap, name: string): boolean {
  const { facts } = side
  const values = side.valuesOf(table)
  if (values === undefined) return name === 'string'
  const known = facts.enums[name]
  if (!known) return false
  for (const [value, number] of values) {
    const own = known[value]
    if (own === undefined) throw wrongFact(facts, `${name}.${value}`, `is missing; ${by} needs it`)
    if (number !== undefined && own !== number) throw wrongFact(facts, `${name}.${value}`, `has number ${own}, but ${by} has ${number}`)
  }
  const names = new Set(values.map(([value]) => value))
  for (const value of side.whole ? Object.keys(known) : []) {
    if (!names.has(value)) throw wrongFact(facts, `${name}.${value}`, `is not a value of ${by}`)
  }
  return true
}

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
function checkV1Members(facts: NamedFacts, methods: MethodRoutes, operation: Operation, shape: V1OnlyShape | undefined): void {
  const method = methods.get(routeOf(operation))
  const { answer } = operation
  const described: Described | undefined = shape ?? (answer && { ...operation, answer })
  if (!method || !described) return
  checkQuery(facts, operation, method, described)
  if (described.request) checkBody(facts, operation.id, method, described.request, described.bodyIs)
  checkAnswer(facts, operation.id, method, described)
}

const v1Side = (facts: NamedFacts, whole: boolean): FactsSide => ({
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
    compareParam(v1Side(facts, false), id, `${input}.${name}`, asParam(row), factAt(facts, input, name))
  }
  if (rule.method !== 'GET') return
  const known = new Set([...Object.keys(params), ...ownParams, ...variablesOf(template)].map((name) => name.split('.')[0]))
  for (const [name, [, text]] of Object.entries(facts.messages[input] ?? {})) {
    // A query cannot hold a list of messages.
    const isList = text.startsWith('repeated ') && text.slice('repeated '.length) in facts.messages
    if (!known.has(name) && !isList) throw wrongFact(facts, `${input}.${name}`, `is not a parameter of ${id}`)
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
  if (fact) compareType(v1Side(facts, false), id, `${input}.${body}`, type, fact)
  else compareMembers(v1Side(facts, false), id, request.fields, input)
}

function checkAnswer(facts: NamedFacts, id: string, { out }: RuledMethod, { answer, rows, envelope }: Described): void {
  const fields = answer.shown ?? answer.fields
  if (!rows) {
    compareMembers(v1Side(facts, true), id, fields, out)
    return
  }
  compareType(v1Side(facts, true), id, `${out}.${ROWS}`, rowsOf(fields), factAt(facts, out, ROWS))
  for (const name of Object.keys(facts.messages[out] ?? {})) {
    if (name !== ROWS && !envelope?.fields[name]) throw wrongFact(facts, `${out}.${name}`, `is not a member of the answer of ${id}`)
  }
  if (envelope) compareMembers(v1Side(facts, false), id, envelope.fields, out)
}

const v2Side = (facts: NamedFacts): FactsSide => ({
  facts,
  // v2 counts in 64 bits what v1 counted in 32.
  scalars: { ...SCALARS, int: ['int32', 'int64'] },
  // A field that another v2 resource holds is not in this message.
  paths: (_, { source, access }) => (access === 'elsewhere' ? [] : pathsOf(source)),
  valuesOf: ({ rows }) => rows.map(([, name, , number]) => [name, number]),
})

/** `claimMatch.issuerPattern` → `claim_match.issuer_pattern`. */
function pathsOf(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return [snakeCase(source)]
  return 'parentOf' in source ? pathsOf(source.parentOf) : source.firstOf.flatMap(pathsOf)
}

/**
 * Checks the v2 side of an operation that is one v2 call: where its parameters, its body and its answer come from. Throws a sentence.
 * The plans of other operations put their answers together from several messages.
 */
function checkV2Members(facts: NamedFacts, methods: MethodRoutes, operation: Operation): void {
  const { id, kind, calls, params, request, answer, rowsIn } = operation
  const method = methods.get(callRoute(calls[0] ?? ''))
  if (!method || kind !== 'direct') return
  const { in: input, out, rule } = method
  for (const row of Object.values(params)) {
    const param = asParam(row)
    if (param.v2 === '') continue
    compareParam(v2Side(facts), id, `${input}.${param.v2}`, param, factAt(facts, input, param.v2))
  }
  const body = rule.body === undefined || rule.body === '*' ? undefined : factAt(facts, input, rule.body)
  if (request && body) compareType(v2Side(facts), id, `${input}.${rule.body}`, { kind: 'object', fields: request.fields }, body)
  if (answer && rowsIn === undefined) compareMembers(v2Side(facts), id, answer.shown, out)
  if (answer && rowsIn !== undefined) {
    const name = snakeCase(rowsIn)
    compareType(v2Side(facts), id, `${out}.${name}`, rowsOf(answer.shown), factAt(facts, out, name))
  }
}

/** A method with an http rule. */
interface RuledMethod extends MethodFact {
  /** `chainguard.platform.iam.Groups/List`. */
  readonly name: string
  readonly rule: HttpRule
}

/** Methods by their routes, such as `GET /iam/v1/roles/{}`. */
type MethodRoutes = ReadonlyMap<string, RuledMethod>

/** Methods without an http rule: REST cannot carry them, so no operation describes them. */
const WITHOUT_RULE: Readonly<Record<string, string>> = {
  'chainguard.platform.iam.GroupInvites/CreateWithGroup': 'makes a group and an invite at once; v1 publishes no route for it',
}

/** Returns the methods with a rule. Throws a sentence if a rule is missing, or two methods have one route. */
function methodsOf(facts: NamedFacts): MethodRoutes {
  const routes = new Map<string, RuledMethod>()
  for (const [service, methods] of Object.entries(facts.services)) {
    for (const [method, fact] of Object.entries(methods)) {
      const name = `${service}/${method}`
      const rule = ruleOf(fact.http)
      if (!rule && name in WITHOUT_RULE) continue
      if (!rule) throw wrongFact(facts, name, 'has no http rule')
      const other = routes.get(routeOf(rule))
      if (other) throw wrongFact(facts, name, `has the route of ${other.name}, ${routeOf(rule)}`)
      routes.set(routeOf(rule), { ...fact, name, rule })
    }
  }
  for (const name of Object.keys(WITHOUT_RULE)) {
    const [service = '', method = ''] = name.split('/')
    if (facts.api === 'v1' && !facts.services[service]?.[method]) throw wrongFact(facts, name, 'is missing')
  }
  return routes
}

/** What the tables know of operations that v1 alone serves, by their ids. */
export type Shapes = Readonly<Record<string, V1OnlyShape>>

/**
 * Checks the facts at start, each for itself and against the tables. It builds no descriptors and keeps nothing.
 * Throws a sentence that names the file, the message and the field. A number that is wrong and free is left to the tests: no table has it.
 */
export function checkFacts({ v1, v2 }: FactsOfBoth, mappings: readonly Mapping[], shapes: Shapes): void {
  const [first, second] = [
    { ...v1, api: 'v1' as const },
    { ...v2, api: 'v2' as const },
  ]
  for (const facts of [first, second]) checkTypes(facts)
  const [v1Methods, v2Methods] = [methodsOf(first), methodsOf(second)]
  checkMethods(first, v1Methods, second, v2Methods, mappings)
  for (const operation of mappings.flatMap(({ operations }) => operations)) {
    checkV1Members(first, v1Methods, operation, shapes[operation.id])
    checkV2Members(second, v2Methods, operation)
  }
}
