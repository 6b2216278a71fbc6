import { isRecord, placesIn, replaced } from './json-places.ts'
import { type Mutation, withBody } from './mutation.ts'

type Rows = readonly unknown[]

/** What can happen to the rows of a list; undefined if it changes nothing. */
const CHANGES: readonly (readonly [name: string, change: (rows: Rows) => Rows | undefined])[] = [
  ['emptied', (rows) => (rows.length > 0 ? [] : undefined)],
  ['first row lost of', (rows) => (rows.length > 0 ? rows.slice(1) : undefined)],
  ['last row lost of', (rows) => (rows.length > 1 ? rows.slice(0, -1) : undefined)],
  ['first row twice in', (rows) => (rows.length > 0 ? [rows[0], ...rows] : undefined)],
  ['last row first in', (rows) => (rows.length > 1 ? [rows.at(-1), ...rows.slice(0, -1)] : undefined)],
  ['turned round', (rows) => (rows.length > 2 ? rows.toReversed() : undefined)],
  ['a row of its own in', invented],
  ['null among', (rows) => (rows.length > 0 ? [...rows, null] : undefined)],
]

/** A copy of the last row under another name and uid; another text in a list of texts. */
function invented(rows: Rows): Rows | undefined {
  const last = rows.at(-1)
  if (typeof last === 'string') return [...rows, `${last}-x`]
  if (!isRecord(last)) return undefined
  const uid = last['uid'] ?? last['id']
  return [...rows, { ...last, ...(typeof uid === 'string' && { [last['uid'] === undefined ? 'id' : 'uid']: another(uid) }) }]
}

/** Another text of the same length: a uid stays a uid. */
export function another(text: string): string {
  return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`
}

/** Mutations of every list of a body: one list of each pattern, chosen by `random`. */
export function listMutations(body: unknown, random: () => number): readonly Mutation[] {
  return placesIn(body, random).flatMap(({ at, value }) => {
    if (!Array.isArray(value)) return []
    return CHANGES.flatMap(([name, change]): readonly Mutation[] => {
      const to = change(value)
      return to === undefined ? [] : [{ name: `${name} ${at}`, apply: (answer) => withBody(answer, replaced(body, at, to)) }]
    })
  })
}
