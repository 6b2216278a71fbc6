import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describe, expect, type TestContext, test } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import type { EnumRow, Field, Fields, FieldType, Source } from '../../../src/tables/fields.ts'
import type { Mapping, Operation } from '../../../src/tables/operation.ts'
import { WINDOW_PARAMETERS } from '../../../src/tables/pages.ts'
import { asParam, ORDER_PARAMETER } from '../../../src/tables/query.ts'
import { camelCase, snakeCase, variablesOf } from '../../../src/tables/uid.ts'
import { answers } from '../../mappings/transcripts.ts'
import { operations } from '../../properties/forms.ts'
import { documentOf } from '../../tools/openapi-documents.ts'

/** The parts of the machine-readable facts that the check reads. */
interface V1Member {
  readonly name: string
  readonly json: string
  readonly type: string
  readonly repeated?: boolean
  readonly mapKey?: string
  readonly oneof?: string
  readonly omitWhenUnset?: boolean
}

interface Pair {
  readonly v1: string | null
  readonly v2: string | null
  readonly v1In?: string
  readonly v2Op?: string
  readonly v2Fallback?: readonly string[]
}

interface FactOperation {
  readonly id: string
  readonly domain: string
  readonly kind: string
  readonly v1: {
    readonly method: string
    readonly protoPath: string
    readonly response: string
    readonly body: string | null
    readonly pathParams: readonly { readonly proto: string }[]
    readonly queryParams: readonly { readonly name: string; readonly type: string }[]
    readonly bodyFields: readonly { readonly name: string }[]
    readonly auth: { readonly auth: boolean }
  }
  readonly v2: { readonly method: string; readonly protoPath: string } | null
  readonly requestMap: readonly Pair[]
  readonly queryMap?: readonly Pair[]
  readonly responseMap: readonly Pair[]
  readonly updateMask?: {
    readonly alwaysJson?: readonly string[]
    readonly conditional?: Readonly<Record<string, string>>
    readonly wildcard?: string
  }
}

interface Facts {
  readonly orderBy: Readonly<Record<string, string>>
  readonly operations: readonly FactOperation[]
  readonly missingFromOpenapi: readonly {
    readonly v1: { readonly method: string; readonly path: string; readonly rpc: string }
    readonly kind: string
  }[]
  readonly messages: { readonly v1: Readonly<Record<string, readonly V1Member[]>> }
  readonly enums: Readonly<
    Record<
      string,
      { readonly v1Enum: string; readonly v1Numbers: Readonly<Record<string, number>>; readonly v1ToV2: Readonly<Record<string, string>> }
    >
  >
}

/** A template as the tables write it: `{digest=*}` is `{digest}`, variable names do not count. */
function shapeOf(template: string): string {
  return template.replace(/\{[^}=]+(=\*\*?)?\}/g, (_, stars: string | undefined) => (stars === '=**' ? '{**}' : '{}'))
}

/** The rows inside a member that holds objects, alone, in a list or in a map. */
function innerFields(type: FieldType): Fields | undefined {
  const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
  return inner.kind === 'object' ? inner.fields : undefined
}

/** What the tables lack (`missing`), have too much (`extra`) or say otherwise (`different`), as sentences. */
interface Findings {
  readonly missing: string[]
  readonly extra: string[]
  readonly different: string[]
}

function noFindings(): Findings {
  return { missing: [], extra: [], different: [] }
}

