import { isObject, type JsonObject } from '../../tables/json.ts'
import type { DifferenceKind } from '../../tables/signs.ts'
import { align, canonical } from './align.ts'
import type { Finding } from './finding.ts'
import { ANY_FORM, type Form } from './form.ts'
import { ANY, type Both, below, checkDepth, type JsonPath, pointer, rowSegment } from './json-path.ts'
import { compareScalars } from './scalar.ts'

type Report = (finding: Finding) => void

/**
 * Reports every difference of two JSON values at one place. A member that only v1 has is `missing`, and one that only v2 has is `extra`.
 * The value does not matter: v1 distinguishes absent (oneof members, optional scalars), null and unset (facts §16.3).
 */
export function compareValues(form: Form, place: JsonPath, report: Report): void {
  const { v1, v2 } = place
  if (v1 === v2) return
  checkDepth(place.depth)
  const say = (kind: DifferenceKind) => report(finding(kind, place))
  if (form.kind === 'whole') {
    if (canonical(v1) !== canonical(v2)) say('value')
  } else if (Array.isArray(v1) && Array.isArray(v2)) {
    compareLists(form.kind === 'list' ? form.of : anyBelow(form), v1, v2, place, report)
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
    const isShared = Object.hasOwn(v2, name)
    // Most members are equal. A place is only made where it may be needed.
    if (isShared && v1[name] === v2[name]) continue
    const [inner, memberForm] = member(form, name, place, { v1: v1[name], v2: isShared ? v2[name] : undefined })
    if (isShared) compareValues(memberForm, inner, report)
    else {
      shown ??= inTableNames(form, v2)
      report({ ...finding('missing', inner), shown })
    }
  }
  for (const name of Object.keys(v2)) {
    if (!Object.hasOwn(v1, name)) report(finding('extra', member(form, name, place, { v1: undefined, v2: v2[name] })[0]))
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
function member(form: Form, name: string, place: JsonPath, both: Both): readonly [JsonPath, Form] {
  if (form.kind === 'object') {
    const known = form.members.get(name)
    return [below(place, both, name, known?.name ?? name), known?.form ?? ANY_FORM]
  }
  const isNamed = form.kind === 'any' && form.isName ? form.isName(name) : place.up === undefined
  return [below(place, both, name, isNamed ? name : ANY), form.kind === 'map' ? form.of : anyBelow(form)]
}

/** Returns the form of what no table describes, below a place of this form. */
function anyBelow(form: Form): Form {
  return form.kind === 'any' ? form : ANY_FORM
}

/** Compares each row with its partner, whatever its position. A different order is one difference of its own. */
function compareLists(form: Form, v1: readonly unknown[], v2: readonly unknown[], place: JsonPath, report: Report): void {
  const { pairs, order } = align(v1, v2, form.kind === 'object' ? form.key : undefined)
  for (const { v1: left, v2: right, id } of pairs) {
    const both = { v1: left === undefined ? undefined : v1[left], v2: right === undefined ? undefined : v2[right] }
    const row = below(place, both, String(left ?? right), ANY, rowSegment(id))
    if (left === undefined) report(finding('extra', row))
    else if (right === undefined) report(finding('missing', row))
    else compareValues(form, row, report)
  }
  if (order) report(finding('order', place, order))
}

/** The values are those at the place, unless the kind has others. */
export function finding(kind: DifferenceKind, place: JsonPath, { v1, v2 }: Both = place): Finding {
  return { kind, at: pointer(place, 'at'), where: pointer(place, 'where'), path: pointer(place, 'path'), v1, v2, place }
}
