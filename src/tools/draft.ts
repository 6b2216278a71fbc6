import * as rows from '../tables/fields.ts'
import { enumMap } from '../tables/fields.ts'
import { oneLine } from '../tables/json.ts'
import type { Params } from '../tables/query.ts'
import type { Acknowledged } from '../tables/tables.ts'
import { coverageOf, nameOf, type ServedMessage, type ServedOperation } from './check-coverage.ts'
import { TO_DECIDE } from './check-tables.ts'
import { type Contract, mediaTypeOf, type SchemaShape, statusOf } from './contract.ts'
import { enumRowsOf, type Matched, type MatchedMembers, type MatchedShape, type OperationPair, pairOperations } from './draft-pairs.ts'

/** Returns the operations of a draft as its text describes them, so that they can be compared with both contracts. */
function draftedOperations(pairs: readonly OperationPair[]): readonly ServedOperation[] {
  return pairs.map((pair): ServedOperation => {
    const { v1 } = pair
    const plain = { id: `${v1.method} ${v1.path}`, method: v1.method as ServedOperation['method'], template: v1.path, ownParams: [] }
    if (!pair.v2) return { ...plain, kind: 'v1-only', calls: [], params: {}, because: pair.because }
    const { query, request, answer } = pair
    return {
      ...plain,
      kind: 'direct',
      calls: [`${pair.v2.method} ${pair.v2.path}`],
      params: paramsOf(query),
      request: messageOf(request),
      answer: messageOf(answer),
      status: statusOf(v1),
      type: mediaTypeOf(v1),
    }
  })
}

function paramsOf(query: MatchedMembers): Params {
  return Object.fromEntries(Object.entries(query).flatMap(([name, { v2 }]) => (v2 === undefined ? [] : [[name, v2]])))
}

function messageOf(shape: MatchedShape | undefined): ServedMessage | undefined {
  return shape?.kind === 'object' ? { name: shape.name ?? '', fields: fieldsOf(shape.members) } : undefined
}

function fieldsOf(members: MatchedMembers): rows.Fields {
  return Object.fromEntries(
    Object.entries(members).map(([name, matched]) => {
      if (matched.v2 === undefined) return [name, rows.gone(rows.text, `${TO_DECIDE}: ${matched.because}`)]
      const plain: rows.Field = { ...rows.text(matched.v2), type: typeOf(matched.shape) }
      const row = matched.isNullable ? rows.nullable(plain) : plain
      return [name, matched.isReadOnly ? rows.readOnly(row) : row]
    }),
  )
}

function typeOf(shape: MatchedShape): rows.FieldType {
  if (shape.kind === 'object') return { kind: 'object', fields: fieldsOf(shape.members) }
  if (shape.kind === 'list' || shape.kind === 'map') return { ...shape, of: typeOf(shape.of) }
  if (shape.kind !== 'choice') return { kind: shape.kind }
  const { rows: values, v1Only } = enumRowsOf(shape)
  return { kind: 'choice', of: enumMap('enum', values, v1Only) }
}

/** Names of the language that a text uses. */
interface Writing {
  readonly used: Set<string>
  /** Enums by the texts that make them. */
  readonly enums: Map<string, string>
  /** Names of constants that are not free. */
  readonly taken: Set<string>
  /** Interfaces by version and schema. */
  readonly types: Map<string, { readonly name: string; readonly text: string }>
  /** The text is TypeScript. */
  readonly isTyped: boolean
  /** What a person must decide, one sentence each. */
  readonly decisions: string[]
}

/** Writes the rows of a message: `{ name: optional(text('name')) }`. `where` names it in the list of decisions. */
function membersText(members: MatchedMembers, where: string, writing: Writing, indent = ''): string {
  const rows = Object.entries(members).flatMap(([name, matched]) => rowsOf(name, matched, where, writing, `${indent}  `))
  return rows.length === 0 ? '{}' : `{\n${rows.join('\n')}\n${indent}}`
}

function rowsOf(name: string, matched: Matched, where: string, writing: Writing, indent: string): readonly string[] {
  const key = keyText(name)
  if (matched.v2 === undefined) {
    writing.decisions.push(`${where}.${name}: ${matched.because}`)
    const row = use(
      writing,
      'optional',
      use(writing, 'gone', `${builderOf(matched.shape, writing)}, ${quoted(`${TO_DECIDE}: ${matched.because}`)}`),
    )
    return [`${indent}${key}: ${row},`]
  }
  const plain = shapeText(matched.shape, quoted(matched.v2), `${where}.${name}`, writing, indent)
  const row = matched.isNullable ? use(writing, 'nullable', plain) : plain
  const access = matched.isReadOnly ? use(writing, 'readOnly', row) : row
  return [`${indent}${comment(matched.because)}`, `${indent}${key}: ${use(writing, 'optional', access)},`]
}

