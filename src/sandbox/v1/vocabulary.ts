import type { Vocabulary } from './message.ts'

type Triple = readonly [number: number, v1: string, stored: string]

function vocabulary(name: string, triples: readonly Triple[]): Vocabulary {
  return {
    name,
    toStored: new Map(triples.map(([, v1, stored]) => [v1, stored])),
    toV1: new Map(triples.map(([, v1, stored]) => [stored, v1])),
    zero: triples[0]?.[1] ?? '',
    byNumber: new Map(triples.map(([number, v1]) => [number, v1])),
  }
}

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

/** Names with one prefix where they are `stored` and another one, or none, where v1 has them `shown`. The first is the zero. */
export const zeroed = (
  name: string,
  values: readonly string[],
  { stored, shown = '' }: { readonly stored: string; readonly shown?: string },
): Vocabulary =>
  vocabulary(
    name,
    values.map((value, number): Triple => [number, shown + value, stored + value]),
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
