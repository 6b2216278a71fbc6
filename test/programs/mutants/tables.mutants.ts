import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import { mappings } from '../../../mappings/index.ts'
import { createRouter } from '../../../src/serve/route.ts'
import { checkMappings } from '../../../src/tables/check.ts'
import { type EnumMap, enumMap, type Field, type Fields, type FieldType, type Source } from '../../../src/tables/fields.ts'
import type { Operation } from '../../../src/tables/operation.ts'
import { asParam, type Param, rowsOf } from '../../../src/tables/query.ts'
import { type MaskRule, type Message, message, type Resource } from '../../../src/tables/resource.ts'
import type { DeclaredDifference } from '../../../src/tables/tables.ts'
import { DIALECTS } from '../../../src/tables/uid.ts'
import { cases } from '../../contract/cases/index.ts'
import { complaintsAboutList, complaintsOf, type Outcome, run } from '../../contract/run.ts'
import { startSides } from '../../contract/stage.ts'
import type { Dialect } from '../../contract/target.ts'
import { expected, play } from '../../mappings/transcript.ts'
import { transcripts } from '../../mappings/transcripts.ts'
import { agreements, pairs } from '../../properties/genuine.ts'
import { explained, type Mutant, overwrite, shuffled } from './mutant.ts'

/** The contract cases of the faulty operations, each on services of its own: what a fault leaves behind misleads nobody. */
const contract: Suite = async ({ operations }) => {
  for (const dialect of ['specification', 'published'] as const) {
    const told = await complaintOf(dialect, operations)
    if (told !== undefined) return `contract, ${dialect} dialect: ${told}`
  }
  return undefined
}

async function complaintOf(dialect: Dialect, operations: readonly string[]): Promise<string | undefined> {
  const chosen = cases.filter((one) => (one.dialect ?? dialect) === dialect && one.operations.some((id) => operations.includes(id)))
  const sides = await startSides(dialect)
  try {
    for (const one of chosen) {
      const outcome: Outcome = { case: one, genuine: await run(one, sides.genuine), proxied: await run(one, sides.proxied) }
      const [complaint] = complaintsOf(outcome, differences)
      if (complaint !== undefined) return complaint
    }
    return undefined
  } finally {
    await sides.close()
  }
}

let outcomes: Promise<readonly Outcome[]> | undefined

/** What the contract says of the list of differences. The cases that differ are played once: the list is not part of the services. */
const declared: Suite = async ({ operations }) => {
  if (operations.length > 0) return undefined
  outcomes ??= playDiffering()
  const told = [...complaintsAboutList(cases, differences), ...(await outcomes).flatMap((outcome) => complaintsOf(outcome, differences))]
  return told[0] === undefined ? undefined : `contract: ${told[0]}`
}

async function playDiffering(): Promise<readonly Outcome[]> {
  const sides = await startSides('specification')
  const played: Outcome[] = []
  try {
    for (const one of cases) {
      if (one.difference === undefined || one.dialect === 'published') continue
      played.push({ case: one, genuine: await run(one, sides.genuine), proxied: await run(one, sides.proxied) })
    }
    return played
  } finally {
    await sides.close()
  }
}

/** Each code left out, each one given for an operation that does not show it, and one that is made up. */
function differenceMutants(): readonly Mutant[] {
  const [first] = differences
  if (!first) return []
  return [
    ...differences.flatMap((difference, at) => [
      fault(`difference ${difference.code}: left out`, differences.toSpliced(at, 1)),
      fault(
        `difference ${difference.code}: said of another operation`,
        differences.with(at, { ...difference, operations: [...difference.operations, 'no.such.operation'] }),
      ),
    ]),
    fault('a difference that nobody sees', [...differences, { ...first, code: 'made-up' }]),
  ]
}

function fault(name: string, list: readonly DeclaredDifference[]): Mutant {
  return { name, operations: [], apply: () => replaced(differences as DeclaredDifference[], list) }
}

function replaced(list: DeclaredDifference[], other: readonly DeclaredDifference[]): () => void {
  const before = list.splice(0, list.length, ...other)
  return () => void list.splice(0, list.length, ...before)
}

/** A row of a table at any depth. */
interface Row {
  readonly path: readonly string[]
  readonly field: Field
}

type ChangeRow = (name: string, field: Field) => readonly [name: string, field: Field]

/** Every row, those of inner messages after the row that holds them. */
function rowsBelow(fields: Fields, above: readonly string[] = []): readonly Row[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...above, name]
    return [{ path, field }, ...rowsBelow(innerFields(field.type) ?? {}, path)]
  })
}