/** Compares the members of an answer with the published message: names, types, presence, enums, sources. */
function compareAnswer(facts: Facts, fact: FactOperation, operation: Operation, findings: Findings): void {
  const members = facts.messages.v1[fact.v1.response] ?? []
  const rows = members.find(({ name, repeated }) => repeated && (name === 'items' || name === 'role_bindings'))
  const sources = new Map(fact.responseMap.map((pair) => [pair.v1, pair]))
  const compareFields = (where: string, expected: readonly V1Member[], fields: Fields, prefix: string) => {
    // What only the specification's spelling shows is no part of the published messages.
    const left = new Set(Object.keys(fields).filter((name) => !fields[name]?.only))
    for (const member of expected) {
      const field = fields[member.name]
      left.delete(member.name)
      if (!field || field.access === 'writeOnly') {
        if (!field) findings.missing.push(`${where}: member ${member.name}`)
        continue
      }
      const label = `${where}.${member.name}`
      compareMember(facts, label, member, field, findings)
      const inner = innerFields(field.type)
      if (inner && Object.keys(inner).length > 0)
        compareFields(label, facts.messages.v1[member.type] ?? [], inner, `${prefix}${member.name}${suffix(member)}.`)
      // What an emulation computes has no single source to compare.
      const pair = sources.get(`${prefix}${member.name}${suffix(member)}`)
      if (operation.kind !== 'emulated' && pair?.v2 && !pair.v2Op && !matchesSource(pair.v2, field.source))
        findings.different.push(`${label} reads ${JSON.stringify(field.source)}, the facts say ${pair.v2}`)
    }
    for (const name of left) findings.extra.push(`${where}: member ${name}`)
  }
  // A list of an action stands in its answer as any other member; a List's rows are the answer and the rest is its envelope.
  if (rows && !operation.answer?.fields[rows.name]) {
    compareFields(operation.id, facts.messages.v1[rows.type] ?? [], operation.answer?.fields ?? {}, `${rows.name}[].`)
    compareFields(
      `${operation.id} envelope`,
      members.filter((member) => member !== rows),
      operation.envelope?.fields ?? {},
      '',
    )
  } else {
    compareFields(operation.id, members, operation.answer?.fields ?? {}, '')
  }
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 'text',
  bool: 'flag',
  int32: 'int',
  uint32: 'int',
  int64: 'long',
  Timestamp: 'time',
  Duration: 'duration',
  bytes: 'bytes',
}

function compareMember(facts: Facts, label: string, member: V1Member, field: Field, findings: Findings): void {
  const json = field.json ?? camelCase(member.name)
  if (json !== member.json) findings.different.push(`${label} is published as ${json}, the facts say ${member.json}`)
  const absent = member.omitWhenUnset ? 'optional' : 'implicit'
  if (field.presence !== absent) findings.different.push(`${label} is ${field.presence} when unset, the facts say ${absent}`)
  const container = member.mapKey ? 'map' : member.repeated ? 'list' : undefined
  const type = field.type
  if (container && type.kind !== container) return void findings.different.push(`${label} is a ${type.kind}, the facts say ${container}`)
  const scalar = type.kind === 'list' || type.kind === 'map' ? type.of : type
  const values = Object.values(facts.enums).find(({ v1Enum }) => v1Enum === member.type)
  const kind = SCALARS[member.type] ?? (facts.messages.v1[member.type] ? 'object' : 'choice')
  // Capabilities are strings in v1 and an enum in v2 (facts §18).
  if (scalar.kind !== kind && !(kind === 'text' && scalar.kind === 'choice'))
    findings.different.push(`${label} is ${scalar.kind}, the facts say ${kind}`)
  if (scalar.kind === 'choice' && values) compareEnum(label, scalar.of.rows, values, findings)
}

function compareEnum(label: string, rows: readonly EnumRow[], values: Facts['enums'][string], findings: Findings): void {
  const left = new Map(rows.map(([v1, v2, number]) => [v1, { v2, number }]))
  for (const [v1, v2] of Object.entries(values.v1ToV2)) {
    const row = left.get(v1)
    left.delete(v1)
    if (!row) findings.missing.push(`${label}: enum value ${v1}`)
    else if (row.v2 !== v2 || row.number !== values.v1Numbers[v1])
      findings.different.push(`${label}: ${v1} is ${row.v2} (${row.number}), the facts say ${v2} (${values.v1Numbers[v1]})`)
  }
  for (const v1 of left.keys()) findings.extra.push(`${label}: enum value ${v1}`)
}

