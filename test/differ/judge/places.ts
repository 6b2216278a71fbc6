import type { Received } from '../stage/differ.ts'

/** A place where two answers differ, and what the second one has there. */
export interface Place {
  /** JSON Pointer; empty for a status, `header:content-type` for a media type. A row that only the second has is at its own index. */
  readonly at: string
  /** JSON text of the second answer's value; undefined if it has none. */
  readonly value: string | undefined
}

/** Only the side that made a page token can read it, so both only have to agree on whether there is one. */
const TOKENS = new Set(['/next_page_token', '/nextPageToken'])

/** Details of an error are v2's own, which is a declared difference of every operation. It declares no other types than these. */
const DETAILS = '/details'
const DETAIL_TYPE = /^type\.googleapis\.com\/google\.rpc\.(?:ErrorInfo|BadRequest|ResourceInfo|PreconditionFailure)$/

/**
 * Returns where an answer differs from the genuine one, as a client sees it. This is an oracle: it uses nothing of what it judges, and
 * texts are equal here only if they are the same.
 */
export function placesOf(genuine: Received, other: Received): readonly Place[] {
  if (genuine.status !== other.status) return [{ at: '', value: String(other.status) }]
  const [left, right] = [parsed(genuine.text), parsed(other.text)]
  if ('unread' in right || 'unread' in left) return genuine.text === other.text ? [] : [{ at: '', value: 'not JSON' }]
  const places: Place[] = []
  if (mediaType(genuine) !== mediaType(other)) places.push({ at: 'header:content-type', value: mediaType(other) })
  walk(left.value, right.value, '', genuine.status >= 400, places)
  return places
}

function parsed(text: string): { readonly value: unknown } | { readonly unread: true } {
  try {
    return { value: text === '' ? undefined : JSON.parse(text) }
  } catch {
    return { unread: true }
  }
}

function mediaType({ type }: Received): string | undefined {
  return type?.split(';')[0]?.trim().toLowerCase()
}

function walk(left: unknown, right: unknown, at: string, isError: boolean, places: Place[]): void {
  if (isError && at === DETAILS) {
    if (!areDetails(right)) places.push({ at, value: JSON.stringify(right) })
    return
  }
  if (Array.isArray(left) && Array.isArray(right)) return void walkRows(left, right, at, places)
  if (isRecord(left) && isRecord(right)) {
    for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
      const inner = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (Object.hasOwn(left, name) && Object.hasOwn(right, name)) walk(left[name], right[name], inner, isError, places)
      else places.push({ at: inner, value: JSON.stringify(right[name]) })
    }
    return
  }
  const equal = TOKENS.has(at) && typeof left === 'string' && typeof right === 'string' ? (left === '') === (right === '') : left === right
  if (!equal) places.push({ at, value: JSON.stringify(right) })
}

function areDetails(value: unknown): boolean {
  return Array.isArray(value) && value.every((detail) => isRecord(detail) && DETAIL_TYPE.test(String(detail['@type'])))
}

/** Pairs rows by their id, or equal rows and then the rest in turn. Rows in another order are one place: the list. */
function walkRows(left: readonly unknown[], right: readonly unknown[], at: string, places: Place[]): void {
  const hasIds = [...left, ...right].every((row) => isRecord(row) && typeof row['id'] === 'string' && row['id'] !== '')
  const nameOf = (row: unknown) => (hasIds ? String((row as Row)['id']) : JSON.stringify(sorted(row)))
  const names = right.map(nameOf)
  const taken = new Set<number>()
  const partners = left.map((row) => {
    const name = nameOf(row)
    const found = names.findIndex((other, index) => other === name && !taken.has(index))
    if (found >= 0) taken.add(found)
    return found
  })
  const found = partners.filter((index) => index >= 0)
  if (found.some((index, nth) => nth > 0 && index < (found[nth - 1] as number))) places.push({ at, value: names.join() })
  const extra = right.flatMap((_, index) => (taken.has(index) ? [] : [index]))
  partners.forEach((index, nth) => {
    const partner = index >= 0 ? index : hasIds ? undefined : extra.shift()
    if (partner === undefined) places.push({ at: `${at}/${nth}`, value: undefined })
    else walk(left[nth], right[partner], `${at}/${nth}`, false, places)
  })
  for (const index of extra) places.push({ at: `${at}/${index}`, value: JSON.stringify(right[index]) })
}

type Row = Readonly<Record<string, unknown>>

function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same value with the members of objects in the order of their names, which has no meaning in JSON. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]))
}