/** What a row of texts carries as it is. */
const AS_TEXT: readonly string[] = ['text', 'time', 'bytes', 'long']

/** Writes a row of a pair. */
function shapeText(shape: MatchedShape, source: string, where: string, writing: Writing, indent: string): string {
  if (shape.kind === 'object') return use(writing, 'object', `${source}, ${membersText(shape.members, where, writing, indent)}`)
  if (shape.kind === 'choice') return use(writing, 'choice', `${source}, ${enumName(shape, where, writing)}`)
  if (shape.kind === 'list' || shape.kind === 'map') {
    const { of } = shape
    const many = shape.kind === 'list'
    if (shape.holdsNull)
      return use(writing, many ? 'listOf' : 'mapOf', use(writing, 'nullable', shapeText(of, source, where, writing, indent)))
    if (of.kind === 'object')
      return use(writing, many ? 'objects' : 'objectMap', `${source}, ${membersText(of.members, where, writing, indent)}`)
    if (of.kind === 'choice' && many) return use(writing, 'choices', `${source}, ${enumName(of, where, writing)}`)
    if (AS_TEXT.includes(of.kind)) return use(writing, many ? 'texts' : 'textMap', source)
    if (of.kind === 'int' && !many) return use(writing, 'intMap', source)
    return use(writing, many ? 'listOf' : 'mapOf', shapeText(of, source, where, writing, indent))
  }
  return use(writing, shape.kind, source)
}

/** The builder of a member that has no place yet. */
function builderOf(shape: SchemaShape, writing: Writing): string {
  const plain = shape.kind === 'choice' ? 'text' : shape.kind === 'list' ? 'texts' : shape.kind === 'map' ? 'textMap' : shape.kind
  const name = plain === 'object' || plain === 'unknown' ? 'text' : plain
  writing.used.add(name)
  return name
}

function enumName(shape: Extract<MatchedShape, { kind: 'choice' }>, where: string, writing: Writing): string {
  const { rows, v1Only } = enumRowsOf(shape)
  const body = `${json(rows)}${v1Only.length > 0 ? `, ${json(v1Only)}` : ''}`
  const known = writing.enums.get(body)
  if (known !== undefined) return known
  const name = freeName(`${where.split('.').at(-1)} values`, writing.taken)
  writing.used.add('enumMap')
  writing.enums.set(body, name)
  return name
}

/** Names of the language that a draft uses, names that each draft has, and words of JavaScript. */
const TAKEN =
  'action bytes choice choices enumMap flag flagParam gone int intMap intParam listOf long mapOf mayBeEmpty message nothing nullable number object objectMap objects optional readOnly rows text textMap texts textsParam time timeParam v1Only acknowledged tables arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof undefined var void while with yield'

/** Returns a name of a constant, and takes it: `ListLiensResponse` → `listLiensResponse`, `listLiensResponse2`. */
function freeName(label: string, taken: Set<string>): string {
  const plain = label.replace(/[^A-Za-z0-9]+(.)?/g, (_, letter = '') => letter.toUpperCase()).replace(/[^A-Za-z0-9]|^[^A-Za-z]+/g, '')
  return free(
    (plain || 'message').replace(/^./, (letter) => letter.toLowerCase()),
    taken,
  )
}

function free(name: string, taken: Set<string>): string {
  let found = name
  for (let nth = 2; taken.has(found); nth += 1) found = `${name}${nth}`
  taken.add(found)
  return found
}

/** A name as a key of an object. */
function keyText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && name !== '__proto__' ? name : keyOf(name, quoted(name))
}

/** `__proto__: …` would be the prototype of the object, and no member. */
function keyOf(name: string, text: string): string {
  return name === '__proto__' ? `[${text}]` : text
}

export function use(writing: Writing, name: string, inside: string): string {
  writing.used.add(name)
  return `${name}(${inside})`
}

/** A text of a document may hold whatever ends a string or a comment. In a table it is data. */
function quoted(text: string): string {
  return `'${json(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

function json(value: unknown): string {
  return oneLine(JSON.stringify(value))
}

function comment(text: string): string {
  return `// ${oneLine(text)}`
}

