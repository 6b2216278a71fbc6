import { isObject } from '../../tables/json.ts'
import type { Example } from '../records/record.ts'
import { ANY, type Both, canonical, type Finding, type JsonPath, pointer, rowIdOf, segmentsOf } from './compare.ts'
import type { Explained } from './judge.ts'
import { isSecretName, leftOut, type Redacted, type RedactLimits } from './redact.ts'

/** How much of the JSON around a difference is kept. */
interface Size {
  /** Members on each side of the place, besides the names of the row. */
  readonly members: number
  /** Rows before and after the place, and of an order that differs. */
  readonly rows: number
  readonly moved: number
  /** Limits of a neighbouring member, and of a whole answer. */
  readonly value: RedactLimits
  readonly answer: RedactLimits
}

/** The usual size, and the one for data that would be too large. */
const SIZES: readonly [Size, Size] = [
  {
    members: 3,
    rows: 2,
    moved: 6,
    value: { text: 80, items: 2, members: 3, depth: 1 },
    answer: { text: 200, items: 2, members: 8, depth: 3 },
  },
  {
    members: 1,
    rows: 1,
    moved: 3,
    value: { text: 40, items: 1, members: 1, depth: 0 },
    answer: { text: 80, items: 1, members: 4, depth: 1 },
  },
]

/** True for a row of a list, and not for a member of an object. */
function isRow({ up }: JsonPath): boolean {
  return Array.isArray(up?.v1) || Array.isArray(up?.v2)
}

/** True in and below a member with a secret name. */
function isSecret(place: JsonPath): boolean {
  for (let here: JsonPath | undefined = place; here; here = here.up) if (isSecretName(here.at)) return true
  return false
}

/** Returns the JSON Pointer of a place, redacted. */
function pointerTo(place: JsonPath, redacted: Redacted): string {
  return redacted.pointer({ at: pointer(place, 'at'), where: pointer(place, 'where'), path: pointer(place, 'path') })
}

/** The rows of a list that are shown. */
export interface RowRange {
  /** Index of the first one. */
  readonly from: number
  /** Length of the whole list. */
  readonly of: number
  /** Index of the row that differs; absent if the list does not have it. */
  readonly at?: number
}

/** The JSON around a difference on both sides, redacted and cut. A member `…` counts what is left out of an object. */
export interface Excerpt {
  /** JSON Pointer of what is shown; "" for the whole answer. */
  readonly at: string
  /** Absent if that side has nothing there. */
  readonly v1?: unknown
  readonly v2?: unknown
  /** In an object: the names that lead from it to the place, as they are written here. */
  readonly path?: readonly string[]
  /** In a list: which of its rows are shown. */
  readonly rows?: { readonly v1?: RowRange; readonly v2?: RowRange }
}

/** Members that say which row it is. */
const NAMING: readonly string[] = ['id', 'uid', 'name']

/**
 * Shows the object that holds a place, on both sides alike: the members that name the row, and those next to the place in the order of
 * v1. `chain` leads from its first member to the place.
 */
function enclosing(object: Both, chain: readonly JsonPath[], redacted: Redacted, size: Size): Pick<Excerpt, 'v1' | 'v2' | 'path'> {
  const secret = chain.findIndex(({ at }) => isSecretName(at))
  const steps = (secret < 0 ? chain : chain.slice(0, secret + 1)).map((place) => stepTo(place, size))
  const side = (name: 'v1' | 'v2') => (object[name] === undefined ? {} : { [name]: shown(object[name], '', steps, redacted, size) })
  return { ...side('v1'), ...side('v2'), path: steps.map((step) => nameOf(step, step.member, redacted)) }
}

/** One level on the way to the place. */
interface Step {
  /** The member that leads on, as sent. */
  readonly member: string
  /** True if its name is data. */
  readonly isKey: boolean
  /** The members that are shown. */
  readonly names: readonly string[]
}

function stepTo({ up, at, where }: JsonPath, { members }: Size): Step {
  const all = union(namesIn(up?.v1), namesIn(up?.v2))
  const place = all.indexOf(at)
  const near = (name: string, nth: number) => Math.abs(nth - place) <= members || NAMING.includes(name)
  return { member: at, isKey: where === ANY, names: all.filter(near) }
}

function shown(value: unknown, name: string, [step, ...further]: readonly Step[], redacted: Redacted, size: Size): unknown {
  if (!step || !isObject(value) || isSecretName(name)) return redacted.value(value, name, size.value)
  const own = step.names.filter((one) => Object.hasOwn(value, one))
  const members = own.map((one) => {
    const inner = one === step.member ? shown(value[one], one, further, redacted, size) : redacted.value(value[one], one, size.value)
    return [nameOf(step, one, redacted), inner] as const
  })
  return Object.fromEntries([...members, ...leftOut(Object.keys(value).length - own.length)])
}

