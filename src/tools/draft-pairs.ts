import type { EnumRow } from '../tables/fields.ts'
import { type Contract, type ContractOperation, type Members, type SchemaMember, type SchemaShape, whyUnfinished } from './contract.ts'

/** Words that mean the same in names of members. */
const STEMS: Readonly<Record<string, string>> = {
  creation: 'create',
  created: 'create',
  updated: 'update',
  modified: 'update',
  modification: 'update',
  deleted: 'delete',
  deletion: 'delete',
  expires: 'expire',
  expiration: 'expire',
  at: 'time',
  date: 'time',
  timestamp: 'time',
}

/** Returns the words of a name: `creationTime`, `created_at` → `create time`. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9@]+/)
    .filter(Boolean)
    .map((word) => STEMS[word] ?? word)
}

/** True if both names are spelled alike but for case and separators. */
function isSameName(one: string, other: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9@]/g, '')
  return plain(one) === plain(other)
}

/** True if both names have the same words, or the words of one end with those of the other: `lifecycleState` and `state`. */
function isSimilarName(one: string, other: string): boolean {
  const [longer, shorter] = [wordsOf(one).join(' '), wordsOf(other).join(' ')].sort((a, b) => b.length - a.length) as [string, string]
  return longer === shorter || longer.endsWith(` ${shorter}`)
}

/** What is known of a v1 member: its place in v2 and why, or why nobody can know. */
export type Matched =
  | {
      readonly v2: string
      readonly because: string
      readonly isReadOnly: boolean
      readonly isNullable?: boolean | undefined
      readonly shape: MatchedShape
    }
  | { readonly v2: undefined; readonly because: string; readonly shape: SchemaShape }

/** The shape of a pair. Enums have the values of both. */
export type MatchedShape =
  | Exclude<SchemaShape, { kind: 'choice' | 'list' | 'map' | 'object' | 'unknown' }>
  | { readonly kind: 'choice'; readonly v1: readonly string[]; readonly v2: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: MatchedShape; readonly holdsNull?: true }
  | { readonly kind: 'object'; readonly name: string | undefined; readonly members: MatchedMembers }

export type MatchedMembers = Readonly<Record<string, Matched>>

/** Finds for each v1 member the one of the same parent that has its type, its access and its name, or a name like it. */
function matchMembers(v1: Members, v2: Members): MatchedMembers {
  const same = new Map(Object.keys(v1).map((name) => [name, Object.keys(v2).filter((other) => isSameName(name, other))]))
  const taken = new Set([...same.values()].flat())
  return Object.fromEntries(
    Object.entries(v1).map(([name, member]): [string, Matched] => {
      const [namesake] = same.get(name) ?? []
      const other = namesake === undefined ? undefined : v2[namesake]
      if (namesake !== undefined && other) return [name, pairOf(member, namesake, other, 'the same name and type')]
      return [name, similarOf(name, member, v1, v2, taken)]
    }),
  )
}

/** A name that is only like it must be the only one, seen from both sides. The type must say something: a text could be anything. */
function similarOf(name: string, member: SchemaMember, v1: Members, v2: Members, taken: ReadonlySet<string>): Matched {
  const { shape } = member
  const alike = (names: readonly string[], wanted: string) => names.filter((other) => isSimilarName(other, wanted))
  const free = Object.keys(v2).filter((other) => !taken.has(other) && v2[other]?.shape.kind === shape.kind)
  const [candidate, second] = alike(free, name)
  const other = candidate === undefined ? undefined : v2[candidate]
  if (candidate === undefined || !other) return undecided(shape, 'no member of v2 beside it has its name')
  const rivals = alike(
    Object.keys(v1).filter((one) => v1[one]?.shape.kind === shape.kind),
    candidate,
  )
  if (second !== undefined || rivals.length > 1) return undecided(shape, `${[candidate, second].filter(Boolean).join(', ')} may be it`)
  if (shape.kind !== 'time' && shape.kind !== 'choice')
    return undecided(shape, `${candidate} may be it, but a ${shape.kind} may mean anything`)
  return pairOf(member, candidate, other, `the only ${shape.kind === 'time' ? 'time' : 'enum'} with a name like it`)
}