/** Returns a row for everything that a draft of these pairs does not cover. Its reason waits for a person. */
function lossesOf(v1: Contract, v2: Contract, pairs: readonly OperationPair[]): readonly Acknowledged[] {
  const known = reasonsIn(pairs)
  const { points } = coverageOf(draftedOperations(pairs), { v1, v2 })
  const lacking = points.filter(({ state }) => state === 'lacking')
  const times = new Map<string, number>()
  for (const { side, at } of lacking) times.set(`${side} ${at}`, (times.get(`${side} ${at}`) ?? 0) + 1)
  return lacking.map(({ side, at, part, why }): Acknowledged => {
    const reason = `${TO_DECIDE}: ${(side === 'v1' && known.get(at)) || why}`
    const isTwice = (times.get(`${side} ${at}`) ?? 0) > 1
    const where = isTwice && (part === 'request' || part === 'answer') ? { in: part } : {}
    return side === 'v1' ? { v1: at, ...where, reason } : { v2: at, ...where, reason }
  })
}

/** Why a parameter of v1 has no place. */
function reasonsIn(pairs: readonly OperationPair[]): ReadonlyMap<string, string> {
  return new Map(
    pairs.flatMap((pair) =>
      pair.v2 === undefined
        ? []
        : Object.entries(pair.query).map(([name, { because }]) => [`${pair.v1.method} ${pair.v1.path}?${name}`, because] as const),
    ),
  )
}

/** `  { v2: 'Project.etag', reason: 'TO DECIDE: no row shows it' },` */
function lossText(loss: Acknowledged): string {
  const members = Object.entries(loss).map(([name, value]) => `${name}: ${quoted(String(value))}`)
  return `  { ${members.join(', ')} },\n`
}

/** The same for the list at the top of a draft. */
function decisionOf(loss: Acknowledged): string {
  return `${nameOf(loss)}: ${loss.reason.slice(TO_DECIDE.length + 2)}`
}

type ObjectShape = Extract<SchemaShape, { kind: 'object' }>

const SCALARS = {
  text: 'string',
  time: 'string',
  bytes: 'string',
  long: 'string',
  choice: 'string',
  int: 'number',
  number: 'number',
  flag: 'boolean',
} as const

/**
 * Writes rows so that the compiler compares them with both versions: `rows<V1Project, V2Project>()({ … })`. Adds the interfaces that this
 * needs. A message without a name has no interface, and its rows stand alone.
 */
function comparedText(rows: string, v1: SchemaShape | undefined, v2: SchemaShape | undefined, writing: Writing): string {
  if (!writing.isTyped || v1?.kind !== 'object' || v2?.kind !== 'object' || v1.name === undefined || v2.name === undefined) return rows
  writing.used.add('rows')
  return `rows<${interfaceOf('V1', v1.name, v1, writing)}, ${interfaceOf('V2', v2.name, v2, writing)}>()(${rows})`
}

/** Returns the name of the interface of a schema, which is written once. */
function interfaceOf(version: 'V1' | 'V2', schema: string, shape: ObjectShape, writing: Writing): string {
  const key = `${version} ${schema}`
  const known = writing.types.get(key)
  if (known) return known.name
  const plain =
    version +
    schema
      .replace(/[^A-Za-z0-9]+/g, ' ')
      .trim()
      .replace(/(?:^| )(.?)/g, (_, letter: string) => letter.toUpperCase())
  const name = free(plain, writing.taken)
  const written = { name, text: '' }
  writing.types.set(key, written)
  written.text = `interface ${name} ${memberTypesText(version, shape, writing, '')}`
  return name
}

