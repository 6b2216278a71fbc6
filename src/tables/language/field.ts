import type { Convert } from '../compile/convert.ts'
import type { EnumMap } from './enums.ts'
import type { Dialect } from './names.ts'

/** The type of a v1 member. It decides how the member is read, written and shown when unset (facts §16). */
export type FieldType =
  | { readonly kind: 'text' | 'flag' | 'long' | 'time' | 'duration' | 'bytes' }
  | { readonly kind: 'int'; readonly unsigned?: true }
  | { readonly kind: 'choice'; readonly of: EnumMap; readonly dropUnknown?: boolean }
  | {
      readonly kind: 'object'
      readonly fields: Fields
      /** The name of the message, where it is described alone (`shape`). */
      readonly name?: string
    }
  | { readonly kind: 'list' | 'map'; readonly of: FieldType }

/** The place of the value in the v2 form: a dotted path, the parent part of a uid, or the first of several that is set. */
export type Source = string | { readonly parentOf: string } | { readonly firstOf: readonly Source[] }

/** One row: a v1 member and its v2 counterpart. The compiler knows the source and the rows inside, which `rows` compares with contracts. */
export interface Field<S extends Source | undefined = Source | undefined, T extends FieldType = FieldType> {
  readonly type: T
  /** Undefined if v2 has no such member; v1 then gets the unset value. */
  readonly source: S
  /**
   * `readOnly` members of a v1 body are dropped. `writeOnly` members are never shown. `elsewhere` members belong to another v2 resource.
   */
  readonly access: 'readWrite' | 'readOnly' | 'writeOnly' | 'elsewhere'
  /** When unset, `implicit` members are shown; `optional` ones and members of a oneof are absent. */
  readonly presence: 'implicit' | 'optional'
  /** v2 has no presence here and sends zero for unset. Zero is therefore absent in v1 too (facts §16.4). */
  readonly zeroIsUnset?: true
  readonly oneof?: string
  /** Absent where v2 hides it from the caller (`WITHHELD`): any value would be false. */
  readonly mayBeWithheld?: true
  /** The published JSON name, if protobuf would derive another one. */
  readonly json?: string
  /** The only dialect that shows it. */
  readonly only?: Dialect
  /** How the versions write the value, where they write it differently. */
  readonly convert?: Convert
  /** How a client of v2 gets the value if the answer to its main call does not have it. */
  readonly made?: string
  /** What the pair loses, in a few words. */
  readonly lossy?: string
}

export type Fields = Readonly<Record<string, Field>>

/** The type of an object whose rows the compiler knows. */
export interface ObjectOf<F extends Fields> {
  readonly kind: 'object'
  readonly fields: F
  readonly name?: string
}

const field = <S extends Source | undefined, T extends FieldType>(type: T, source: S): Field<S, T> => ({
  type,
  source,
  access: 'readWrite',
  presence: 'implicit',
})

/** A string: `name: text('name')`. A row is a v1 member and the dotted path of its value in the v2 form. */
export const text = <const S extends Source>(source: S): Field<S> => field({ kind: 'text' }, source)
/** A boolean: `enabled: flag('enabled')`. */
export const flag = <const S extends Source>(source: S): Field<S> => field({ kind: 'flag' }, source)
/** 32-bit, a JSON number: `epoch: int('epoch')`. */
export const int = <const S extends Source>(source: S): Field<S> => field({ kind: 'int' }, source)
/** Unsigned in v1, signed in v2: from 0 to 2^31 - 1 is what both can hold. */
export const uint = <const S extends Source>(source: S): Field<S> => field({ kind: 'int', unsigned: true }, source)
/** 64-bit, a JSON string on both sides: `tag_count: long('tagCount')`. */
export const long = <const S extends Source>(source: S): Field<S> => field({ kind: 'long' }, source)
/** RFC 3339, passed through character by character (facts §19): `expiration: time('expireTime')`. */
export const time = <const S extends Source>(source: S): Field<S> => field({ kind: 'time' }, source)
/** `"3600s"` in JSON: `ttl: duration('ttl')`. */
export const duration = <const S extends Source>(source: S): Field<S> => field({ kind: 'duration' }, source)
/** base64 text: `digest: bytes('digest')`. */
export const bytes = <const S extends Source>(source: S): Field<S> => field({ kind: 'bytes' }, source)
/** A value of an enum: `kind: choice('kind', orgKind)`. */
export const choice = <const S extends Source>(source: S, of: EnumMap): Field<S> => field({ kind: 'choice', of }, source)
/** A message with a table of its own: `static: object('staticKeys', { issuer: text('issuer') })`. */
export const object = <const S extends Source, F extends Fields>(source: S, fields: F): Field<S, ObjectOf<F>> =>
  field({ kind: 'object', fields }, source)
