import type { EnumRow } from '../tables/fields.ts'
import type { MatchedShape } from './match-members.ts'

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
