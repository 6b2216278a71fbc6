import { enums, type FieldFact, messages } from '../../../compat/rpc/facts.ts'
import type { Json } from '../../../compat/rpc/protojson.ts'
import type { Dice } from '../dice.ts'

const TEXTS = [
  '',
  'x',
  'a'.repeat(40),
  `${'a'.repeat(40)}/${'b'.repeat(16)}`,
  '..',
  '%2F',
  '\0',
  '\u2028é🔑',
  '__proto__',
  'id asc',
  '{id=**}',
  '*',
]
const WHOLE = ['0', '1', '-1', '200', '2147483647', '-9223372036854775808', '9223372036854775807']

/** Times and spans that protobuf JSON can write. */
export const MOMENTS = [
  { seconds: '0', nanos: 0 },
  { seconds: '1', nanos: 999_999_999 },
  { seconds: '-62135596800', nanos: 1 },
  { seconds: '253402300799', nanos: 120_000_000 },
]

/** All that the bytes of a time can say. */
const ANY_MOMENTS = [...MOMENTS, { seconds: '9223372036854775807', nanos: -1 }, { seconds: '-1', nanos: 2 ** 31 - 1 }]

/** The depth at which a message has no messages. */
const DEEPEST = 4

/** Draws a message that its type allows, as protobufjs takes it: each field may be set, with odd values. */
export function randomMessage(dice: Dice, type: string, moments = ANY_MOMENTS, depth = 0): Json {
  const fields = (messages.get(type) ?? []).filter(() => dice.chance(0.2))
  return Object.fromEntries(fields.map((field) => [field.proto, valueOfField(dice, field, moments, depth)]))
}

function valueOfField(dice: Dice, { shape, type, keys }: FieldFact, moments: typeof MOMENTS, depth: number): unknown {
  if (shape === 'one') return oneOf(dice, type, moments, depth)
  const many = dice.some(0, 3, () => oneOf(dice, type, moments, depth))
  if (shape === 'list') return many
  return Object.fromEntries(many.map((one) => [keys === 'string' ? dice.one(TEXTS) : dice.one(WHOLE), one]))
}

function oneOf(dice: Dice, type: string, moments: typeof MOMENTS, depth: number): unknown {
  const values = enums.get(type)
  if (values) return dice.chance(0.1) ? 999 : dice.one(Object.values(values))
  switch (type) {
    case 'string':
      return dice.one(TEXTS)
    case 'bool':
      return dice.chance(0.5)
    case 'bytes':
      return Buffer.from(dice.one(TEXTS))
    case 'int32':
      return dice.one([0, 1, -1, 2 ** 31 - 1, -(2 ** 31)])
    case 'uint32':
      return dice.one([0, 1, 2 ** 32 - 1])
    case 'int64':
      return dice.one(WHOLE)
    case 'google.protobuf.Timestamp':
    case 'google.protobuf.Duration':
      return dice.one(moments)
    default:
      return depth < DEEPEST ? randomMessage(dice, type, moments, depth + 1) : {}
  }
}
