import { isObject, type JsonObject } from '../../tables/json.ts'
import type { DifferenceKind } from '../../tables/language/sign.ts'
import { align, canonical } from './align.ts'
import type { Finding } from './finding.ts'
import { ANY_FORM, type Form } from './form.ts'
import { ANY, below, checkDepth, type JsonPath, pointer, rowSegment } from './json-path.ts'
import { compareScalars } from './scalar.ts'

type Report = (finding: Finding) => void

/**
 * Reports every difference of two JSON values at one place. A member that only v1 has is `missing`, and one that only v2 has is `extra`.
 * The value does not matter: v1 distinguishes absent (oneof members, optional scalars), null and unset (facts §16.3).
 */
export function compareValues(form: Form, v1: unknown, v2: unknown, place: JsonPath, report: Report): void {
  if (v1 === v2) return
  checkDepth(place.depth)
  const say = (kind: DifferenceKind) => report(finding(kind, place, v1, v2))
  if (form.kind === 'whole') {
    if (canonical(v1) !== canonical(v2)) say('value')
  } else if (Array.isArray(v1) && Array.isArray(v2)) {
    compareLists(form.kind === 'list' ? form.of : ANY_FORM, v1, v2, place, report)
  } else if (isObject(v1) && isObject(v2)) {
    compareMembers(form, v1, v2, place, report)
  } else {
    const verdict = compareScalars(form.kind === 'scalar' ? form.of : 'any', v1, v2)
    if (verdict !== 'same') say(verdict)
  }
}

function compareMembers(form: Form, v1: JsonObject, v2: JsonObject, place: JsonPath, report: Report): void {
  let shown: JsonObject | undefined
  for (const name of Object.keys(v1)) {
    const [inner, memberForm] = member(form, name, place)
    if (Object.hasOwn(v2, name)) compareValues(memberForm, v1[name], v2[name], inner, report)
    else {
      shown ??= inTableNames(form, v2)
      report({ ...finding('missing', inner, v1[name], undefined), shown })
    }
  }
  for (const name of Object.keys(v2)) {
    if (!Object.hasOwn(v1, name)) report(finding('extra', member(form, name, place)[0], undefined, v2[name]))
  }
}

/** Returns an object with the table names of its members. */
export function inTableNames(form: Form, value: JsonObject): JsonObject {
  if (form.kind !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [form.members.get(name)?.name ?? name, member]))
}

/**
 * Returns the place and form of a member. A member that the table does not have keeps its name; below it, and in a user's map, names are
 * data.
 */
function member(form: Form, name: string, place: JsonPath): readonly [JsonPath, Form] {
  if (form.kind === 'object') {
    const known = form.members.get(name)
    return [below(place, name, known?.name ?? name), known?.form ?? ANY_FORM]
  }
  const isRoot = place.up === undefined
  return [below(place, name, isRoot ? name : ANY), form.kind === 'map' ? form.of : ANY_FORM]
}

/** Compares each row with its partner, whatever its position. A different order is one difference of its own. */
function compareLists(form: Form, v1: readonly unknown[], v2: readonly unknown[], place: JsonPath, report: Report): void {
  const { pairs, order } = align(v1, v2, form.kind === 'object' ? form.key : undefined)
  for (const { v1: left, v2: right, id } of pairs) {
    const row = below(place, String(left ?? right), ANY, rowSegment(id))
    if (left === undefined) report(finding('extra', row, undefined, v2[right as number]))
    else if (right === undefined) report(finding('missing', row, v1[left], undefined))
    else compareValues(form, v1[left], v2[right], row, report)
  }
  if (order) report(finding('order', place, order.v1, order.v2))
}

export function finding(kind: DifferenceKind, place: JsonPath, v1: unknown, v2: unknown): Finding {
  return { kind, at: pointer(place, 'at'), where: pointer(place, 'where'), path: pointer(place, 'path'), v1, v2 }
}