/** The table with one row changed. */
function withRow(fields: Fields, [name, ...deeper]: readonly string[], change: ChangeRow): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([at, field]) => {
      if (at !== name) return [at, field]
      if (deeper.length === 0) return change(at, field)
      return [at, { ...field, type: withInner(field.type, (inner) => withRow(inner, deeper, change)) }]
    }),
  )
}

function innerFields(type: FieldType): Fields | undefined {
  if (type.kind === 'list' || type.kind === 'map') return innerFields(type.of)
  return type.kind === 'object' ? type.fields : undefined
}

function withInner(type: FieldType, change: (fields: Fields) => Fields): FieldType {
  if (type.kind === 'list' || type.kind === 'map') return { ...type, of: withInner(type.of, change) }
  return type.kind === 'object' ? { ...type, fields: change(type.fields) } : type
}

/** Each value of each enum exchanged with the next one. */
function enumMutants(operations: readonly Operation[]): readonly Mutant[] {
  const users = new Map<EnumMap, string[]>()
  for (const operation of operations) {
    for (const map of new Set(enumsOf(operation))) users.set(map, [...(users.get(map) ?? []), operation.id])
  }
  return [...users].flatMap(([map, ids]) =>
    map.rows.slice(1).map(([v1], at) => ({
      name: `${map.name}: ${map.rows[at]?.[0]} and ${v1} exchanged`,
      operations: ids,
      apply: () => overwrite(map, exchanged(map, at)),
    })),
  )
}

function exchanged({ name, rows, v1Only }: EnumMap, at: number): EnumMap {
  const [here, next] = [rows[at], rows[at + 1]]
  if (!here || !next) throw new Error(`${name} has no pair ${at}`)
  return enumMap(name, rows.with(at, [here[0], next[1], here[2] as number]).with(at + 1, [next[0], here[1], next[2] as number]), v1Only)
}

function enumsOf({ request, answer, envelope, params, orders }: Operation): readonly EnumMap[] {
  const inFields = [request, answer, envelope].flatMap((table) => rowsBelow(table?.shown ?? {}).flatMap(({ field }) => enumsIn(field.type)))
  const inQuery = Object.values(params).flatMap((row) => asParam(row).of ?? [])
  return [...inFields, ...inQuery, ...(orders ? [orders] : [])]
}

function enumsIn(type: FieldType): readonly EnumMap[] {
  if (type.kind === 'choice') return [type.of]
  return type.kind === 'list' || type.kind === 'map' ? enumsIn(type.of) : []
}

/** What a table is used for: to read bodies, to show answers. */
interface Use {
  readonly read: boolean
  readonly shown: boolean
}

interface Fault {
  readonly what: string
  readonly change: ChangeRow
}

/** Every fault of every row in the tables of these operations. */
function fieldMutants(operations: readonly Operation[]): readonly Mutant[] {
  return messagesOf(operations).flatMap((table) => {
    const users = operations.filter(({ request, answer, envelope }) => [request, answer, envelope].includes(table))
    return rowsBelow(table.shown).flatMap((row) =>
      faultsOf(row, useOf(row, table, users)).map(({ what, change }) => ({
        name: `${table.name}.${row.path.join('.')}: ${what}`,
        operations: users.map(({ id }) => id),
        apply: () => overwrite(table, rebuilt(table, row.path, change)),
      })),
    )
  })
}

/** Stamps are shown and stand in no table that is read. */
function useOf({ path: [name = ''] }: Row, table: Message, users: readonly Operation[]): Use {
  return {
    read: name in table.fields && users.some(({ request }) => request === table),
    shown: users.some(({ answer, envelope }) => answer === table || envelope === table),
  }
}

function messagesOf(operations: readonly Operation[]): readonly Message[] {
  const all = operations.flatMap(({ request, answer, envelope }) => [request, answer, envelope])
  return [...new Set(all)].filter((one): one is Message => one !== undefined)
}

function rebuilt(table: Message, path: readonly string[], change: ChangeRow): Partial<Message> {
  const { fields, read, v1Names } = message(table.name, withRow(table.fields, path, change))
  const { fields: shown, show } = message(table.name, withRow(table.shown, path, change))
  return { fields, read, v1Names, shown, show }
}