function memberTypesText(version: 'V1' | 'V2', { members }: ObjectShape, writing: Writing, indent: string): string {
  const lines = Object.entries(members).map(
    ([name, { shape, isNullable }]) =>
      `${indent}  readonly ${keyText(name)}?: ${typeText(version, shape, writing, `${indent}  `)}${isNullable ? ' | null' : ''}\n`,
  )
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`
}

function typeText(version: 'V1' | 'V2', shape: SchemaShape, writing: Writing, indent: string): string {
  if (shape.kind === 'unknown') return 'unknown'
  if (shape.kind === 'list' || shape.kind === 'map') {
    const item = typeText(version, shape.of, writing, indent)
    const items = shape.holdsNull ? `${item} | null` : item
    return shape.kind === 'map' ? `Readonly<Record<string, ${items}>>` : `readonly ${bracketed(items)}[]`
  }
  if (shape.kind !== 'object') return SCALARS[shape.kind]
  return shape.name === undefined ? memberTypesText(version, shape, writing, indent) : interfaceOf(version, shape.name, shape, writing)
}

function bracketed(type: string): string {
  return /^readonly | null$/.test(type) ? `(${type})` : type
}

/** Writes the module of a first table, in TypeScript, or in JavaScript without the types of both contracts. */
function writeTables(domain: string, prefix: string, isTyped: boolean, pairs: readonly OperationPair[], losses: readonly Acknowledged[]) {
  const taken = new Set(TAKEN.split(' '))
  const writing: Writing = { used: new Set(), taken, enums: new Map(), types: new Map(), isTyped, decisions: [] }
  const mapping = freeName(domain, taken)
  const messages: Written = new Map()
  const ids = idsIn(domain, pairs)
  const operations = pairs.map((pair, at) => operationText(pair, ids[at] ?? '', messages, writing))
  const enums = [...writing.enums].map(([body, name]) => `const ${name} = enumMap(${quoted(name)}, ${body})\n`)
  const consts = [...messages.values()].map(({ name, text }) => `const ${name} = ${text}\n`)
  const types = isTyped ? ['type Acknowledged', 'type Mapping', 'type Tables'] : []
  const as = (type: string) => (isTyped ? `: ${type}` : '')
  const names = [...writing.used, ...types].sort((a, b) => a.localeCompare(b))
  const decisions = [...new Set([...writing.decisions, ...losses.map(decisionOf)])]
  const text = [
    `// A first table, drafted by crosswalk draft. Left to decide: ${decisions.length}. Each reason that begins with ${TO_DECIDE} waits for a person:`,
    ...decisions.map((decision) => comment(`- ${decision}`)),
    `import { ${names.join(', ')} } from 'crosswalk/tables'\n`,
    ...[...writing.types.values()].map(({ text }) => `${text}\n`),
    ...enums,
    ...consts,
    `const ${mapping}${as('Mapping')} = {\n  domain: ${quoted(domain)},\n  prefix: ${quoted(prefix)},\n  operations: [\n${operations.join('\n')}\n  ],\n}\n`,
    `const acknowledged${as('readonly Acknowledged[]')} = [\n${losses.map(lossText).join('')}]\n`,
    `export const tables${as('Tables')} = { name: ${quoted(domain)}, mappings: [${mapping}], differences: [], shapes: {}, acknowledged }`,
  ].join('\n')
  return { text: `${text}\n`, decisions }
}

function operationText(pair: OperationPair, id: string, messages: Written, writing: Writing): string {
  const route = `${pair.v1.method} ${pair.v1.path}`
  if (pair.v2 === undefined) {
    writing.decisions.push(`${route}: ${pair.because}`)
    return `    ${use(writing, 'v1Only', [quoted(id), quoted(route), quoted(`${TO_DECIDE}: ${pair.because}`)].join(', '))},`
  }
  const { v1, v2, query, request, answer } = pair
  const type = mediaTypeOf(v1)
  const params = Object.entries(query).flatMap(([name, matched]) => {
    if (matched.v2 === undefined) return []
    return [`${keyOf(name, json(name))}: ${paramText(matched.v2, matched.shape, writing)}`]
  })
  const named = (shape: MatchedShape | undefined, what: 'request' | 'answer') =>
    messageText(shape, v1[what], v2[what], `${id.split('.').slice(1).join(' ')} ${what}`, messages, writing)
  const options = [
    `v2: ${quoted(`${v2.method} ${inVariablesOf(v1.path, v2.path)}`)}`,
    ...(params.length > 0 ? [`params: { ${params.join(', ')} }`] : []),
    ...pagingOf(pair),
    ...(request ? [`request: ${named(request, 'request')}`] : []),
    ...(statusOf(v1) ? [`status: ${statusOf(v1)}`] : []),
    ...(type === undefined ? [] : [`type: ${quoted(type)}`]),
    ...(answer ? [`answer: ${named(answer, 'answer')}`] : []),
    ...(v1.method === 'GET' ? [] : [`readBack: { unverifiable: ${quoted(`${TO_DECIDE}: how its effect is read`)} }`]),
  ]
  if (v1.method !== 'GET') writing.decisions.push(`${route}: how its effect is read`)
  return `    // the same method and path\n    ${use(writing, 'action', `${quoted(id)}, ${quoted(route)}, {\n      ${options.join(',\n      ')},\n    }`)},`
}

/** Messages by their schemas and rows: the name of the constant, and what it is. */
type Written = Map<string, { readonly name: string; readonly label: string; readonly text: string }>