function suffix({ mapKey, repeated }: V1Member): string {
  return mapKey ? '{}' : repeated ? '[]' : ''
}

function matchesSource(path: string, source: Source | undefined): boolean {
  if (source === undefined) return false
  if (typeof source !== 'string') return 'firstOf' in source ? source.firstOf.some((one) => matchesSource(path, one)) : true
  const plain = path.replaceAll('[]', '').replaceAll('{}', '')
  return source === '' || plain === source || plain.endsWith(`.${source}`)
}

/** Query parameters of the specification's v1 that no proto has (specification §9.5). */
const SPECIFICATION_ONLY = new Set([ORDER_PARAMETER, ...WINDOW_PARAMETERS])

/** Compares every operation of the mapped domains with the facts: routes, kinds, parameters, members, types, enums, masks. */
function compare(facts: Facts, mappings: readonly Mapping[]): Findings {
  const findings = noFindings()
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const byRoute = new Map(operations.map((operation) => [`${operation.method} ${shapeOf(operation.template)}`, operation]))
  const domains = new Set(mappings.map(({ domain }) => domain))
  for (const fact of facts.operations.filter(({ domain }) => domains.has(domain))) {
    const route = `${fact.v1.method} ${shapeOf(fact.v1.protoPath)}`
    const operation = byRoute.get(route)
    byRoute.delete(route)
    if (operation) compareOperation(facts, fact, operation, findings)
    else findings.missing.push(`operation ${fact.id}: ${route}`)
  }
  for (const { v1, kind } of facts.missingFromOpenapi) {
    const route = `${v1.method} ${shapeOf(v1.path)}`
    if (byRoute.get(route)?.kind !== kind) findings.missing.push(`operation ${v1.rpc}: ${route}`)
    byRoute.delete(route)
  }
  const described = new Set(facts.operations.map(({ domain }) => domain))
  for (const mapping of mappings.filter(({ domain }) => !described.has(domain)))
    for (const { method, template } of mapping.operations) byRoute.delete(`${method} ${shapeOf(template)}`)
  for (const [route, { id }] of byRoute) findings.extra.push(`operation ${id}: ${route}`)
  return findings
}

function compareOperation(facts: Facts, fact: FactOperation, operation: Operation, findings: Findings): void {
  if (fact.kind !== operation.kind) findings.different.push(`${operation.id} is ${operation.kind}, the facts say ${fact.kind}`)
  compareVariables(fact, operation, findings)
  const isOpen = operation.takesNoToken ?? false
  if (isOpen === fact.v1.auth.auth) findings.different.push(`${operation.id} asks for a token: ${!isOpen}, the facts say otherwise`)
  if (operation.kind === 'v1-only') return
  const calls = operation.calls.map((call) => shapeOf(call.replaceAll(/\{[^}]+\}/g, '{x=**}')).replaceAll('{**}', '{}'))
  const primary = `${fact.v2?.method} ${shapeOf(fact.v2?.protoPath ?? '').replaceAll('{**}', '{}')}`
  if (!calls.includes(primary)) findings.different.push(`${operation.id} never calls ${primary}`)
  const known = new Set([...Object.keys(operation.params), ...operation.ownParams])
  for (const { name } of fact.v1.queryParams) if (!known.delete(name)) findings.missing.push(`${operation.id}: query parameter ${name}`)
  compareV1Values(facts, fact, operation, findings)
  for (const name of known) if (!SPECIFICATION_ONLY.has(name)) findings.extra.push(`${operation.id}: query parameter ${name}`)
  compareAnswer(facts, fact, operation, findings)
  compareRequest(fact, operation, findings)
  compareMask(fact, operation, findings)
  if (operation.orders) compareOrders(operation.id, operation.orders.rows, facts.orderBy, findings)
}