function faultsOf({ field }: Row, { read, shown }: Use): readonly Fault[] {
  const { access, presence, source, type } = field
  const emitted = shown && access !== 'writeOnly'
  const as =
    (changes: Partial<Field>): ChangeRow =>
    (name, row) => [name, { ...row, ...changes }]
  return [
    { what: 'member renamed', change: (name, row) => [`${name}_renamed`, { ...row, ...(row.json && { json: `${row.json}Renamed` }) }] },
    ...renamed(source).map((renamedSource, at) => ({ what: `source ${at + 1} renamed`, change: as({ source: renamedSource }) })),
    { what: `${type.kind} swapped`, change: as({ type: swapped(type) }) },
    ...(read && (access === 'readWrite' || access === 'writeOnly')
      ? [{ what: 'no longer written', change: as({ access: 'readOnly' }) }]
      : []),
    ...(read && access !== 'readWrite' && access !== 'writeOnly' ? [{ what: 'written', change: as({ access: 'readWrite' }) }] : []),
    ...(emitted ? [{ what: 'no longer shown', change: as({ access: 'writeOnly' }) }] : []),
    ...(emitted ? [{ what: `${presence} turned round`, change: as({ presence: presence === 'implicit' ? 'optional' : 'implicit' }) }] : []),
  ]
}

/** The source with each of its names misspelt in turn; rows without one have none to misspell. */
function renamed(source: Source | undefined): readonly Source[] {
  if (source === undefined || source === '') return []
  if (typeof source === 'string') return [`${source}Renamed`]
  if ('parentOf' in source) return renamed(source.parentOf).map((parentOf) => ({ parentOf: parentOf as string }))
  return source.firstOf.flatMap((one, at) => renamed(one).map((other) => ({ firstOf: source.firstOf.with(at, other) })))
}

/** Another type: one whose values look different in JSON, set or unset. */
function swapped(type: FieldType): FieldType {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return { kind: 'flag' }
    case 'long':
      return { kind: 'int' }
    case 'list':
    case 'map':
      return type.of
    default:
      return { kind: 'text' }
  }
}

type Paths = Exclude<MaskRule, '*'>

/** Each path of each field mask left out, and `*` replaced by a mask of nothing. */
function maskMutants(operations: readonly Operation[]): readonly Mutant[] {
  const writers = operations.filter(({ mask }) => mask)
  const rules = [...new Set(writers.map(({ mask }) => mask))].filter((mask): mask is Paths => typeof mask === 'object')
  const usersOf = (rule: MaskRule) => writers.filter(({ mask }) => mask === rule).map(({ id }) => id)
  return [
    ...rules.flatMap((rule) => [
      ...rule.always.map((path) => without(rule, 'always', path, usersOf(rule))),
      ...(rule.whenSet ?? []).map((path) => without(rule, 'whenSet', path, usersOf(rule))),
    ]),
    ...messagesOf(operations)
      .filter((table): table is Resource => (table as Partial<Resource> & Message).mask === '*')
      .flatMap((table) => {
        const written = writersOf(table, operations)
        const apply = () => overwrite(table, { mask: { always: [], because: 'a fault' } })
        return written.length > 0 ? [{ name: `${table.name}: * replaced by nothing`, operations: written, apply }] : []
      }),
  ]
}

function without(rule: Paths, list: 'always' | 'whenSet', path: string, operations: readonly string[]): Mutant {
  const left = (rule[list] ?? []).filter((other) => other !== path)
  return { name: `${operations[0]} mask: ${path} left out`, operations, apply: () => overwrite(rule, { [list]: left }) }
}

/** PUTs of the resource that a list shows: they share the first words of their ids. */
function writersOf(table: Resource, operations: readonly Operation[]): readonly string[] {
  const shown = operations.filter(({ answer, rows }) => answer === table && rows).map(({ id }) => id.slice(0, id.lastIndexOf('.')))
  return operations.filter(({ id, mask }) => mask === '*' && shown.includes(id.slice(0, id.lastIndexOf('.')))).map(({ id }) => id)
}

/** Every fault of every query row. Lists that share one table of filters share its faults. */
function queryMutants(operations: readonly Operation[]): readonly Mutant[] {
  return [...new Set(operations.map(({ params }) => params))].flatMap((params) => {
    const users = operations.filter((operation) => operation.params === params).map(({ id }) => id)
    const rows = rowsOf(params)
    return rows.flatMap(([name, row], at) =>
      queryFaultsOf(row).map(([what, param]) => ({
        name: `${users[0]}?${name}: ${what}`,
        operations: users,
        apply: () => overwrite(rows, rows.with(at, [name, param])),
      })),
    )
  })
}

