import { TO_DECIDE } from '../check/undecided.ts'
import type { SchemaShape } from '../contract/schema-shape.ts'
import type { Acknowledged } from '../tables/tables.ts'
import { decisionOf, lossText } from './draft-losses.ts'
import type { MatchedMembers, MatchedShape } from './match-members.ts'
import type { OperationPair } from './pair-operations.ts'
import { freeName, membersText, quoted, use, type Writing } from './write-members.ts'
import { comparedText } from './write-types.ts'

/** A first table as text, and what is left to decide. */
export interface Draft {
  readonly text: string
  readonly decisions: readonly string[]
}

interface Named {
  readonly pair: OperationPair
  readonly id: string
}

/** What a draft is called, and whether it is TypeScript; otherwise it is JavaScript, without the types of both contracts. */
export interface DraftForm {
  readonly domain: string
  readonly prefix: string
  readonly isTyped: boolean
}

/** Writes the module of a first table. */
export function writeTables(
  { domain, prefix, isTyped }: DraftForm,
  pairs: readonly OperationPair[],
  losses: readonly Acknowledged[],
): Draft {
  const writing: Writing = { used: new Set(), enums: new Map(), types: new Map(), isTyped, decisions: [] }
  const messages: Written = new Map()
  const operations = namedIn(domain, pairs).map((named) => operationText(named, messages, writing))
  const enums = [...writing.enums].map(([body, name]) => `const ${name} = enumMap(${quoted(name)}, ${body})\n`)
  const consts = [...messages.values()].map(({ name, text }) => `const ${name} = ${text}\n`)
  const types = isTyped ? ['type Acknowledged', 'type Mapping', 'type Tables'] : []
  const as = (type: string) => (isTyped ? `: ${type}` : '')
  const names = [...writing.used, ...types].sort((a, b) => a.localeCompare(b))
  const decisions = [...new Set([...writing.decisions, ...losses.map(decisionOf)])]
  const text = [
    `// A first table, drafted by crosswalk draft. Left to decide: ${decisions.length}. Each reason that begins with ${TO_DECIDE} waits for a person:`,
    ...decisions.map((decision) => `// - ${decision}`),
    `import { ${names.join(', ')} } from 'crosswalk/tables'\n`,
    ...[...writing.types.values()].map(({ text }) => `${text}\n`),
    ...enums,
    ...consts,
    `const ${domain}${as('Mapping')} = {\n  domain: ${quoted(domain)},\n  prefix: ${quoted(prefix)},\n  operations: [\n${operations.join('\n')}\n  ],\n}\n`,
    `const acknowledged${as('readonly Acknowledged[]')} = [\n${losses.map(lossText).join('')}]\n`,
    `export const tables${as('Tables')} = { name: ${quoted(domain)}, mappings: [${domain}], differences: [], shapes: {}, acknowledged }`,
  ].join('\n')
  return { text: `${text}\n`, decisions }
}

function operationText({ pair, id }: Named, messages: Written, writing: Writing): string {
  const route = `${pair.v1.method} ${pair.v1.path}`
  if (pair.v2 === undefined) {
    writing.decisions.push(`${route}: ${pair.because}`)
    return `    ${use(writing, 'v1Only', [quoted(id), quoted(route), quoted(`${TO_DECIDE}: ${pair.because}`)].join(', '))},`
  }
  const { v1, v2, query, request, answer } = pair
  const params = Object.entries(query).flatMap(([name, matched]) => {
    if (matched.v2 === undefined) return []
    return [`${JSON.stringify(name)}: ${paramText(matched.v2, matched.shape, writing)}`]
  })
  const named = (shape: MatchedShape | undefined, what: 'request' | 'answer') =>
    messageText({ shape, v1: v1[what], v2: v2[what] }, `${id.split('.').slice(1).join(' ')} ${what}`, messages, writing)
  const options = [
    `v2: ${quoted(`${v2.method} ${inVariablesOf(v1.path, v2.path)}`)}`,
    ...(params.length > 0 ? [`params: { ${params.join(', ')} }`] : []),
    ...pagingOf(pair),
    ...(request ? [`request: ${named(request, 'request')}`] : []),
    ...(answer ? [`answer: ${named(answer, 'answer')}`] : []),
    ...(v1.method === 'GET' ? [] : [`readBack: { unverifiable: ${quoted(`${TO_DECIDE}: how its effect is read`)} }`]),
  ]
  if (v1.method !== 'GET') writing.decisions.push(`${route}: how its effect is read`)
  return `    // the same method and path\n    ${use(writing, 'action', `${quoted(id)}, ${quoted(route)}, {\n      ${options.join(',\n      ')},\n    }`)},`
}

/** Messages by their schemas and rows: the name of the constant, and what it is. */
type Written = Map<string, { readonly name: string; readonly text: string }>

interface PairedShapes {
  readonly shape: MatchedShape | undefined
  readonly v1: SchemaShape | undefined
  readonly v2: SchemaShape | undefined
}

/** Returns the name of a message, which is written once for all that are alike. */
function messageText({ shape, v1, v2 }: PairedShapes, where: string, messages: Written, writing: Writing): string {
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
  const names = [...messages.values()].map(({ name }) => name)
  const [name, first] = [freeName(label, names), freeName(label, [])]
  // Two messages of one schema have names of their own: the v1 contract names schemas after them.
  const own = `${label}${name.slice(first.length)}`
  messages.set(`${label} ${rows}`, { name, text: use(writing, 'mayBeEmpty', use(writing, 'message', `${quoted(own)}, ${rows}`)) })
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
function namedIn(domain: string, pairs: readonly OperationPair[]): readonly Named[] {
  const seen = new Set<string>()
  return pairs.map((pair) => {
    const { id, method, path } = pair.v1
    const words = id?.includes('.')
      ? id.split('.').slice(-2)
      : [...path.split(/[^A-Za-z0-9]+/).filter((word) => word && !/^v\d/.test(word)), method.toLowerCase()]
    const plain = `${domain}.${words.join('.')}`
    const unique = seen.has(plain) ? `${plain}.${method.toLowerCase()}${seen.size}` : plain
    seen.add(unique)
    return { pair, id: unique }
  })
}