/** Errors name path variables, so that their names count, not their number alone. */
function compareVariables({ v1 }: FactOperation, { id, template }: Operation, findings: Findings): void {
  const names = v1.pathParams.map(({ proto }) => proto.slice(proto.lastIndexOf('.') + 1)).join(', ')
  const variables = variablesOf(template).join(', ')
  if (names !== variables) findings.different.push(`${id} has the path variables ${variables || 'none'}, the facts say ${names || 'none'}`)
}

/** Query parameters that v2 lacks, or of which it lacks values, are v1's alone. `order_by` has a table of its own, an id becomes a path. */
function compareV1Values(facts: Facts, { v1, queryMap = [] }: FactOperation, { id, params }: Operation, findings: Findings): void {
  for (const { name, type } of v1.queryParams) {
    const row = params[name]
    const pair = queryMap.find((one) => one.v1 === name)
    const values = Object.values(facts.enums).find(({ v1Enum }) => v1Enum.endsWith(type.replace('repeated ', '.')))
    const lacking = values ? Object.entries(values.v1Numbers).filter(([value]) => values.v1ToV2[value] === undefined) : []
    const param = row === undefined ? undefined : asParam(row)
    compareTexts(`${id}?${name} leaves to v1`, String(param?.of?.v1Only ?? ''), String(lacking), findings)
    const isLacking = pair !== undefined && pair.v2 === null && pair.v2Op === undefined && type === 'bool' && v1.method === 'GET'
    if (isLacking !== (param?.v1Only !== undefined))
      findings.different.push(`${id}?${name} is v1's alone: ${!isLacking}, the facts say otherwise`)
  }
}

/** v1's sort orders by name, in the order of their numbers, with what v2 calls them (facts §18). */
function compareOrders(id: string, rows: readonly EnumRow[], orders: Facts['orderBy'], findings: Findings): void {
  const own = rows.map(([v1, v2, number]) => `${number} ${v1} ${v2}`).join(', ')
  compareTexts(
    `${id} sorts by`,
    own,
    Object.entries(orders)
      .map(([v1, v2], number) => `${number} ${v1} ${v2}`)
      .join(', '),
    findings,
  )
}

/** `*` where the facts call it safe; otherwise exactly their paths, the conditional ones under a condition (facts §13.2). */
function compareMask({ updateMask }: FactOperation, { id, mask }: Operation, findings: Findings): void {
  const { alwaysJson, conditional = {}, wildcard } = updateMask ?? {}
  if (!alwaysJson) {
    if (mask) findings.extra.push(`${id}: a field mask`)
  } else if (!mask) findings.missing.push(`${id}: a field mask`)
  else if (mask === '*') {
    if (!wildcard?.startsWith('safe')) findings.different.push(`${id} replaces by *, the facts say ${wildcard}`)
  } else {
    const paths = (rule: readonly string[]) => rule.map(snakeCase).sort().join(', ')
    compareTexts(`${id} always names`, paths(mask.always), paths(alwaysJson), findings)
    compareTexts(`${id} names when set`, paths(mask.whenSet ?? []), paths(Object.keys(conditional)), findings)
  }
}

function compareTexts(label: string, own: string, facts: string, findings: Findings): void {
  if (own !== facts) findings.different.push(`${label} ${own || 'nothing'}, the facts say ${facts || 'nothing'}`)
}

/** Members of a v1 body: each one that has a v2 place is written there, each one without is dropped. */
function compareRequest(fact: FactOperation, operation: Operation, findings: Findings): void {
  const written = new Set(operation.request ? writtenPaths(operation.request.fields, '') : [])
  for (const pair of fact.requestMap.filter(({ v1In }) => v1In === 'body' || v1In === undefined)) {
    // A body that is a bare array is bound to one member of the request message.
    const path =
      pair.v1
        ?.replace(/^\[\]/, fact.v1.body ?? '')
        .replaceAll('[]', '')
        .replaceAll('{}', '')
        .replace(/^\./, '') ?? ''
    const known = !pair.v2 || written.delete(path) || !fact.v1.bodyFields.some(({ name }) => name === pair.v1 || `[].${name}` === pair.v1)
    if (!known) findings.missing.push(`${operation.id}: body member ${pair.v1}`)
  }
}

