import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { fieldEncoder, hasPresence } from './encode-json.ts'
import { DELIMITED, tagOf } from './wire-scalar.ts'

/** How values are written; engine/layout.ts has the same order. JavaScript writes those of the first kind. */
const KINDS = ['other', 'text', 'flag', 'time', 'part', 'texts', 'parts'] as const

type Kind = (typeof KINDS)[number]

/** The bytes of a message and of a member; engine/layout.ts names their parts. */
const MESSAGE = 12
const MEMBER = 48

type WriteField = ReturnType<typeof fieldEncoder>

/** The tables of messages in the engine's memory. What the engine learns stays in them. */
export interface MessageTables {
  /** Returns the address of a member that is a list of this message; undefined if there is no room for its tables. */
  listAt(number: number, message: DescMessage): number | undefined
  /** Writes the fields, by their numbers in the tables. */
  readonly fields: readonly WriteField[]
}

/** Lays tables into memory from `from` to before `end`. An address is that of a byte in it. */
export function createMessageTables(memory: Buffer, from: number, end: number): MessageTables {
  const fields: WriteField[] = []
  const known = new Map<DescMessage, number>()
  let free = from

  const take = (bytes: number): number => {
    const at = free
    // Words are aligned.
    free += Math.ceil(bytes / 4) * 4
    if (free > end) throw new RangeError('no room for the tables of a message')
    return at
  }
  const putWords = (at: number, words: readonly number[]) => {
    for (const [index, word] of words.entries()) memory.writeUInt32LE(word, at + 4 * index)
  }
  const put = (at: number, { name, kind, tag, isKept, part, field, bits }: Member) => {
    const key = Buffer.from(`${JSON.stringify(name)}:`)
    const keyAt = take(key.length)
    key.copy(memory, keyAt)
    putWords(at, [keyAt, key.length, KINDS.indexOf(kind), ...tagBytes(tag), Number(isKept), part, 1, field, 0, ...bits])
  }
  const putField = (at: number, field: DescField, index: number) => {
    const kind = kindOf(field)
    const tag = kind === 'flag' ? tagOf(field.number, ScalarType.BOOL) : field.number * 8 + DELIMITED
    const part = (kind === 'part' || kind === 'parts') && field.message ? messageAt(field.message) : 0
    const number = fields.push(fieldEncoder(field)) - 1
    const member = { kind, tag, isKept: hasPresence(field), part, field: number, bits: bitsOf(index) }
    put(at, { ...member, name: field.name })
    put(at + MEMBER, { ...member, name: field.jsonName })
  }
  const messageAt = (message: DescMessage): number => {
    const laid = known.get(message)
    if (laid !== undefined) return laid
    const at = take(MESSAGE)
    const length = 2 * message.fields.length * MEMBER
    const members = take(length)
    putWords(at, [0, members, members + length])
    for (const [index, field] of message.fields.entries()) putField(members + 2 * index * MEMBER, field, index)
    known.set(message, at)
    return at
  }
  return {
    fields,
    listAt(number, message) {
      try {
        const part = messageAt(message)
        const at = take(MEMBER)
        put(at, { name: '', kind: 'parts', tag: number * 8 + DELIMITED, isKept: false, part, field: 0, bits: bitsOf(0) })
        return at
      } catch (full) {
        if (full instanceof RangeError) return undefined
        throw full
      }
    },
  }
}

/** One of the two names of a field. */
interface Member {
  readonly name: string
  readonly kind: Kind
  readonly tag: number
  /** The zero value is sent. */
  readonly isKept: boolean
  /** The address of the message of its values. */
  readonly part: number
  /** The number of the field in the tables. */
  readonly field: number
  readonly bits: Bits
}

/** The bit of a field among those of its message, as two words; none from the 65th on. */
type Bits = readonly [low: number, high: number]

function bitsOf(index: number): Bits {
  return [index < 32 ? 2 ** index : 0, index >= 32 && index < 64 ? 2 ** (index - 32) : 0]
}

function kindOf(field: DescField): Kind {
  const type = field.message?.typeName ?? ''
  if (field.fieldKind === 'list') {
    if (field.listKind === 'message') return type.startsWith(WELL_KNOWN) ? 'other' : 'parts'
    return field.scalar === ScalarType.STRING ? 'texts' : 'other'
  }
  if (field.fieldKind === 'message') return type === 'google.protobuf.Timestamp' ? 'time' : type.startsWith(WELL_KNOWN) ? 'other' : 'part'
  if (field.fieldKind !== 'scalar') return 'other'
  return field.scalar === ScalarType.STRING ? 'text' : field.scalar === ScalarType.BOOL ? 'flag' : 'other'
}

const WELL_KNOWN = 'google.protobuf.'

/** Returns the bytes of a tag as a word, and their number. */
function tagBytes(tag: number): readonly [word: number, length: number] {
  let [word, length] = [0, 0]
  let rest = tag
  for (; rest > 0x7f; rest >>>= 7) word += ((rest & 0x7f) | 0x80) * 2 ** (8 * length++)
  return [word + rest * 2 ** (8 * length), length + 1]
}
