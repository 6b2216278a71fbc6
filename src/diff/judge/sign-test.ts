import { isDeepStrictEqual } from 'node:util'
import { isObject } from '../../tables/json.ts'
import { compileCondition } from '../../tables/query.ts'
import { anything, type Sign } from '../../tables/signs.ts'
import type { Finding } from '../compare/finding.ts'
import { segmentsOf } from '../compare/json-path.ts'
import type { AskedRequest } from './asked-request.ts'
import { isOfOtherWindow } from './other-window.ts'

/** Tests whether a sign explains a finding about the answers to a request. */
export type SignTest = (asked: AskedRequest, finding: Finding) => boolean

export function compileSign(sign: Sign): SignTest {
  const places = sign.at.map(placePattern)
  const isAsked = sign.when && compileCondition(sign.when)
  const looks = LOOKS.flatMap((compile) => compile(sign) ?? [])
  return (asked, finding) =>
    sign.kinds.includes(finding.kind) &&
    places.some((place) => place(finding.where)) &&
    looks.every((look) => look(finding)) &&
    isAsked?.(asked) !== false &&
    (!sign.otherWindow || isOfOtherWindow(asked, finding))
}

type Look = (finding: Finding) => boolean

/** Each returns the test of one member of a sign; undefined if the sign does not have it. */
const LOOKS: readonly ((sign: Sign) => Look | undefined)[] = [
  (sign) => (Object.hasOwn(sign, 'v1') ? ({ v1 }) => isDeepStrictEqual(v1, sign.v1) : undefined),
  (sign) => (Object.hasOwn(sign, 'v2') ? ({ v2 }) => isDeepStrictEqual(v2, sign.v2) : undefined),
  ({ pairs }) => pairs && (({ v1, v2 }) => pairs.some((pair) => isDeepStrictEqual([v1, v2], pair))),
  ({ v2Counts }) => v2Counts && isFewer,
  ({ v2Items }) => v2Items && (({ v2 }) => hasItems(v2, v2Items)),
  ({ v2Shows }) => v2Shows && (({ shown }) => shows(shown, v2Shows)),
]

/** v1 and v2 write 64-bit numbers as text (facts §16.5). */
function isFewer({ v1, v2 }: Finding): boolean {
  const [all, some] = [wholeNumber(v1), wholeNumber(v2)]
  return all !== undefined && some !== undefined && some > 0n && some < all
}

function wholeNumber(value: unknown): bigint | undefined {
  return /^\d{1,20}$/.test(String(value)) ? BigInt(String(value)) : undefined
}

function hasItems(list: unknown, wanted: NonNullable<Sign['v2Items']>): boolean {
  const members = Object.entries(wanted)
  const isWanted = (item: unknown) => isObject(item) && members.every(([name, values]) => values.includes(item[name]))
  return Array.isArray(list) && list.length > 0 && list.every(isWanted)
}

function shows(shown: Finding['shown'], wanted: NonNullable<Sign['v2Shows']>): boolean {
  if (!shown || Object.keys(shown).some((name) => !Object.hasOwn(wanted, name))) return false
  return Object.entries(wanted).every(
    ([name, value]) => value === anything || (Object.hasOwn(shown, name) && isDeepStrictEqual(shown[name], value)),
  )
}

/** Returns a test of whether a `where` matches a pattern of segments. */
function placePattern(pattern: string): (where: string) => boolean {
  if (!pattern.includes('*')) return (where) => where === pattern
  const wanted = segmentsOf(pattern)
  return (where) => fits(wanted, segmentsOf(where))
}

function fits([first, ...rest]: readonly string[], segments: readonly string[]): boolean {
  if (first === undefined) return segments.length === 0
  if (first === '**') return segments.some((_, at) => fits(rest, segments.slice(at))) || fits(rest, [])
  return segments.length > 0 && (first === '*' || first === segments[0]) && fits(rest, segments.slice(1))
}