function writtenPaths(fields: Fields, prefix: string): string[] {
  return Object.entries(fields).flatMap(([name, { access, type }]) => {
    if (access !== 'readWrite' && access !== 'writeOnly') return []
    const inner = innerFields(type)
    return [prefix + name, ...(inner ? writtenPaths(inner, `${prefix}${name}.`) : [])]
  })
}

/** The parts of an OpenAPI document that the check reads. */
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

interface OpenApiOperation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[]
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: unknown }>> }>>
}

/** What the loop over a v2 list adds to the filters. */
const PAGING = ['page_size', 'page_token', 'skip', 'order_by']

/** A repeated message: no gateway can read it from a query, so that the contract leaves it out (facts §7). */
const NO_QUERY_CAN_HOLD = new Set(['image_refs'])

/** Routes of a document by `METHOD /shape`, every path variable written `{}`. */
function routesOf({ paths }: OpenApi): ReadonlyMap<string, OpenApiOperation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [shape(`${method.toUpperCase()} ${path}`), operation] as const),
    ),
  )
}

function shape(route: string): string {
  return route.replace(/\{[^}]*\}/g, '{}')
}

/** Every operation of the published v1 contract in the mapped domains has a row, with its query parameters, and no row is made up. */
function compareWithV1(contract: OpenApi, mappings: readonly Mapping[]): Findings {
  const findings = noFindings()
  const operations = new Map(
    mappings.flatMap((mapping) => mapping.operations).map((one) => [shape(`${one.method} ${one.template}`), one] as const),
  )
  const published = routesOf(contract)
  const mapped = [...published].filter(([route]) => mappings.some(({ domain }) => route.split('/')[1] === domain))
  for (const [route, { parameters = [] }] of mapped) {
    const operation = operations.get(route)
    if (!operation) findings.missing.push(`operation ${route} of the v1 contract`)
    else if (operation.kind !== 'v1-only') {
      const known = new Set([...Object.keys(operation.params), ...operation.ownParams].map(camelCase))
      for (const { name, in: where } of parameters)
        if (where === 'query' && !known.has(name)) findings.missing.push(`${operation.id}: query parameter ${name} of the v1 contract`)
    }
  }
  return findings
}

/** Every v2 call that the tables name is in the v2 contract, and takes the query that it is sent. */
function compareWithV2(contract: OpenApi, mappings: readonly Mapping[]): Findings {
  const findings = noFindings()
  const published = routesOf(contract)
  for (const operation of mappings.flatMap((mapping) => mapping.operations)) {
    const unknown = operation.calls.filter((call) => !published.has(shape(call)))
    for (const call of unknown) findings.extra.push(`${operation.id}: call ${call}, which the v2 contract does not have`)
    const taken = new Set(operation.calls.flatMap((call) => published.get(shape(call))?.parameters ?? []).map(({ name }) => name))
    const ignored = sentBy(operation).filter((name) => !NO_QUERY_CAN_HOLD.has(name) && !taken.has(camelCase(name)))
    for (const name of ignored) findings.extra.push(`${operation.id}: query parameter ${name}, which v2 does not take`)
  }
  return findings
}

/** v2 query parameters that an operation sends; `updateMask` belongs to the gateway and stands in no contract. */
function sentBy({ params, rows, answer }: Operation): readonly string[] {
  const filters = Object.values(params).map((row) => asParam(row).v2)
  // The rows of a list that v2 pages are a resource; a message is a row of what v2 answers at once.
  const listed = rows && answer !== undefined && 'plural' in answer
  return [...filters.filter((name) => name !== ''), ...(listed ? PAGING : [])]
}

/** Deviations of one kind, as lines of `deviationsOf`. */
interface DocumentDeviation {
  readonly lines: RegExp
  readonly because: string
}