/** A name on the way to the place is in every record of it, unless it is a key of a user's map. */
function nameOf({ member, isKey }: Step, name: string, redacted: Redacted): string {
  return name === member && !isKey ? name : redacted.key(name)
}

function namesIn(value: unknown): readonly string[] {
  return isObject(value) ? Object.keys(value) : []
}

/** Returns all names in the order of v1. A name that only v2 has comes after the one before it. */
function union(v1: readonly string[], v2: readonly string[]): readonly string[] {
  const known = new Set(v1)
  const after = new Map<string | undefined, string[]>()
  let before: string | undefined
  for (const name of v2) {
    if (known.has(name)) before = name
    else after.set(before, [...(after.get(before) ?? []), name])
  }
  return [...(after.get(undefined) ?? []), ...v1.flatMap((name) => [name, ...(after.get(name) ?? [])])]
}

type Rows = readonly unknown[]

/** Shows the rows before and after a row that one side lacks, or that has another value. */
function rowsAround(place: JsonPath, redacted: Redacted, size: Size): Excerpt | undefined {
  const list = place.up
  if (!list || isSecret(list)) return undefined
  const [v1, v2] = [rowsOf(list.v1), rowsOf(list.v2)]
  const index = Number(place.at)
  const isIn1 = v1 !== undefined && place.v1 !== undefined
  const isIn2 = v2 !== undefined && place.v2 !== undefined
  const left = isIn1 ? index : gapIn(v1, v2, index)
  const right = !isIn2 ? gapIn(v2, v1, index) : isIn1 ? v2.indexOf(place.v2) : index
  return excerpt(list, redacted, size.rows, {
    v1: v1 && { rows: v1, first: left, last: isIn1 ? left : left - 1, ...(isIn1 && { at: left }) },
    v2: v2 && { rows: v2, first: right, last: isIn2 ? right : right - 1, ...(isIn2 && { at: right }) },
  })
}

/** Shows where the order of two lists parts. `ids` are the rows there; the place of v1's row is shown on both sides. */
function movedRows(list: JsonPath, ids: Both, redacted: Redacted, size: Size): Excerpt | undefined {
  const [v1, v2] = [rowsOf(list.v1), rowsOf(list.v2)]
  if (!v1 || !v2 || isSecret(list)) return undefined
  const [first, other] = [keyAt(ids.v1, v1), keyAt(ids.v2, v1)]
  const [at, parts, moved] = [indexOf(v1, first), indexOf(v2, other), indexOf(v2, first)]
  return excerpt(list, redacted, 1, {
    v1: { rows: v1, first: at, last: at + size.moved - 2, at },
    v2: { rows: v2, first: parts, last: parts + size.moved - 2, at: moved },
  })
}

interface Shown {
  readonly rows: Rows
  /** The rows that are shown besides those before and after them. */
  readonly first: number
  readonly last: number
  readonly at?: number
}

function excerpt(
  list: JsonPath,
  redacted: Redacted,
  spare: number,
  sides: { readonly v1: Shown | undefined; readonly v2: Shown | undefined },
): Excerpt {
  const cut = (side: 'v1' | 'v2') => {
    const one = sides[side]
    if (!one) return undefined
    const from = Math.max(0, one.first - spare)
    const rows = one.rows.slice(from, one.last + 1 + spare).map((row) => brief(row, list.at, redacted))
    return { rows, range: { from, of: one.rows.length, ...(one.at !== undefined && { at: one.at }) } }
  }
  const [v1, v2] = [cut('v1'), cut('v2')]
  return {
    at: pointerTo(list, redacted),
    ...(v1 && { v1: v1.rows }),
    ...(v2 && { v2: v2.rows }),
    rows: { ...(v1 && { v1: v1.range }), ...(v2 && { v2: v2.range }) },
  }
}

const BRIEF = { text: 80, items: 1, members: 2, depth: 0 }

/** Returns the members that name a row, or its first ones. `name` is the list's own. */
function brief(row: unknown, name: string, redacted: Redacted): unknown {
  if (!isObject(row)) return redacted.value(row, name, BRIEF)
  const naming = NAMING.filter((one) => Object.hasOwn(row, one))
  const names = naming.length > 0 ? naming : Object.keys(row).slice(0, BRIEF.members)
  return Object.fromEntries(names.map((one) => [redacted.key(one), redacted.value(row[one], one, BRIEF)]))
}

