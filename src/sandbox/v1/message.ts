import { camelCase } from '../messages/message.ts'

/**
 * The language of the v1 messages (facts §3, §4, §16). A message is a list of members. Each has a proto name, a JSON name, a type and its
 * source member of the stored row. Rows are v2-shaped.
 */

export type V1Scalar = 'string' | 'bool' | 'int32' | 'uint32' | 'int64' | 'timestamp' | 'duration'

/** An enum or a closed vocabulary of strings: v1 name ↔ stored name. The first pair is the zero value. */
export interface Vocabulary {
  readonly name: string
  readonly toStored: ReadonlyMap<string, string>
  readonly toV1: ReadonlyMap<string, string>
  readonly zero: string
  /** v1 numbers, which JSON accepts too. They differ from v2's (facts §16.7). */
  readonly byNumber: ReadonlyMap<number, string>
}

type Triple = readonly [number: number, v1: string, stored: string]

const vocabulary = (name: string, triples: readonly Triple[]): Vocabulary => ({
  name,
  toStored: new Map(triples.map(([, v1, stored]) => [v1, stored])),
  toV1: new Map(triples.map(([, v1, stored]) => [stored, v1])),
  zero: triples[0]?.[1] ?? '',
  byNumber: new Map(triples.map(([number, v1]) => [number, v1])),
})

/** Names that are the same in v1 and in the store. */
export const sameNames = (name: string, ...values: readonly string[]): Vocabulary =>
  vocabulary(
    name,
    values.map((value, number) => [number, value, value]),
  )

/** v1 names that v2 prefixes. v1's zero is called UNKNOWN, v2's …_UNSPECIFIED. `first` is the v1 number after zero. */
export const prefixed = (name: string, prefix: string, first: number, ...values: readonly string[]): Vocabulary =>
  vocabulary(name, [
    [0, 'UNKNOWN', `${prefix}UNSPECIFIED`],
    ...values.map((value, at): Triple => [first + at, value, `${prefix}${value.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()}`]),
  ])

/** Stored names that all begin with `TYPE_`. v1 has `prefix` in its place. The first is the zero. */
export const typeNames = (name: string, values: readonly string[], prefix = ''): Vocabulary =>
  vocabulary(
    name,
    values.map((value, number): Triple => [number, value.replace('TYPE_', prefix), value]),
  )

/** The v1 names of an enum by number, as query parameters accept them. */
export const v1Names = ({ byNumber }: Vocabulary): readonly string[] => [...byNumber.values()]

/** A vocabulary of plain strings without numbers or a zero value, from pairs [v1 string, stored name]. */
export const strings = (name: string, pairs: Iterable<readonly [string, string]>): Vocabulary => {
  const all = [...pairs]
  return {
    name,
    toStored: new Map(all),
    toV1: new Map(all.map(([v1, stored]) => [stored, v1])),
    zero: '',
    byNumber: new Map(),
  }
}

export type Type =
  | { readonly kind: 'scalar'; readonly scalar: V1Scalar }
  | { readonly kind: 'enum'; readonly values: Vocabulary }
  | { readonly kind: 'message'; readonly message: V1Message }

export interface Member {
  readonly name: string
  readonly json: string
  /** Name of the member in the stored row. */
  readonly from: string
  readonly type: Type
  readonly shape: 'one' | 'list' | 'map'
  /** Set for oneof members and optional scalars, which are absent when unset instead of zero. A oneof's name links its members. */
  readonly presence?: string
  /** `out` is written by the server and read from no body. `in` is never shown again, like a secret (facts §3). */
  readonly flow: 'both' | 'in' | 'out'
}

/** Members the specification adds to a resource in its own dialect (specification §9.5). */
export type Extra = 'created_at' | 'updated_at' | 'group_id'

export interface V1Message {
  readonly name: string
  readonly members: readonly Member[]
  readonly extras: readonly Extra[]
}

type Settings = Partial<Pick<Member, 'json' | 'from' | 'shape' | 'presence' | 'flow'>>

const member =
  (type: Type) =>
  (name: string, settings: Settings = {}): Member => {
    const json = settings.json ?? camelCase(name)
    return { name, type, shape: 'one', flow: 'both', ...settings, json, from: settings.from ?? json }
  }

const scalar = (name: V1Scalar): Type => ({ kind: 'scalar', scalar: name })

export const text = member(scalar('string'))
export const flag = member(scalar('bool'))
export const int32 = member(scalar('int32'))
export const uint32 = member(scalar('uint32'))
export const int64 = member(scalar('int64'))
export const time = member(scalar('timestamp'))
export const duration = member(scalar('duration'))
export const choice = (values: Vocabulary) => member({ kind: 'enum', values })
export const object = (message: V1Message) => member({ kind: 'message', message })

export const list = (of: Member): Member => ({ ...of, shape: 'list' })
export const map = (of: Member): Member => ({ ...of, shape: 'map' })
export const readOnly = (of: Member): Member => ({ ...of, flow: 'out' })
export const writeOnly = (of: Member): Member => ({ ...of, flow: 'in' })
/** Members of which at most one may be set. Each is absent when unset. */
export const oneof = (name: string, ...members: readonly Member[]): readonly Member[] => members.map((of) => ({ ...of, presence: name }))
/** A proto3-optional scalar: absent when unset, shown even if set to zero. */
export const optional = (of: Member): Member => ({ ...of, presence: of.name })

export const message = (name: string, members: readonly Member[], extras: readonly Extra[] = []): V1Message => ({ name, members, extras })
