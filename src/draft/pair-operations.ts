import type { Contract, ContractOperation } from '../contract/public-contract.ts'
import type { SchemaShape } from '../contract/schema-shape.ts'
import { type MatchedMembers, type MatchedShape, matchMembers, shapeOfPair } from './match-members.ts'

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

/** Finds for each v1 operation the one with its method and its path, where only the version and the names of variables may differ. */
export function pairOperations(v1: Contract, v2: Contract): readonly OperationPair[] {
  const byPath = new Map<string, ContractOperation[]>()
  for (const other of v2.operations) {
    const path = plainPath(other.path)
    byPath.set(path, [...(byPath.get(path) ?? []), other])
  }
  return v1.operations.map((one) => {
    const there = byPath.get(plainPath(one.path)) ?? []
    const same = there.filter(({ method }) => method === one.method)
    const [other] = same
    if (!other || same.length > 1) return undecided(one, whyNone(one, there))
    const query = matchMembers(one.query, other.query)
    const given = new Set(Object.values(query).map(({ v2: name }) => name))
    const missing = other.needs.filter((name) => !given.has(name))
    if (missing.length > 0) return undecided(one, `${other.method} ${other.path} has its path, but needs ${missing.join(', ')}`)
    const request = bodiesOf(one.request, other.request)
    const answer = bodiesOf(one.answer, other.answer)
    const problem =
      typeof request === 'string' ? `the body: v2's ${request}` : typeof answer === 'string' ? `the answer: v2's ${answer}` : undefined
    if (problem !== undefined) return undecided(one, `${other.method} ${other.path} has its path, but not ${problem}`)
    return { v1: one, v2: other, query, request, answer } as OperationPair
  })
}

/** Two bodies go together if both are there and have one name, or a member in common. */
function bodiesOf(one: SchemaShape | undefined, other: SchemaShape | undefined): MatchedShape | string | undefined {
  if (one === undefined && other === undefined) return undefined
  if (one === undefined || other === undefined) return `is ${other ? 'there' : 'absent'}, and v1's is ${one ? 'there' : 'absent'}`
  const pair = shapeOfPair(one, other)
  if (typeof pair === 'string' || pair.kind !== 'object' || one.kind !== 'object' || other.kind !== 'object')
    return typeof pair === 'string' ? pair : 'is no object'
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

function undecided(v1: ContractOperation, because: string): OperationPair {
  return { v1, v2: undefined, because }
}