function rowsOf(value: unknown): Rows | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Identifies a row: by its id, or by all of it. */
function keyOf(row: unknown): string {
  const id = isObject(row) ? (row.id ?? row.uid) : undefined
  return typeof id === 'string' ? id : canonical(row)
}

/** Returns the key of a row that a finding names by its id, or by its index in v1. */
function keyAt(id: unknown, v1: Rows): string {
  const nth = /^#(\d+)$/.exec(String(id))?.[1]
  return nth === undefined ? String(id) : keyOf(v1[Number(nth)])
}

/** Returns the index of a row. A list that lacks it is shown from its beginning. */
function indexOf(rows: Rows, key: string): number {
  return Math.max(
    0,
    rows.findIndex((row) => keyOf(row) === key),
  )
}

/** Most neighbours that are looked for in the other list. */
const TRIES = 10

/** Returns the index at which a list lacks a row of the other list, which has it at `index`: behind a row that stands before it there. */
function gapIn(rows: Rows = [], others: Rows = [], index: number): number {
  const known = new Map(rows.map((row, nth) => [keyOf(row), nth]))
  for (let before = index - 1; before >= Math.max(0, index - TRIES); before--) {
    const found = known.get(keyOf(others[before]))
    if (found !== undefined) return found + 1
  }
  for (let after = index + 1; after <= Math.min(others.length - 1, index + TRIES); after++) {
    const found = known.get(keyOf(others[after]))
    if (found !== undefined) return found
  }
  return Math.min(index, rows.length)
}

/** Most characters of one excerpt. A larger one is made smaller, or left out. */
export const LARGEST = 2_048

/** Shows what is around a finding. Returns undefined outside of the bodies, below a member with a secret name, and if it is too large. */
export function excerptOf({ kind, place, v1, v2 }: Finding, redacted: Redacted): Excerpt | undefined {
  if (!place) return undefined
  for (const size of SIZES) {
    const made = kind === 'order' ? movedRows(place, { v1, v2 }, redacted, size) : around(place, redacted, size)
    if (!made || JSON.stringify(made).length <= LARGEST) return made
  }
  return undefined
}

function around(place: JsonPath, redacted: Redacted, size: Size): Excerpt | undefined {
  if (!place.up) return answersOf(place, redacted, size)
  if (isRow(place)) return rowsAround(place, redacted, size)
  const chain = chainTo(place)
  const start = chain[0]?.up
  if (!start || isSecret(start)) return undefined
  return { at: pointerTo(start, redacted), ...enclosing(start, chain, redacted, size) }
}

/** Returns two whole answers in short. */
export function answersOf({ v1, v2 }: Both, redacted: Redacted, size: Size = SIZES[0]): Excerpt | undefined {
  if (v1 === undefined && v2 === undefined) return undefined
  const short = (value: unknown) => redacted.value(value, '', size.answer)
  return { at: '', ...(v1 !== undefined && { v1: short(v1) }), ...(v2 !== undefined && { v2: short(v2) }) }
}

/** Most objects that are shown around a place, one within the other. */
const LEVELS = 3

/** Returns the places from the first one below the shown object down to the place itself. */
function chainTo(place: JsonPath): readonly JsonPath[] {
  const chain = [place]
  for (let here = place.up; here?.up && !isRow(here) && chain.length < LEVELS; here = here.up) chain.unshift(here)
  return chain
}

/** Returns the place and the values of a finding, redacted. */
export function exampleOf(finding: Explained, redacted: Redacted): Pick<Example, 'at' | 'v1' | 'v2' | 'differsAt' | 'row'> {
  const row = rowIdOf(finding.path)
  return {
    at: redacted.pointer(finding),
    ...valuesOf(finding, redacted),
    ...(row !== undefined && { row: String(redacted.value(row, 'id')) }),
  }
}

function valuesOf(finding: Explained, redacted: Redacted): Pick<Example, 'v1' | 'v2' | 'differsAt'> {
  const { kind, v1, v2 } = finding
  const name = fileNameOf(finding)
  if (kind === 'value' && typeof v1 === 'string' && typeof v2 === 'string') return redacted.texts(v1, v2, name)
  return {
    ...(v1 !== undefined && { v1: redacted.value(v1, name) }),
    ...(v2 !== undefined && { v2: redacted.value(v2, name) }),
  }
}

/**
 * Returns the name that decides how a value is redacted: the last one of the tables, or `id` for the rows of an order. A secret name
 * anywhere on the way, also of a user's map, hides all that is below it.
 */
function fileNameOf({ kind, at, where }: Explained): string {
  const secret = [...segmentsOf(where), ...segmentsOf(at)].find(isSecretName)
  return secret ?? (kind === 'order' ? 'id' : segmentsOf(where).findLast((segment) => segment !== ANY)) ?? ''
}
