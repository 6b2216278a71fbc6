import type { Field, Fields, FieldType, ObjectOf } from '../field.ts'
import type { Param, Params } from '../param.ts'

/**
 * Checks rows against the types of both versions while they are compiled. A wrong name is an error with a sentence, such as
 * `v2 has no member 'displayNmae'; it has 'displayName', 'name'`:
 *
 *     fields: rows<V1Project, V2Project>()({ name: text('displayName'), createTime: readOnly(time('createTime')) })
 *
 * `crosswalk draft` writes such types, and tools for OpenAPI do so too. It changes nothing when it runs.
 */
export const rows =
  <V1, V2>() =>
  <const F extends Fields>(fields: F & Rows<F, V1, V2>): F =>
    fields

/**
 * The same for the parameters of a query: `params: parameters<{ pageSize: number }, { page_size: number }>()({ pageSize: intParam('page_size') })`.
 */
export const parameters =
  <V1, V2>() =>
  <const P extends Params>(params: P & Parameters<P, V1, V2>): P =>
    params

/** The rows, or the sentence about each that is wrong. */
type Rows<F extends Fields, V1, V2> = {
  readonly [K in keyof F]: [RowProblem<K, F[K], V1, V2>] extends [never] ? F[K] : RowProblem<K, F[K], V1, V2>
}

type RowProblem<K, F extends Field, V1, V2> = unknown extends V1
  ? SourceProblem<F, V1, V2>
  : string extends K
    ? never
    : K extends keyof V1
      ? SourceProblem<F, Given<V1[K]>, V2>
      : Unknown<'v1', K & string, V1>

/** What is wrong with the source of a row, or with the rows inside. A row without a source has none. */
type SourceProblem<F extends Field, V1, V2> =
  F extends Field<infer S, infer T>
    ? S extends string
      ? string extends S
        ? never
        : [PathProblem<S, V2>] extends [never]
          ? InnerProblem<T, V1, At<S, V2>>
          : PathProblem<S, V2>
      : never
    : never

type PathProblem<P extends string, V2> = unknown extends V2
  ? never
  : P extends ''
    ? never
    : P extends `${infer Head}.${infer Rest}`
      ? Head extends keyof V2
        ? PathProblem<Rest, Given<V2[Head]>>
        : Unknown<'v2', Head, V2>
      : P extends keyof V2
        ? never
        : Unknown<'v2', P, V2>

/** The type at a dotted path. */
type At<P extends string, V2> = unknown extends V2
  ? unknown
  : P extends ''
    ? V2
    : P extends `${infer Head}.${infer Rest}`
      ? At<Rest, Given<V2[Head & keyof V2]>>
      : Given<V2[P & keyof V2]>

type InnerProblem<T extends FieldType, V1, V2> =
  T extends ObjectOf<infer F>
    ? AnyProblem<F, V1, V2>
    : T extends { readonly of: ObjectOf<infer F> }
      ? AnyProblem<F, Item<V1>, Item<V2>>
      : never

type AnyProblem<F extends Fields, V1, V2> = { readonly [K in keyof F]: RowProblem<K, F[K], V1, V2> }[keyof F]

/** A value that is there. What may hold anything stays so. */
type Given<V> = unknown extends V ? unknown : NonNullable<V>

/** What a list or a map holds. */
type Item<V> = unknown extends V ? unknown : V extends readonly (infer E)[] ? E : V extends Readonly<Record<string, infer E>> ? E : unknown

type Parameters<P extends Params, V1, V2> = {
  readonly [K in keyof P]: K extends keyof V1
    ? ParameterOf<P[K], V2>
    : Wrong<`v1 has no parameter '${K & string}'; it has ${Listed<keyof V1 & string>}`>
}

type ParameterOf<P extends Param | string, V2> =
  NameIn<P> extends '' | keyof V2
    ? P
    : string extends NameIn<P>
      ? P
      : Wrong<`v2 has no parameter '${NameIn<P>}'; it has ${Listed<keyof V2 & string>}`>

/** Holds a sentence that is no text: where two texts differ, the compiler shows neither. */
interface Wrong<Sentence extends string> {
  readonly wrong: Sentence
}

type NameIn<P extends Param | string> = P extends string ? P : P extends Param<infer N> ? N : never

type Unknown<Version extends string, Name extends string, V> = `${Version} has no member '${Name}'; it has ${Listed<keyof V & string>}`

/** `'a' | 'b'` → `'a', 'b'`. */
type Listed<Names extends string, Said extends string = ''> = [Names] extends [never]
  ? Said extends ''
    ? 'none'
    : Said
  : LastOf<Names> extends infer Last extends string
    ? Listed<Exclude<Names, Last>, Said extends '' ? `'${Last}'` : `'${Last}', ${Said}`>
    : never

/** The last of a union: an overloaded function shows its last signature. */
type LastOf<U> = (U extends U ? (one: () => U) => void : never) extends (one: infer I) => void
  ? I extends () => infer L
    ? L
    : never
  : never
