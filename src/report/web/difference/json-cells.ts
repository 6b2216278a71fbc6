export interface Cell {
  readonly text: string
  readonly mark: LineMark
  readonly depth: number
  /** The number of the row in its list, from 1. */
  readonly row?: number
}

/** `place`: the difference itself. `other`: it differs too. */
export type LineMark = 'same' | 'place' | 'other'

/** What is written, and where. */
export interface Spot {
  readonly name?: string
  readonly depth: number
}

/** Writes a value as it stands in a list or in an object; a short one takes one line. */
export function textLines(value: unknown, { name, depth }: Spot, mark: LineMark): readonly Cell[] {
  const start = name === undefined ? '' : `${JSON.stringify(name)}: `
  if (!isContainer(value) || isShort(value)) return [{ text: `${start}${inline(value)}`, depth, mark }]
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const inner = entriesOf(value).flatMap(([one, member]) => memberLines(one, member, depth + 1, mark))
  return [{ text: `${start}${open}`, depth, mark }, ...inner, { text: close ?? '', depth, mark }]
}

/** Name of the member that counts those that were left out when the value was recorded. */
export const LEFT_OUT = '…'

/** Most characters of a value that stands in one line. */
const SHORT = 72

/** Returns the names of an object, or the indices of a list, with their values. */
export function entriesOf(value: object): readonly (readonly [string | number, unknown])[] {
  return Array.isArray(value) ? [...value.entries()] : Object.entries(value)
}

function memberLines(name: string | number, value: unknown, depth: number, mark: LineMark): readonly Cell[] {
  if (name === LEFT_OUT) return [{ text: `… ${value} members`, depth, mark }]
  return textLines(value, { depth, ...(typeof name === 'string' && { name }) }, mark)
}

export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

export function isShort(value: unknown): boolean {
  return (JSON.stringify(value) ?? '').length <= SHORT
}

/** The item that counts those that were left out of a list when the value was recorded. */
const MORE = /^… \d+ more$/

/** Returns JSON in one line, with spaces between its parts. */
function inline(value: unknown): string {
  if (typeof value === 'string' && MORE.test(value)) return value
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (!isContainer(value)) return JSON.stringify(value) ?? ''
  const members = Object.entries(value).map(([name, inner]) =>
    name === LEFT_OUT ? `… ${inner}` : `${JSON.stringify(name)}: ${inline(inner)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
