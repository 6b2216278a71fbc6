import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import { covers } from '../../../src/tables/operation.ts'
import type { Condition, ParamCondition } from '../../../src/tables/query.ts'
import type { Sign } from '../../../src/tables/signs.ts'
import type { DeclaredDifference } from '../../../src/tables/tables.ts'
import { court, operations } from '../given.ts'
import { SIGN_ROWS, type SignRow, type SignRows } from './sign-rows.ts'

type Signed = DeclaredDifference & Required<Pick<DeclaredDifference, 'signs'>>

const signed = differences.filter((one): one is Signed => one.signs !== undefined)
const coveredBy = (patterns: readonly string[]) => operations.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
const cases = signed.flatMap((one) => coveredBy(one.operations).map((operation) => ({ code: one.code, id: operation.id, operation })))

/** Every row of a difference, for each of its operations. */
function rowsOf({ code, operations: patterns }: DeclaredDifference, which: keyof SignRows): readonly SignRow[] {
  return coveredBy(patterns).flatMap((operation) => SIGN_ROWS[code]?.(operation)[which] ?? [])
}

/** Returns the names of the rows with this outcome if these signs were declared. */
function judged(one: DeclaredDifference, signs: readonly Sign[], rows: readonly SignRow[], outcome: 'expected' | 'mismatch') {
  const { judge } = court([{ ...one, signs }])
  return rows.filter(([, asked, v1, v2]) => judge(asked, v1, v2).outcome === outcome).map(([name]) => name)
}

describe('a declared difference', () => {
  it.each(cases)('$code explains what it declares of $id, and nothing beside it', ({ code, operation }) => {
    const { judge } = court(differences)
    const rows = SIGN_ROWS[code]?.(operation) ?? { inside: [], outside: [] }
    const outcomes = (list: readonly SignRow[]) => list.map(([name, asked, v1, v2]) => [name, judge(asked, v1, v2).outcome])
    expect(rows.inside.length).toBeGreaterThan(0)
    expect(rows.outside.length).toBeGreaterThan(0)
    expect(outcomes(rows.inside)).toEqual(rows.inside.map(([name]) => [name, 'expected']))
    expect(outcomes(rows.outside)).toEqual(rows.outside.map(([name]) => [name, 'mismatch']))
  })

  const parts = signed.flatMap((one) =>
    one.signs.flatMap((_, at) => lessened(one.signs, at).map((less) => ({ one, ...less, code: one.code }))),
  )
  it.each(parts)('$code is said of nothing more if it lacks $part', ({ one, signs }) => {
    expect(judged(one, signs, rowsOf(one, 'inside'), 'mismatch')).not.toEqual([])
  })

  const limits = signed.flatMap((one) =>
    one.signs.flatMap((_, at) => loosened(one.signs, at).map((more) => ({ one, ...more, code: one.code }))),
  )
  it.each(limits)('$code would hide a fault without $part', ({ one, signs }) => {
    expect(judged(one, signs, rowsOf(one, 'outside'), 'expected')).not.toEqual([])
  })
})

interface Altered {
  readonly part: string
  readonly signs: readonly Sign[]
}

/** The signs with less in one of them: a place, a pair, a value or a parameter is left out. Some row inside must then be missed. */
function lessened(signs: readonly Sign[], at: number): readonly Altered[] {
  const sign = signs[at] as Sign
  const altered = (part: string, other: Partial<Sign>): Altered => ({
    part: `${part} in sign ${at}`,
    signs: signs.with(at, { ...sign, ...other }),
  })
  const { at: places, pairs = [], v2Items = {}, when = [] } = sign
  return [
    ...places.map((place, nth) => altered(`the place ${place}`, { at: places.toSpliced(nth, 1) })),
    ...pairs.map((pair, nth) => altered(`the pair ${pair}`, { pairs: pairs.toSpliced(nth, 1) })),
    ...Object.entries(v2Items).flatMap(([name, values]) =>
      values.map((value, nth) => altered(`the item ${value}`, { v2Items: { ...v2Items, [name]: values.toSpliced(nth, 1) } })),
    ),
    ...when.flatMap((row, nth) =>
      [row.param]
        .flat()
        .map((name, which) =>
          altered(`the parameter ${name}`, { when: when.with(nth, { ...row, param: [row.param].flat().toSpliced(which, 1) }) }),
        ),
    ),
  ]
}

const LIMITS = ['v1', 'v2', 'pairs', 'v2Counts', 'v2Items', 'v2Shows', 'otherWindow', 'when', 'provenBy'] as const

/** The signs with one limit less in one of them. Some row outside must then be explained. */
function loosened(signs: readonly Sign[], at: number): readonly Altered[] {
  const sign = signs[at] as Sign
  const given = LIMITS.filter((limit) => Object.hasOwn(sign, limit))
  return [
    ...given.map((limit) => ({ part: `${limit} in sign ${at}`, signs: signs.with(at, without(sign, limit)) })),
    ...loosenedConditions(sign.when ?? []).map(({ part, when }) => ({
      part: `${part} in sign ${at}`,
      signs: signs.with(at, { ...sign, when }),
    })),
  ]
}

function loosenedConditions(when: Condition): readonly { readonly part: string; readonly when: Condition }[] {
  return when.flatMap((row, nth) => [
    { part: `the condition on ${row.param}`, when: when.toSpliced(nth, 1) },
    ...(['is', 'isNot'] as const)
      .filter((test) => row[test] !== undefined)
      .map((test) => ({ part: `${test} of ${row.param}`, when: when.with(nth, without(row, test) as ParamCondition) })),
  ])
}

function without<T extends object>(object: T, name: keyof T): T {
  const { [name]: _, ...others } = object
  return others as T
}
