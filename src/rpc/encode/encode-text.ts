import { isUtf8 } from 'node:buffer'
import type { DescMessage } from '@bufbuild/protobuf'
import { instantiate } from '../../tables/text/engine.ts'
import { ByteWriter } from './byte-writer.ts'
import { createMessageTables } from './message-tables.ts'
import { ENGINE } from './row-module.ts'

/**
 * Writes rows from their JSON text: objects with commas between and perhaps before them. A text has a letter for each byte (Latin-1).
 * Returns undefined if JSON must be parsed instead. Throws if a value does not have the type of its field.
 */
export type EncodeRowsText = (rows: Buffer | string) => Buffer | undefined

/** The layout of the engine's memory. The output has four times the room: `-1` in a list takes ten bytes. */
const TABLES = 1024
const INPUT = 1024 * 1024
const INPUT_ROOM = 3 * 1024 * 1024
const OUTPUT = INPUT + INPUT_ROOM

interface RowEngine {
  readonly memory: { readonly buffer: ArrayBuffer }
  encode(list: number, from: number, end: number, to: number): number
}

const host = {
  write(field: number, begin: number, end: number, out: number): number {
    const value: unknown = JSON.parse(memory.toString('utf8', begin, end))
    if (value === null) return out
    writer.begin()
    tables.fields[field]?.(writer, value)
    const bytes = writer.take()
    memory.set(bytes, out)
    return out + bytes.length
  },
}

const engine = instantiate<RowEngine>(ENGINE, { host })

const memory = Buffer.from(engine.memory.buffer)

const tables = createMessageTables(memory, TABLES, INPUT)

const writer = new ByteWriter()

/**
 * Compiles the encoder of a list from text: neither a tree nor its strings are made. Members are written as they stand, so their order on the
 * wire is that of the text. What is not plain goes through the encoder from JSON, value by value.
 */
export function rowsTextEncoder({ number, message }: { readonly number: number; readonly message: DescMessage }): EncodeRowsText {
  const list = tables.listAt(number, message)
  return (rows) => {
    if (list === undefined || rows.length >= INPUT_ROOM) return undefined
    const end = load(rows)
    if (!isUtf8(memory.subarray(INPUT, end))) return undefined
    const written = engine.encode(list, INPUT, end, OUTPUT)
    return written === 0 ? undefined : Buffer.from(memory.subarray(OUTPUT, written))
  }
}

/** Puts text into memory with a zero after it. Returns its end. */
function load(rows: Buffer | string): number {
  if (typeof rows === 'string') memory.write(rows, INPUT, 'latin1')
  else memory.set(rows, INPUT)
  const end = INPUT + rows.length
  memory[end] = 0
  return end
}