function queryFaultsOf(row: Param): readonly (readonly [what: string, row: Param])[] {
  const { negate, v1Only, many, of, zeroIsNone, ...plain } = row
  return [
    ...(row.v2 === '' ? [] : [['renamed', { ...row, v2: `${row.v2}_renamed` }] as const]),
    ...(negate ? [['negation dropped', { ...plain }] as const] : []),
    ...(v1Only ? [['refusal dropped', { ...plain }] as const] : []),
    ...(zeroIsNone ? [['zero sent', { ...plain, ...(of && { of }), ...(many && { many }) }] as const] : []),
    ...(many ? [['given once', { ...row, many: false }] as const] : []),
    // A turned row or one of v1 alone reads its flag itself, whatever its kind.
    ...(row.kind === 'text' || negate || v1Only ? [] : [['read as text', { ...row, kind: 'text' as const }] as const]),
  ]
}

/** One way to notice a fault that is in place; says what it noticed. */
type Suite = (mutant: Pick<Mutant, 'operations'>) => Promise<string | undefined>

const operations = mappings.flatMap((mapping) => mapping.operations)
const router = createRouter(operations)

/** The checks that every start makes. */
const start: Suite = async () => {
  try {
    checkMappings(mappings)
    return undefined
  } catch (error) {
    return `start: ${(error as Error).message}`
  }
}

/** The conversations of the faulty operations. */
const conversations: Suite = async ({ operations: ids }) => {
  for (const one of transcripts) {
    if (!ids.includes(one.operation)) continue
    for (const dialect of DIALECTS) {
      const played = await play(one, router, dialect)
      if (!isDeepStrictEqual(played, expected(one, dialect))) return `transcript: ${one.operation}: ${one.title}`
    }
  }
  return undefined
}

/** The genuine twins of the faulty operations' tables, tried with few values: a fault shows soon or never. */
const twins: Suite = async ({ operations: ids }) => {
  const faulty = operations.filter(({ id }) => ids.includes(id))
  const tables = new Set(faulty.flatMap(({ request, answer, envelope }) => [request, answer, envelope]))
  for (const pair of pairs.filter(({ table }) => tables.has(table))) {
    for (const { what, drawn, check } of agreements(pair)) {
      const { failed } = fc.check(fc.property(drawn, check), { seed: 1, numRuns: 200, endOnFailure: true })
      if (failed) return `property: ${pair.table.name} ${what}`
    }
  }
  return undefined
}

/** Without a service; and the one that starts services, for what the others let pass. */
const quick: readonly Suite[] = [declared, start, conversations, twins]
const thorough: readonly Suite[] = [contract]

/** What the first suite that notices the fault says; a suite that breaks down over it has noticed it as well. */
async function noticed(mutant: Mutant, suites: readonly Suite[]): Promise<string | undefined> {
  const restore = mutant.apply()
  try {
    for (const suite of suites) {
      const told = await suite(mutant)
      if (told !== undefined) return told
    }
    return undefined
  } catch (error) {
    return `broke down: ${(error as Error).message}`
  } finally {
    restore()
  }
}

const all: readonly Mutant[] = [
  ...fieldMutants(operations),
  ...enumMutants(operations),
  ...queryMutants(operations),
  ...maskMutants(operations),
  ...differenceMutants(),
]

test('every fault in the tables is noticed, or nobody could', async () => {
  const { seconds, seed } = inject('mutants')
  const chosen = seconds === undefined ? all : shuffled(all, seed)
  const end = performance.now() + 1000 * (seconds ?? Number.POSITIVE_INFINITY)
  const survivors: string[] = []
  const stale: string[] = []
  let tried = 0
  let equal = 0
  for (const mutant of chosen) {
    if (performance.now() > end) break
    tried += 1
    const reason = explained.find(({ name }) => name.test(mutant.name))
    const told = await noticed(mutant, reason ? quick : [...quick, ...thorough])
    if (reason && told !== undefined) stale.push(`${mutant.name}: ${told}`)
    if (reason) equal += 1
    else if (told === undefined) survivors.push(mutant.name)
  }
  const sample = seconds === undefined ? '' : `, a sample of ${all.length} with seed ${seed}`
  for (const name of survivors) console.log(`survived: ${name}`)
  console.log(`killed ${tried - equal - survivors.length} of ${tried}, ${equal} explained, ${survivors.length} survived${sample}`)
  expect({ survivors, stale }).toEqual({ survivors: [], stale: [] })
})

test('without a fault, and after all of them, every suite is silent', async () => {
  const nothing: Mutant = { name: 'no fault', operations: operations.map(({ id }) => id), apply: () => () => {} }
  expect(await noticed(nothing, quick)).toBeUndefined()
  expect(await noticed({ ...nothing, operations: [] }, quick)).toBeUndefined()
})

test('every explanation explains something', () => {
  expect(explained.filter(({ name }) => !all.some((mutant) => name.test(mutant.name)))).toEqual([])
})