/** Returns the name of a message, which is written once for all that are alike. */
function messageText(
  shape: MatchedShape | undefined,
  v1: SchemaShape | undefined,
  v2: SchemaShape | undefined,
  where: string,
  messages: Written,
  writing: Writing,
): string {
  if (shape?.kind !== 'object' || Object.keys(shape.members).length === 0) {
    writing.used.add('nothing')
    return 'nothing'
  }
  const before = writing.decisions.length
  const label = shape.name ?? where
  const rows = comparedText(membersText(shape.members, label, writing), v1, v2, writing)
  const known = messages.get(`${label} ${rows}`)
  if (known !== undefined) {
    writing.decisions.length = before
    return known.name
  }
  const name = freeName(label, writing.taken)
  // Two messages of one schema have names of their own: the v1 contract names schemas after them.
  const others = [...messages.values()].filter((one) => one.label === label).length
  const own = others === 0 ? label : `${label}${others + 1}`
  messages.set(`${label} ${rows}`, { name, label, text: use(writing, 'mayBeEmpty', use(writing, 'message', `${quoted(own)}, ${rows}`)) })
  return name
}

function paramText(v2: string, { kind }: MatchedShape, writing: Writing): string {
  if (kind === 'flag' || kind === 'int' || kind === 'time') return use(writing, `${kind}Param`, quoted(v2))
  return kind === 'list' ? use(writing, 'textsParam', quoted(v2)) : quoted(v2)
}

/** A list with a page token in its query and in its answer, both of which have a place in v2. */
function pagingOf({ query, answer }: Extract<OperationPair, { request: unknown }>): readonly string[] {
  const tokenIn = (members: MatchedMembers) =>
    Object.keys(members).find((name) => members[name]?.v2 !== undefined && /page_?token$/i.test(name))
  const [parameter, member] = [tokenIn(query), answer?.kind === 'object' ? tokenIn(answer.members) : undefined]
  return parameter && member ? [`paging: { parameter: ${quoted(parameter)}, member: ${quoted(member)} }`] : []
}

/** Writes a v2 path with the names that v1 gives its variables, in order. */
function inVariablesOf(v1: string, v2: string): string {
  const names = [...v1.matchAll(/\{[^{}]*\}/g)].map(([variable]) => variable)
  let at = 0
  return v2.replace(/\{[^{}]*\}/g, (variable) => names[at++] ?? variable)
}

/** Gives each operation an id: the last two words of its operationId, or its path and method. */
function idsIn(domain: string, pairs: readonly OperationPair[]): readonly string[] {
  const seen = new Set<string>()
  return pairs.map(({ v1: { id, method, path } }) => {
    const words = id?.includes('.')
      ? id.split('.').slice(-2)
      : [...path.split(/[^A-Za-z0-9]+/).filter((word) => word && !/^v\d/.test(word)), method.toLowerCase()]
    const plain = `${domain}.${words.join('.')}`
    const unique = seen.has(plain) ? `${plain}.${method.toLowerCase()}${seen.size}` : plain
    seen.add(unique)
    return unique
  })
}

/**
 * Drafts a first table of two contracts: `draftTables(v1, v2, 'resourcemanager')`. It holds only what can be defended: the same method and
 * path, and of each message the members with the same parent, the same type and the same or a similar name. All else is left to a person.
 * It is TypeScript with the types of both contracts, or JavaScript. Returns its text and what is left to decide. Throws a sentence if v1 has
 * no operation.
 */
export function draftTables(v1: Contract, v2: Contract, domain: string, isTyped = true) {
  if (v1.operations.length === 0) throw new Error('the document of v1 has no operation under paths; give its OpenAPI document with --v1')
  const pairs = pairOperations(v1, v2)
  const prefix = prefixOf(v1.operations.map(({ path }) => path))
  return writeTables(domain, prefix, isTyped, pairs, lossesOf(v1, v2, pairs))
}

/** Returns the segments with which all paths begin, up to the version if there is one. */
function prefixOf(paths: readonly string[]): string {
  const [first = [], ...others] = paths.map((path) => path.slice(1).split('/'))
  const end = first.findIndex((segment, at) => /[{:]/.test(segment) || others.some((other) => other[at] !== segment))
  const shared = end < 0 ? first : first.slice(0, end)
  const version = shared.findIndex((segment) => /^v\d/.test(segment))
  return shared.slice(0, version < 0 ? Math.max(1, shared.length) : version + 1).join('/')
}
