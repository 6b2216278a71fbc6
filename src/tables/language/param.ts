import type { EnumMap } from './enums.ts'

/** One v1 query parameter and its v2 parameter. */
export interface Param<N extends string = string> {
  readonly v2: N
  readonly kind: 'text' | 'flag' | 'time' | 'int' | 'choice'
  /** True if the parameter may be repeated; a request may give any other parameter once. */
  readonly many?: boolean
  /** v2 inverted the meaning and the default: always send `not v1` (facts §4.2). */
  readonly negate?: boolean
  readonly of?: EnumMap
  /** The zero value filters nothing and is not sent. */
  readonly zeroIsNone?: true
  /**
   * Why v2 cannot honour a flag. Only v1 can serve a request with true; without a v1 service it is INVALID_ARGUMENT.
   * False is v2's only behaviour.
   */
  readonly v1Only?: string
  /** True for a repeated message, which no gateway reads from a query: v1 refuses the parameter, and so does v2 (facts §7). */
  readonly neverTaken?: true
  /** What comes closest in v2, where v2 lacks the parameter or some of its values. */
  readonly made?: string
}

export type Params = Readonly<Record<string, Param | string>>

/** A boolean parameter. A row of a query maps a v1 parameter to the v2 one: `{ deprecated: flagParam('deprecated') }`. */
export const flagParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'flag' })

/** A parameter that may be repeated: `{ names: textsParam('names') }`. */
export const textsParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'text', many: true })

/** An RFC 3339 time: `{ since: timeParam('since') }`. */
export const timeParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'time' })

/** A 32-bit integer: `{ epoch: intParam('epoch') }`. */
export const intParam = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'int' })

/** An enum value, by name or number: `{ kind: choiceParam('kind', orgKind) }`. */
export const choiceParam = <const N extends string>(v2: N, of: EnumMap): Param<N> => ({ v2, kind: 'choice', of })

/** Enum values: `{ ecosystems: choicesParam('ecosystems', ecosystem) }`. */
export const choicesParam = <const N extends string>(v2: N, of: EnumMap): Param<N> => ({ v2, kind: 'choice', of, many: true })

/** A flag that v2 cannot honour, the reason, and what comes closest: `{ include_upstream: v1OnlyFlag('v2 lists built artifacts alone') }`. */
export const v1OnlyFlag = (because: string, made?: string): Param<''> => ({
  v2: '',
  kind: 'flag',
  v1Only: because,
  ...(made !== undefined && { made }),
})

/** A flag whose meaning v2 inverted: `{ exclude_referrers: negated('include_referrers') }`. */
export const negated = <const N extends string>(v2: N): Param<N> => ({ v2, kind: 'flag', negate: true })

/** The five members of the uidp filter, identical in both versions (facts §10.4): `query: { ...scope, name: 'name' }`. */
export const scope: Params = {
  'uidp.ancestors_of': 'uidp.ancestors_of',
  'uidp.descendants_of': 'uidp.descendants_of',
  'uidp.children_of': 'uidp.children_of',
  'uidp.in_root': flagParam('uidp.in_root'),
  'uidp.ids': textsParam('uidp.ids'),
}

export function asParam(row: Param | string): Param {
  return typeof row === 'string' ? { v2: row, kind: 'text' } : row
}