/** A list of strings: `aliases: texts('aliases')`. */
export const texts = <const S extends Source>(source: S): Field<S> => field({ kind: 'list', of: { kind: 'text' } }, source)
/** A list of enum values, without the v2 values that the table lacks (facts §18): `capabilities: choices('capabilities', capabilities)`. */
export const choices = <const S extends Source>(source: S, of: EnumMap): Field<S> =>
  field({ kind: 'list', of: { kind: 'choice', of, dropUnknown: true } }, source)
/** A list of messages: `accounts: objects('accounts', { name: text('name') })`. */
export const objects = <const S extends Source, F extends Fields>(source: S, fields: F): Field<S, { kind: 'list'; of: ObjectOf<F> }> =>
  field({ kind: 'list', of: { kind: 'object', fields } }, source)
/** A user's map. Its keys are data and never renamed: `claims: textMap('claims')`. */
export const textMap = <const S extends Source>(source: S): Field<S> => field({ kind: 'map', of: { kind: 'text' } }, source)
/** A user's map of numbers: `resource_limits: intMap('resourceLimits')`. */
export const intMap = <const S extends Source>(source: S): Field<S> => field({ kind: 'map', of: { kind: 'int' } }, source)
/** A user's map of messages: `components: objectMap('components', { version: text('version') })`. */
export const objectMap = <const S extends Source, F extends Fields>(source: S, fields: F): Field<S, { kind: 'map'; of: ObjectOf<F> }> =>
  field({ kind: 'map', of: { kind: 'object', fields } }, source)

/** An object of v1 whose members are flat in the v2 form: `questions: nested({ company: text('company') })`. */
export const nested = <F extends Fields>(fields: F): Field<'', ObjectOf<F>> => field({ kind: 'object', fields }, '')

/** The row of a source alone is a text. */
type RowOf<R extends Field | Source> = R extends Source ? Field<R> : R extends Field ? R : never

/** Output only, because v2 refuses or ignores it: `id: readOnly('uid')`, `kind: readOnly(choice('kind', orgKind))`. */
export const readOnly = <const R extends Field | Source>(row: R): RowOf<R> => ({ ...asField(row), access: 'readOnly' })
/** Accepted from v1, never shown: `secret: writeOnly(text('clientSecret'))`. */
export const writeOnly = <F extends Field>(row: F): F => ({ ...row, access: 'writeOnly' })
/** Shown by v1 and written by a call of its own; the plan sets the value: `readme: elsewhere(text('content'))`. */
export const elsewhere = <F extends Field>(row: F): F => ({ ...row, access: 'elsewhere' })
/** proto3 `optional`, absent when unset: `size: optional(int('size'))`. */
export const optional = <F extends Field>(row: F): F => ({ ...row, presence: 'optional' })
/** proto3 `optional` in v1 only: v2 cannot tell zero from unset. */
export const optionalInV1 = <F extends Field>(row: F): F => ({ ...optional(row), zeroIsUnset: true })
/** A member of the oneof `group`, of which at most one is present: `oidc: oneof('configuration', object('oidc', oidc))`. */
export const oneof = <F extends Field>(group: string, row: F): F => ({ ...row, presence: 'optional', oneof: group })
/** A v1 member without a v2 source, and the reason: `grace_status: gone(text, 'v2 knows no grace period')`. */
export const gone = (row: (source: Source) => Field, lossy: string): Field<undefined> => ({
  ...row(''),
  source: undefined,
  access: 'readOnly',
  lossy,
})
/** The published JSON name, if protobuf would derive another one: `jsonName('sync_config', object('sync_config', config))`. */
export const jsonName = <F extends Field>(json: string, row: F): F => ({ ...row, json })
/** A pair that loses something, with the loss: `lossy('v2 keeps no seconds', time('createTime'))`. */
export const lossy = <F extends Field>(why: string, row: F): F => ({ ...row, lossy: why })

/**
 * A value that the versions write differently. The row has v1's type and v2's place; the functions are between them:
 *
 *     number: readOnly(converted(long('name'), { show: (name) => String(name).replace('projects/', '') }))
 */
export const converted = <S extends Source | undefined>(row: Field<S>, convert: Convert): Field<S> => ({ ...row, convert })

/** A member that the proxy makes, and how: `count: made('count the rows', long('count'))`. */
export const made = <F extends Field>(how: string, row: F): F => ({ ...row, made: how })
/** The parent part of a uid: `group_id: readOnly(parentOf('uid'))`. */
export const parentOf = (uid: string): Source => ({ parentOf: uid })
/** The first source that is set: `group: readOnly(firstOf('group.uid', parentOf('uid')))`. */
export const firstOf = (...sources: readonly Source[]): Source => ({ firstOf: sources })

function asField<R extends Field | Source>(row: R): RowOf<R> {
  return (typeof row === 'object' && 'type' in row ? row : text(row as Source)) as RowOf<R>
}