function pairOf(one: SchemaMember, name: string, other: SchemaMember, because: string): Matched {
  if (one.isReadOnly !== other.isReadOnly) {
    const which = one.isReadOnly ? 'only v1 says that it is read-only' : 'only v2 says that it is read-only'
    return undecided(one.shape, `v2's ${name} may mean something else: ${which}`)
  }
  if (name.includes('.')) return undecided(one.shape, `v2's ${name} has a dot, which a row takes for a member of a member`)
  const shape = shapeOfPair(one.shape, other.shape)
  if (typeof shape === 'string') return undecided(one.shape, `v2's ${name} ${shape}`)
  return { v2: name, because, isReadOnly: one.isReadOnly, isNullable: one.isNullable && other.isNullable, shape }
}

/** Returns the shape of a pair, or what stands against it. */
function shapeOfPair(one: SchemaShape, other: SchemaShape): MatchedShape | string {
  if (one.kind === 'unknown') return `cannot be compared: v1's ${one.because}`
  if (other.kind === 'unknown') return `cannot be compared: it ${other.because}`
  if (one.kind !== other.kind) return `is of the kind ${other.kind}, and v1's of the kind ${one.kind}`
  if (one.kind === 'choice' && other.kind === 'choice') return choiceOf(one.values, other.values)
  if (one.kind === 'object' && other.kind === 'object')
    return { kind: 'object', name: one.name, members: matchMembers(one.members, other.members) }
  if ((one.kind === 'list' || one.kind === 'map') && (other.kind === 'list' || other.kind === 'map')) {
    const of = shapeOfPair(one.of, other.of)
    if (typeof of === 'string') return of
    if (of.kind === 'list' || of.kind === 'map') return `has no row: it is a ${one.kind} of the kind ${of.kind}`
    if (other.holdsNull && !one.holdsNull) return "may hold null, and v1's may not"
    return { kind: one.kind, of, ...(other.holdsNull && { holdsNull: true }) }
  }
  return { kind: one.kind } as MatchedShape
}

/** How names of the unset value of an enum end. */
const UNSET = /(?:^|_)(?:unspecified|unknown|unset|undefined|none|invalid)$/i

/** v2's values must be v1's, but for the unset one, which each version prefixes. The unset one of one is no other value of the other. */
function choiceOf(v1: readonly string[], v2: readonly string[]): MatchedShape | string {
  const known = v2.slice(1).every((value) => v1.includes(value))
  const [zero = '', v2Zero = ''] = [v1[0], v2[0]]
  const isOther = v1.indexOf(v2Zero) > 0 || v2.indexOf(zero) > 0
  const isSame = zero === v2Zero || (UNSET.test(zero) && UNSET.test(v2Zero))
  if (v1.length === 0 || v2.length === 0 || !known || isOther || !isSame) return 'has other values'
  return { kind: 'choice', v1, v2 }
}

function undecided(shape: SchemaShape, because: string): Matched {
  return { v2: undefined, because, shape }
}

/** A v1 operation and the v2 operation that takes its place, or why a person must say which. */
export type OperationPair =
  | {
      readonly v1: ContractOperation
      readonly v2: ContractOperation
      readonly query: MatchedMembers
      readonly request: MatchedShape | undefined
      readonly answer: MatchedShape | undefined
    }
  | { readonly v1: ContractOperation; readonly v2: undefined; readonly because: string }

