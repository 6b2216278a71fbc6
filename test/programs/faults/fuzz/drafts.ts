import { parseSync } from 'vite'
import type { JsonObject } from '../../../../src/tables/json.ts'
import { contractOf } from '../../../../src/tools/contract.ts'
import { draftTables } from '../../../../src/tools/draft.ts'
import { countIn, type Dice, diceOf } from './hunt.ts'
import type { Fuzzed } from './requests.ts'

/** Texts that end a comment, a string or a template where they are written as they are. */
const ENDS = [
  ...['\n', '\r', '\r\n', '\u2028', '\u2029', '\v', '\f', '\0', '\u0085', '\ufeff', '\u202e', '\ud800', "'", '"', '`', '\\', "\\'"],
  ...['\\\\n', '\\u000a', '*/', '/*', '//', '<!--', '-->', '${', '}', '{', ')', ']', ';', ','],
]
const CODE = [
  ...['globalThis.hit = 1', "import('node:fs')", 'process.exit(1)', ' export default 1', '*/ throw 1 //', '#!', '//# sourceMappingURL=x'],
]
const PLAIN = ['name', 'state', 'create_time', 'id', 'a', 'items', 'TO DECIDE']
/** Names that the language of JavaScript or of the tables has. */
const TAKEN = [
  ...['__proto__', 'constructor', 'toString', 'prototype', 'class', 'default', 'await', 'arguments', 'let', 'enum', 'null', 'undefined'],
  ...['text', 'message', 'action', 'enumMap', 'api', 'tables', 'acknowledged', 'state values', '2', '', '日本', 'Mapping', 'v1Only'],
]

type Draw = (dice: Dice) => string

const hostile: Draw = (dice) =>
  dice.weighed([
    [2, () => dice.one(PLAIN)],
    [2, () => dice.one(TAKEN)],
    [
      3,
      () =>
        dice
          .some(1, 5, () =>
            dice.weighed([
              [3, () => dice.one(ENDS)],
              [2, () => dice.one(CODE)],
              [1, () => dice.one(PLAIN)],
            ]),
          )
          .join(''),
    ],
  ])

function schemaOf(dice: Dice, pool: readonly string[], depth = 0): unknown {
  const name = () => dice.one(pool)
  return dice.weighed<unknown>([
    [4, () => ({ type: 'string', ...(dice.chance(0.2) && { format: dice.chance(0.5) ? 'date-time' : name() }) })],
    [2, () => ({ type: 'string', enum: dice.some(1, 4, name) })],
    [1, () => ({ type: dice.one(['integer', 'boolean', 'number', name()]), readOnly: dice.chance(0.5) })],
    [1, () => ({ $ref: `#/components/schemas/${dice.one(['A', 'B', encodeURIComponent(name().replace(/[\ud800-\udfff]/g, ''))])}` })],
    [1, () => ({ oneOf: [] })],
    [depth < 2 ? 1 : 0, () => ({ type: 'array', items: schemaOf(dice, pool, depth + 1) })],
    [depth < 2 ? 1 : 0, () => ({ type: 'object', additionalProperties: schemaOf(dice, pool, depth + 1) })],
    [depth < 2 ? 2 : 0, () => objectOf(dice, pool, depth + 1)],
  ])
}

function objectOf(dice: Dice, pool: readonly string[], depth: number): JsonObject {
  return { type: 'object', properties: Object.fromEntries(dice.some(1, 4, () => [dice.one(pool), schemaOf(dice, pool, depth)])) }
}

function documentOf(dice: Dice, pool: readonly string[], paths: readonly string[]): JsonObject {
  const content = () => ({ content: { 'application/json': { schema: { $ref: `#/components/schemas/${dice.one(['A', 'B'])}` } } } })
  const operation = () => ({
    ...(dice.chance(0.5) && { operationId: `${dice.one(pool)}.${dice.one(pool)}` }),
    parameters: dice.some(0, 3, () => ({ in: 'query', name: dice.one(pool), required: dice.chance(0.1), schema: schemaOf(dice, pool, 2) })),
    ...(dice.chance(0.5) && { requestBody: content() }),
    responses: { 200: { description: dice.one(pool), ...content() } },
  })
  return {
    info: { title: dice.one(pool), description: dice.one(pool) },
    paths: Object.fromEntries(paths.map((path) => [path, { [dice.one(['get', 'post', 'put'])]: operation() }])),
    components: { schemas: Object.fromEntries(['A', 'B', ...pool].map((name) => [name, objectOf(dice, pool, 0)])) },
  }
}

interface Tree {
  readonly type: string
  readonly [member: string]: unknown
}

