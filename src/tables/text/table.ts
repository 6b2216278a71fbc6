import { LOOKS, type Member } from './member.ts'

/** A field table in the form that the engine reads from memory; engine/table.ts names the numbers. */
export interface Table {
  /** The bytes of memory from `TABLE` on. */
  readonly image: Uint8Array
  readonly columns: readonly Member[]
  /** The address of the columns. */
  readonly columnsAt: number
  /** The name of the member that holds the rows, quotes included: its address and length. */
  readonly plural: Text
}

/** Address and length. */
type Text = readonly [at: number, length: number]

/** The address of the table, and the size of its space. */
export const TABLE = 1024
export const TABLE_ROOM = 63 * 1024

/** The count of numbers in the table itself; the members whose places are remembered; the bytes of a slot and of a column. */
const HEADER = 14
const PLACES = 64

/** The index of the number that says that each row has a uid. */
const IDENTIFIED = 13
const SLOT = 28
export const COLUMN = 32
const UID = 'uid'

/** Memory that is filled from the beginning of the table. */
interface Draft {
  readonly bytes: Buffer
  at: number
}

/** Writes a field table. The uid is its first slot, even if v1 does not show it. `isIdentified`: an object without a uid is no row. */
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
  const key = putText(draft, `${JSON.stringify(name)}:`)
  return [...key, (1 << Math.min(16, key[1])) - 1, 0, 0, 0, 0]
}

function columnOf(draft: Draft, { name, kind, copied, unset, choices }: Member, slot: number): readonly number[] {
  const label = putText(draft, `,${name}`)
  const empty = unset === undefined ? [0, 0] : putText(draft, `,${name}${unset}`)
  const known = choices ? putChoices(draft, name, choices) : 0
  const mask = LOOKS.reduce((bits, look, at) => bits | (copied.includes(look) ? 1 << at : 0), 0)
  return [slot, mask, ...label, ...empty, known, Number(kind === 'parent')]
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

/** Returns their address. */
function putWords(draft: Draft, words: readonly number[]): number {
  const at = draft.at
  for (const word of words) draft.at = draft.bytes.writeInt32LE(word, draft.at)
  return TABLE + at
}

/** Indices of the numbers that the engine leaves in the table; engine/table.ts names them. */
export const COUNT = 6
export const ROWS_END = 7
export const SECOND = 8
export const FIRST = 9
export const LAST = 11
