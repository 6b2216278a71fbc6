import type { Member } from './member.ts'
import { LOOKS } from './member.ts'

/** A field table as the engine reads it from memory; engine/table.ts names the numbers. */
export interface Table {
  /** What lies in memory from `TABLE` on. */
  readonly image: Uint8Array
  readonly columns: readonly Member[]
  /** Where the columns begin. */
  readonly columnsAt: number
  /** The member that holds the rows: where its name is, quotes included, and its length. */
  readonly plural: Text
}

/** Address and length. */
type Text = readonly [at: number, length: number]

/** Where the table lies in memory, and how much room it has. */
export const TABLE = 1024
export const TABLE_ROOM = 63 * 1024

/** Numbers of the table itself; the members whose places are remembered; bytes of a slot and of a column. */
const HEADER = 14
const PLACES = 64

/** Which of the table's own says that each row has a uid. */
const IDENTIFIED = 13
const SLOT = 28
export const COLUMN = 36
const UID = 'uid'

/** Memory that is filled from the beginning of the table on. */
interface Draft {
  readonly bytes: Buffer
  at: number
}

/** Writes a field table down; the uid is its first slot, whether v1 shows it or not. `isIdentified`: a row without one is none. */
export function tableOf(plural: string, columns: readonly Member[], isIdentified: boolean): Table {
  const draft: Draft = { bytes: Buffer.alloc(TABLE_ROOM), at: 4 * HEADER }
  const pluralText = putText(draft, JSON.stringify(plural))
  const names = [...new Set([UID, ...columns.flatMap(({ from }) => from ?? [])])]
  const slots = putWords(
    draft,
    names.flatMap((name) => slotOf(draft, name)),
  )
  const slotOfName = new Map(names.map((name, at) => [name, slots + at * SLOT]))
  const slotsEnd = draft.at + TABLE
  const records = columns.flatMap((column) => columnOf(draft, column, slotOfName.get(column.from ?? '') ?? 0))
  const columnsAt = putWords(draft, records)
  const columnsEnd = draft.at + TABLE
  const order = putWords(draft, new Array(PLACES).fill(0))
  const header = [slots, slotsEnd, columnsAt, columnsEnd, order, draft.at + TABLE]
  for (const [at, word] of header.entries()) draft.bytes.writeInt32LE(word, 4 * at)
  draft.bytes.writeInt32LE(Number(isIdentified), 4 * IDENTIFIED)
  return { image: Uint8Array.from(draft.bytes.subarray(0, draft.at)), columns, columnsAt, plural: pluralText }
}

function slotOf(draft: Draft, name: string): readonly number[] {
  return [...putText(draft, `${JSON.stringify(name)}:`), 0, 0, 0, 0, 0]
}

function columnOf(draft: Draft, { name, from, kind, copied, unset, choices }: Member, slot: number): readonly number[] {
  const label = putText(draft, `,${name}`)
  const empty = unset === undefined ? [0, 0] : putText(draft, `,${name}${unset}`)
  const known = choices ? putChoices(draft, name, choices) : 0
  const mask = LOOKS.reduce((bits, look, at) => bits | (copied.includes(look) ? 1 << at : 0), 0)
  const same = from !== undefined && name === `${JSON.stringify(from)}:`
  return [slot, mask, Number(same), ...label, ...empty, known, Number(kind === 'parent')]
}

function putChoices(draft: Draft, name: string, choices: NonNullable<Member['choices']>): number {
  const words = choices.flatMap(([v1, v2]) => [...putText(draft, JSON.stringify(v2)), ...putText(draft, `,${name}${JSON.stringify(v1)}`)])
  return putWords(draft, [...words, 0, 0])
}

function putText(draft: Draft, text: string): Text {
  const bytes = Buffer.from(text)
  const at = draft.at
  if (at + bytes.length > TABLE_ROOM) throw new Error('a field table is too large for the engine')
  draft.at += bytes.copy(draft.bytes, at)
  return [TABLE + at, bytes.length]
}

/** Returns where they begin. */
function putWords(draft: Draft, words: readonly number[]): number {
  const at = draft.at
  for (const word of words) draft.at = draft.bytes.writeInt32LE(word, draft.at)
  return TABLE + at
}

/** Numbers that the engine leaves in the table; engine/table.ts names them. */
export const COUNT = 6
export const ROWS_END = 7
export const SECOND = 8
export const FIRST = 9
export const LAST = 11
