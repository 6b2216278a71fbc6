import type { ServedMessage, ServedOperation } from '../check/served-operation.ts'
import { TO_DECIDE } from '../check/undecided.ts'
import * as rows from '../tables/fields.ts'
import { enumMap } from '../tables/fields.ts'
import type { Params } from '../tables/query.ts'
import { enumRowsOf } from './enum-rows.ts'
import type { MatchedMembers, MatchedShape } from './match-members.ts'
import type { OperationPair } from './pair-operations.ts'

/** Returns the operations of a draft as its text describes them, so that they can be compared with both contracts. */
export function draftedOperations(pairs: readonly OperationPair[]): readonly ServedOperation[] {
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
      const row = rowOf(matched.shape, matched.v2)
      return [name, matched.isReadOnly ? rows.readOnly(row) : row]
    }),
  )
}

function rowOf(shape: MatchedShape, v2: string): rows.Field {
  return { ...rows.text(v2), type: typeOf(shape) }
}

function typeOf(shape: MatchedShape): rows.FieldType {
  if (shape.kind === 'object') return { kind: 'object', fields: fieldsOf(shape.members) }
  if (shape.kind === 'list' || shape.kind === 'map') return { kind: shape.kind, of: typeOf(shape.of) }
  if (shape.kind !== 'choice') return { kind: shape.kind }
  const { rows: values, v1Only } = enumRowsOf(shape)
  return { kind: 'choice', of: enumMap('enum', values, v1Only) }
}