/** All that the value of a constant may be made of. */
const VALUES: ReadonlySet<string> = new Set(['ObjectExpression', 'Property', 'ArrayExpression', 'Literal', 'Identifier', 'CallExpression'])

/** All that the types of a constant may be made of, besides the members of an interface. */
const TYPES = /^TS(?:TypeParameterInstantiation|TypeReference|TypeAnnotation|TypeOperator|ArrayType)$/

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && typeof (value as Tree).type === 'string'

function* within(tree: Tree, leave: (one: Tree) => boolean = () => false): Generator<Tree> {
  if (leave(tree)) return
  yield tree
  for (const value of Object.values(tree)) for (const one of [value].flat()) if (isTree(one)) yield* within(one, leave)
}

/** Returns what a table has besides the statements that `draft` makes; `expected` are texts of the document that it must hold unchanged. */
function strangeIn(text: string, expected: readonly string[]): string | undefined {
  const { program, errors, comments } = parseSync('drafted.ts', text)
  if (errors.length > 0) return `no module: ${errors[0]?.message}`
  const [door, ...body] = program.body as unknown as Tree[]
  const names = ((door?.['specifiers'] ?? []) as Tree[]).map(({ local }) => (local as Tree)['name'])
  if (door?.type !== 'ImportDeclaration' || (door['source'] as Tree)['value'] !== 'crosswalk/tables') return 'another first statement'
  const constants = body.flatMap((one) => (((one['declaration'] as Tree | null) ?? one)['declarations'] ?? []) as Tree[])
  const own = constants.map(({ id }) => (id as Tree)['name'])
  if (new Set([...names, ...own]).size < names.length + own.length) return 'a name twice'
  const known = new Set([...names, ...own])
  const literals = new Set<unknown>()
  for (const [at, one] of body.entries()) {
    if (one.type === 'TSInterfaceDeclaration') continue
    if (one.type !== (at === body.length - 1 ? 'ExportNamedDeclaration' : 'VariableDeclaration')) return `a statement: ${one.type}`
  }
  for (const { init } of constants) {
    for (const part of within(init as Tree, ({ type }) => type.startsWith('TS') && !TYPES.test(type))) {
      if (!VALUES.has(part.type) && !TYPES.test(part.type)) return `an expression: ${part.type}`
      if (part.type === 'Literal') literals.add(part['value'])
      if (part.type === 'CallExpression') {
        const callee = [part['callee'], (part['callee'] as Tree)['callee'] ?? part['callee']] as Tree[]
        if (!names.includes(callee[1]?.['name'])) return `a call of ${callee[1]?.['name']}`
      }
      if (part.type === 'Property' && (part['key'] as Tree)['value'] === '__proto__' && part['computed'] !== true) return 'a prototype'
      if (part.type === 'Property' && (part['key'] as Tree)['name'] === '__proto__') return 'a prototype'
      if (part.type === 'Property' && (part['value'] as Tree).type === 'Identifier' && !known.has((part['value'] as Tree)['name']))
        return `a name of another: ${(part['value'] as Tree)['name']}`
    }
  }
  if (comments.some(({ type, value }) => type !== 'Line' || /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(value))) return 'a comment of another form'
  const lost = expected.find((one) => !literals.has(one))
  return lost === undefined ? undefined : `no text ${JSON.stringify(lost)}`
}

/** Drafts tables from hostile documents. It fails if a table has a statement that `draft` does not make. */
export async function fuzzDrafts(cases: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  for (let nth = 0; nth < cases; nth += 1) {
    const dice = diceOf(seed, nth)
    const pool = dice.some(3, 6, () => hostile(dice))
    const paths = [...new Set(dice.some(1, 3, () => `/v1/${hostile(dice)}/{${hostile(dice)}}`))]
    const v1 = contractOf(documentOf(dice, pool, paths))
    const v2 = contractOf(
      documentOf(dice, pool, dice.chance(0.3) ? [`/v2/${hostile(dice)}`] : paths.map((path) => path.replace('v1', 'v2'))),
    )
    const { text, decisions } = draftTables(v1, v2, dice.one(['api', 'shop', 'text', 'class', 'tables']), dice.chance(0.5))
    const wrong = strangeIn(
      text,
      v1.operations.map(({ method, path }) => `${method} ${path}`),
    )
    if (wrong !== undefined) throw new Error(`${wrong}, CROSSWALK_SEED=${seed}, case ${nth}:\n${text}`)
    const kind = decisions.length > 10 ? 'much to decide' : /action\(/.test(text) ? 'paired' : 'alone'
    countIn(statuses, kind)
  }
  return { statuses }
}