/** Where the document of the published dialect is not as the published contract of v1, and why. */
const documentDeviations: readonly DocumentDeviation[] = [
  { lines: /^\w+ \/sts\/.*: missing$/, because: 'the proxy passes /sts on to v2, which publishes the same paths' },
  {
    lines: /^POST \/iam\/v1\/identities: extra$/,
    because: 'the protocol buffers have it, the OpenAPI description of v1 does not (facts §2)',
  },
  {
    lines: /^\w+ \/(policies|argos|actions|skills|apko?|packages|image-recommendation)\/v1\/.*: extra$/,
    because: 'v1 publishes these paths elsewhere; v1 alone serves them (facts §2)',
  },
  {
    lines: /^GET \S+ \?(orderBy|offset|limit|page|pageSize|pageNumber|perPage): extra, /,
    because: 'the specification says that v1 lists take windows and an order (specification §9.5)',
  },
  {
    lines: /^GET \S+ \?(pageSize|skip): integer( int32)?, not (integer int32|string int64)$/,
    because: 'a number in a query is written alike, whichever type of JSON it has in a body',
  },
  {
    lines: /^(PUT|PATCH) \S+ takes \.id: extra, string$/,
    because: 'a client may send what it read; the id is marked as read-only (facts §12.7)',
  },
  {
    lines: /^(POST|PUT) \/iam\/v1\/account_associations\/\{group\} takes \.group: extra, string$/,
    because: 'as with ids: the path names the group',
  },
  {
    lines: /^(POST|PUT) \/iam\/v1\/rolebindings\/\S+ takes (\[\])?\.(group|id): missing, string$/,
    because: 'v1 ignores both: the path names the group or the binding (facts §3.5)',
  },
  {
    lines: /^PATCH \/libraries\/v1\/aws-marketplace-subscriptions\/\{id\} \?updateMask: extra, string$/,
    because: 'the protocol buffers have it, the OpenAPI description of v1 does not',
  },
  {
    lines: / (takes|answers) \S*\.capabilities\[\]: one of .*, not string$/,
    because: 'the contract has strings; the tables know the values, and a request with another one is refused (facts §18)',
  },
]

const DIRECTORY = 'CROSSWALK_REFERENCE'

/**
 * A JSON document of the published contracts, which are not part of the repository. Without them the check that reads one is skipped, and
 * the reason is printed.
 */
function read<T>({ skip }: TestContext, name: string): T {
  const directory = process.env[DIRECTORY] ?? ''
  const file = join(directory, name)
  if (directory === '') return skipped(skip, `${DIRECTORY} is not set`)
  if (!existsSync(file)) return skipped(skip, `there is no ${file}`)
  return JSON.parse(readFileSync(file, 'utf8')) as T
}

function skipped(skip: TestContext['skip'], why: string): never {
  const reason = `skipped: ${why}; set ${DIRECTORY} to the folder that holds crosswalk.json, openapi-v1.json and openapi-v2.json`
  console.log(reason)
  return skip(reason)
}

/** The parts of a schema that both contracts have. */
interface AnySchema {
  readonly $ref?: string
  readonly allOf?: readonly AnySchema[]
  readonly anyOf?: readonly AnySchema[]
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly contentEncoding?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, AnySchema>>
  readonly additionalProperties?: AnySchema | boolean
  readonly items?: AnySchema
}

/** Named schemas of a document. */
type Schemas = Readonly<Record<string, unknown>>

/** Returns every place in a schema with its type: `.items[].name` → `string`, `.claims{}` → `string`. Null counts as absent. */
function flat(schemas: Schemas, schema: AnySchema, place = ''): ReadonlyMap<string, string> {
  const known = resolved(schemas, schema)
  const places = new Map([[place, typeOf(known)]])
  const add = (inner: AnySchema, at: string) => {
    for (const [name, type] of flat(schemas, inner, at)) places.set(name, type)
  }
  for (const [name, inner] of Object.entries(known.properties ?? {})) add(inner, `${place}.${name}`)
  if (known.items) add(known.items, `${place}[]`)
  if (typeof known.additionalProperties === 'object') add(known.additionalProperties, `${place}{}`)
  return places
}

