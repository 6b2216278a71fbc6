import type { Members, SchemaMember, SchemaShape } from '../contract/schema-shape.ts'
import { isSameName, isSimilarName } from './similar.ts'

/** What is known of a v1 member: its place in v2 and why, or why nobody can know. */
export type Matched =
  | {
      readonly v2: string
      readonly because: string
      readonly isReadOnly: boolean
      readonly shape: MatchedShape
    }
  | { readonly v2: undefined; readonly because: string; readonly shape: SchemaShape }

/** The shape of a pair. Enums have the values of both. */
export type MatchedShape =
  | Exclude<SchemaShape, { kind: 'choice' | 'list' | 'map' | 'object' | 'unknown' }>
  | { readonly kind: 'choice'; readonly v1: readonly string[]; readonly v2: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: MatchedShape }
  | { readonly kind: 'object'; readonly name: string | undefined; readonly members: MatchedMembers }

export type MatchedMembers = Readonly<Record<string, Matched>>

/** Finds for each v1 member the one of the same parent that has its type, its access and its name, or a name like it. */
export function matchMembers(v1: Members, v2: Members): MatchedMembers {
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
  const shape = shapeOfPair(one.shape, other.shape)
  if (typeof shape === 'string') return undecided(one.shape, `v2's ${name} ${shape}`)
  return { v2: name, because, isReadOnly: one.isReadOnly, shape }
}

/** Returns the shape of a pair, or what stands against it. */
export function shapeOfPair(one: SchemaShape, other: SchemaShape): MatchedShape | string {
  if (one.kind === 'unknown') return `cannot be compared: v1's ${one.because}`
  if (other.kind === 'unknown') return `cannot be compared: it ${other.because}`
  if (one.kind !== other.kind) return `is of the kind ${other.kind}, and v1's of the kind ${one.kind}`
  if (one.kind === 'choice' && other.kind === 'choice') return choiceOf(one.values, other.values)
  if (one.kind === 'object' && other.kind === 'object')
    return { kind: 'object', name: one.name, members: matchMembers(one.members, other.members) }
  if ((one.kind === 'list' || one.kind === 'map') && (other.kind === 'list' || other.kind === 'map')) {
    const of = shapeOfPair(one.of, other.of)
    return typeof of === 'string' ? of : { kind: one.kind, of }
  }
  return { kind: one.kind } as MatchedShape
}

/** v2's values must be v1's, but for the unset one, which each version prefixes. */
function choiceOf(v1: readonly string[], v2: readonly string[]): MatchedShape | string {
  const known = v2.slice(1).every((value) => v1.includes(value))
  if (v1.length === 0 || v2.length === 0 || !known) return 'has other values'
  return { kind: 'choice', v1, v2 }
}

function undecided(shape: SchemaShape, because: string): Matched {
  return { v2: undefined, because, shape }
}
