/** A place in a JSON value, chosen among all that have the same members above them and the same type of value. */
export interface JsonPlace {
  /** JSON Pointer. */
  readonly at: string
  readonly value: unknown
  /** It is a member of an object, not an element of a list. */
  readonly isMember: boolean
  /** The values of the places that were not chosen. */
  readonly others: readonly unknown[]
}

type Found = Omit<JsonPlace, 'others'>
type Row = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns one place of every pattern below the root. `random` chooses it: numbers from 0 up to 1. */
export function placesIn(body: unknown, random: () => number): readonly JsonPlace[] {
  const patterns = new Map<string, Found[]>()
  collect(body, '', '', patterns)
  return [...patterns.values()].map((found) => {
    const chosen = found[Math.floor(random() * found.length)] as Found
    return { ...chosen, others: found.filter((one) => one !== chosen).map(({ value }) => value) }
  })
}

function collect(value: unknown, at: string, pattern: string, patterns: Map<string, Found[]>): void {
  const visit = (inner: unknown, name: string, step: string, isMember: boolean) => {
    const place = { at: `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value: inner, isMember }
    const type = inner === null ? 'null' : Array.isArray(inner) ? 'list' : typeof inner
    const key = `${pattern}/${step} ${type}`
    patterns.set(key, [...(patterns.get(key) ?? []), place])
    collect(inner, place.at, `${pattern}/${step}`, patterns)
  }
  if (Array.isArray(value)) for (const [index, row] of value.entries()) visit(row, String(index), '*', false)
  else if (isRecord(value)) for (const [name, inner] of Object.entries(value)) visit(inner, name, name, true)
}

/** Returns a copy with another value at a place. */
export function replaced(body: unknown, at: string, to: unknown): unknown {
  return changed(body, segmentsOf(at), (parent, name) => {
    if (Array.isArray(parent)) return parent.map((row, index) => (String(index) === name ? to : row))
    return { ...parent, [name]: to }
  })
}

/** Returns a copy without a member. */
export function withoutMember(body: unknown, at: string): unknown {
  return changed(body, segmentsOf(at), (parent, name) => {
    return Object.fromEntries(Object.entries(parent).filter(([member]) => member !== name))
  })
}

type Parent = readonly unknown[] | Row

function changed(value: unknown, segments: readonly string[], change: (parent: Parent, name: string) => unknown): unknown {
  const [name = '', ...rest] = segments
  const parent = value as Parent
  if (rest.length === 0) return change(parent, name)
  if (Array.isArray(parent)) return parent.map((row, index) => (String(index) === name ? changed(row, rest, change) : row))
  return { ...parent, [name]: changed((parent as Row)[name], rest, change) }
}

function segmentsOf(pointer: string): readonly string[] {
  const segments = pointer.slice(1).split('/')
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}