function resolved(schemas: Schemas, schema: AnySchema): AnySchema {
  const { $ref, allOf, anyOf } = schema
  if ($ref) return resolved(schemas, schemas[$ref.split('/').at(-1) ?? ''] as AnySchema)
  const [only] = allOf ?? anyOf?.filter(({ type }) => type !== 'null') ?? []
  return only && !schema.properties ? resolved(schemas, only) : schema
}

function typeOf({ type, format, contentEncoding, enum: values }: AnySchema): string {
  if (values) return `one of ${[...values].sort().join(', ')}`
  const plain = typeof type === 'string' ? type : type?.find((one) => one !== 'null')
  const written = contentEncoding === 'base64' ? 'byte' : format
  return written === undefined ? String(plain) : `${plain} ${written}`
}

interface Media {
  readonly content?: Readonly<Record<string, { readonly schema: AnySchema }>>
}

interface ContractParameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly schema: AnySchema
}

interface ContractOperation {
  readonly parameters?: readonly ContractParameter[]
  readonly requestBody?: Media
  readonly responses: Readonly<Record<string, Media>>
}

/** The parts of an OpenAPI document that are compared. */
interface ContractDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, ContractOperation>>>>
  readonly components: { readonly schemas: Schemas; readonly parameters?: Readonly<Record<string, ContractParameter>> }
}

/**
 * Returns a line for each place at which a document is not as a contract: `GET /iam/v1/groups ?name: missing`.
 */
function deviationsOf(document: ContractDocument, contract: ContractDocument): readonly string[] {
  const own = operationsOf(document)
  const theirs = operationsOf(contract)
  return [
    ...[...theirs.keys()].filter((route) => !own.has(route)).map((route) => `${route}: missing`),
    ...[...own].flatMap(([route, operation]) => {
      const other = theirs.get(route)
      if (!other) return [`${route}: extra`]
      const [mine, published] = [partsOf(document, operation), partsOf(contract, other)]
      const places = [...new Set([...mine.keys(), ...published.keys()])]
      return places.flatMap((place) => lineOf(mine.get(place), published.get(place)).map((line) => `${route} ${place}: ${line}`))
    }),
  ]
}

function lineOf(mine: string | undefined, published: string | undefined): readonly string[] {
  if (mine === published) return []
  if (mine === undefined) return [`missing, ${published}`]
  return [published === undefined ? `extra, ${mine}` : `${mine}, not ${published}`]
}

function operationsOf({ paths }: ContractDocument): ReadonlyMap<string, ContractOperation> {
  const entries = Object.entries(paths).flatMap(([path, item]) => Object.entries(item).map(([method, one]) => ({ path, method, one })))
  return new Map(entries.map(({ path, method, one }) => [`${method.toUpperCase()} ${path}`, one]))
}

/** Every place of an operation with its type: `?name`, `{id}`, `takes .name`, `answers .items[].id`. */
function partsOf(
  { components }: ContractDocument,
  { parameters = [], requestBody, responses }: ContractOperation,
): ReadonlyMap<string, string> {
  const { schemas } = components
  const parts = new Map<string, string>()
  for (const parameter of parameters) {
    const { name, in: where, schema } = components.parameters?.[parameter.$ref?.split('/').at(-1) ?? ''] ?? parameter
    for (const [place, type] of flat(schemas, schema)) parts.set(`${where === 'path' ? `{${name}}` : `?${name}`}${place}`, type)
  }
  for (const [word, media] of [
    ['takes', requestBody],
    ['answers', responses['200']],
  ] as const) {
    const [body] = Object.values(media?.content ?? {})
    if (body) for (const [place, type] of flat(schemas, body.schema)) parts.set(`${word} ${place}`, type)
  }
  return parts
}