/** Finds for each v1 operation the one with its method and its path, where only the base path, the version and the names of variables may differ. */
export function pairOperations(v1: Contract, v2: Contract): readonly OperationPair[] {
  const byPath = new Map<string, ContractOperation[]>()
  for (const other of v2.operations) {
    const path = plainPath(other.below)
    byPath.set(path, [...(byPath.get(path) ?? []), other])
  }
  return v1.operations.map((one) => {
    const there = byPath.get(plainPath(one.below)) ?? []
    const same = there.filter(({ method }) => method === one.method)
    const [other] = same
    if (!other || same.length > 1) return undecidedPair(one, whyNone(one, there))
    const query = matchMembers(one.query, other.query)
    const given = new Set(Object.values(query).map(({ v2: name }) => name))
    const missing = other.needs.filter((name) => !given.has(name))
    if (missing.length > 0) return undecidedPair(one, `${other.method} ${other.path} has its path, but needs ${missing.join(', ')}`)
    const unfinished = whyUnfinished(other)
    if (unfinished !== undefined) return undecidedPair(one, `${other.method} ${other.path} has its path, but ${unfinished}`)
    const request = bodiesOf(one.request, other.request)
    const answer = bodiesOf(one.answer, other.answer)
    const problem =
      typeof request === 'string' ? `the body: v2's ${request}` : typeof answer === 'string' ? `the answer: v2's ${answer}` : undefined
    if (problem !== undefined) return undecidedPair(one, `${other.method} ${other.path} has its path, but not ${problem}`)
    return { v1: one, v2: other, query, request, answer } as OperationPair
  })
}

/** Two bodies go together if both are there and have one name, or a member in common. */
function bodiesOf(one: SchemaShape | undefined, other: SchemaShape | undefined): MatchedShape | string | undefined {
  if (one === undefined && other === undefined) return undefined
  if (one === undefined || other === undefined) return `is ${other ? 'there' : 'absent'}, and v1's is ${one ? 'there' : 'absent'}`
  const pair = shapeOfPair(one, other)
  if (typeof pair === 'string' || pair.kind !== 'object' || one.kind !== 'object' || other.kind !== 'object')
    return typeof pair === 'string' ? pair : 'is not an object'
  const isEmpty = Object.keys(one.members).length === 0 && Object.keys(other.members).length === 0
  const isNamesake = one.name !== undefined && one.name === other.name
  const hasMember = Object.values(pair.members).some(({ v2 }) => v2 !== undefined)
  return isEmpty || (isNamesake && hasMember)
    ? pair
    : `is ${other.name ?? 'another message'}, and v1's is ${one.name ?? 'a message without a name'}`
}

function whyNone({ method }: ContractOperation, there: readonly ContractOperation[]): string {
  if (there.length === 0) return 'no operation of v2 has its path'
  const methods = there.map((other) => `${other.method} ${other.path}`).join(', ')
  const patch = there.find((other) => other.method === 'PATCH')
  return method === 'PUT' && patch
    ? `v2 updates by PATCH ${patch.path}: say which members it replaces, as replace() or an operation with a plan`
    : `v2 has ${methods} there, and no ${method}`
}

/** `/v1/projects/{projectId}` → `/projects/{}`. */
function plainPath(path: string): string {
  return path
    .replace(/\/v\d+(?:(?:alpha|beta)\d*|\.\d+)?(?=\/|$)/, '')
    .replace(/\{[^{}]*\}/g, '{}')
    .toLowerCase()
}

function undecidedPair(v1: ContractOperation, because: string): OperationPair {
  return { v1, v2: undefined, because }
}

/** The rows of a drafted enum: the unset values of both versions, and the values that both spell alike. */
export function enumRowsOf({ v1, v2 }: Extract<MatchedShape, { kind: 'choice' }>): {
  readonly rows: readonly EnumRow[]
  readonly v1Only: readonly (readonly [string, number])[]
} {
  const [zero = '', ...others] = v1
  return {
    rows: [[zero, v2[0] ?? ''], ...others.filter((value) => v2.includes(value)).map((value): EnumRow => [value, value])],
    v1Only: others.flatMap((value): [string, number][] => (v2.includes(value) ? [] : [[value, v1.indexOf(value)]])),
  }
}