describe('openapi', () => {
  test('the document of the published dialect is the v1 contract, but for what is listed', (context) => {
    const contract = read<ContractDocument>(context, 'openapi-v1.json')
    const found = deviationsOf(documentOf('published') as unknown as ContractDocument, contract)
    const unexplained = found.filter((line) => !documentDeviations.some(({ lines }) => lines.test(line)))
    for (const line of unexplained) console.log(line)
    const unused = documentDeviations.filter(({ lines }) => !found.some((line) => lines.test(line)))
    console.log(`${found.length} deviations of ${documentDeviations.length} kinds, ${unexplained.length} without an explanation`)
    expect({ unexplained, unused }).toEqual({ unexplained: [], unused: [] })
  })
})

describe('published', () => {
  type Schema = Readonly<Record<string, unknown>>

  const CONTRACT = 'v1'

  test('published answers are what the v1 contract says, without a member more', async (context) => {
    const contract = read<OpenApi>(context, 'openapi-v1.json')
    const ajv = new Ajv({ strict: false, allErrors: true })
    addFormats.default(ajv)
    ajv.addSchema({ components: closed(contract.components) as Schema }, CONTRACT)
    const routes = routesOf(contract)
    const validators = new Map(
      operations.map(({ id, method, template }) => {
        const answer = routes.get(shape(`${method} ${template}`))?.responses['200']?.content?.['application/json']?.schema
        return [id, answer ? ajv.compile(closed(answer) as Schema) : undefined]
      }),
    )
    const refused = ajv.compile({ $ref: `${CONTRACT}#/components/schemas/google.rpc.Status` })
    let checked = 0
    const wrong: string[] = []
    for (const { operation, title, status, reply } of await answers('published')) {
      const validate = status === 200 ? validators.get(operation) : refused
      if (!validate) continue
      checked += 1
      if (!validate(reply)) wrong.push(`${operation}: ${title}: ${ajv.errorsText(validate.errors)}`)
    }
    for (const line of wrong) console.log(line)
    console.log(`${checked} published answers, ${wrong.length} not as the contract says`)
    expect(wrong).toEqual([])
    expect(checked).toBeGreaterThan(0)
  })

  /**
   * The schemas without the looseness of OpenAPI: an object has the members that it lists and no other. Messages and times may be null,
   * which the contract cannot say and v1 does (facts §16.3).
   */
  function closed(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map(closed)
    if (typeof schema !== 'object' || schema === null) return schema
    const parts = Object.entries(schema).map(([keyword, value]): [string, unknown] => {
      if (keyword === '$ref') return [keyword, `${CONTRACT}${value}`]
      return [keyword, keyword === 'properties' ? nullable(value as Record<string, Schema>) : closed(value)]
    })
    const strict = { ...(schema as Schema), ...Object.fromEntries(parts) }
    const isMessage = strict['type'] === 'object' && !('additionalProperties' in strict)
    return isMessage ? { ...strict, additionalProperties: false } : strict
  }

  function nullable(properties: Readonly<Record<string, Schema>>): Schema {
    return Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => {
        const mayBeNull = '$ref' in schema || 'allOf' in schema || schema['format'] === 'date-time'
        return [name, mayBeNull ? { anyOf: [closed(schema), { type: 'null' }] } : closed(schema)]
      }),
    )
  }
})

describe('reference', () => {
  test('the tables say what the reference says', (context) => {
    const found = [
      compare(read<Facts>(context, 'crosswalk.json'), mappings),
      compareWithV1(read<OpenApi>(context, 'openapi-v1.json'), mappings),
      compareWithV2(read<OpenApi>(context, 'openapi-v2.json'), mappings),
    ]
    const all = (kind: keyof Findings) => found.flatMap((findings) => findings[kind])
    const [missing, extra, different] = [all('missing'), all('extra'), all('different')]
    for (const [name, list] of Object.entries({ missing, extra, different })) for (const line of list) console.log(`${name}: ${line}`)
    console.log(`${missing.length} missing, ${extra.length} extra, ${different.length} different`)
    expect({ missing, extra, different }).toEqual({ missing: [], extra: [], different: [] })
  })
})
