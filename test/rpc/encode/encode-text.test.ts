import { create, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { rowsTextEncoder } from '../../../src/grpc/encode/encode.ts'
import { rpc, v1Method } from '../messages/messages.ts'
import { drawFrom, randomJson } from '../messages/random-json.ts'

const SEED = 17

const isOurs = ({ typeName }: DescMessage) => !typeName.startsWith('google.') && !typeName.includes('.v2beta1.')
const messages = [...rpc.registry].filter((type) => type.kind === 'message').filter(isOurs)

/** Field 1 of a list, which is not the number of another field. */
const LIST = 1

/** Returns the rows that the bytes of a list hold, each as the library writes it; undefined if JSON must be parsed. */
function rowsFrom(message: DescMessage, text: Buffer): readonly string[] | undefined {
  const bytes = rowsTextEncoder({ number: LIST, message })(text)
  if (!bytes) return undefined
  const rows: string[] = []
  for (let at = 0; at < bytes.length; ) {
    expect(bytes[at]).toBe(LIST * 8 + 2)
    let [length, shift] = [0, 0]
    do {
      at += 1
      length += ((bytes[at] ?? 0) & 0x7f) << shift
      shift += 7
    } while ((bytes[at] ?? 0) > 0x7f)
    at += 1
    rows.push(hexOf(message, fromBinary(message, bytes.subarray(at, at + length))))
    at += length
  }
  return rows
}

function hexOf(message: DescMessage, row = create(message)): string {
  return Buffer.from(toBinary(message, row)).toString('hex')
}

const libraryHex = (message: DescMessage, json: unknown) =>
  hexOf(message, fromJson(message, json as JsonValue, { ignoreUnknownFields: true }))

it(`writes what the library writes for the text of random rows of every type (seed ${SEED})`, () => {
  const draw = drawFrom(SEED)
  for (const message of messages) {
    const rows = Array.from({ length: 5 }, () => randomJson(message, draw))
    const text = rows.map((row) => `,${JSON.stringify(row)}`).join('')
    expect(rowsFrom(message, Buffer.from(text)), text).toEqual(rows.map((row) => libraryHex(message, row)))
  }
})

const { output } = v1Method('registry.Registry/ListTags')
const tag = output.fields.find(({ message }) => message?.name === 'Tag')?.message as DescMessage

/** Lengths around a load of the engine, and where the length of a text or a row takes one byte more. */
const LENGTHS = [0, 1, 2, 14, 15, 16, 17, 31, 32, 33, 100, 126, 127, 128, 129, 300, 16_382, 16_384]
const LETTERS = [...'aZ09/:{}[],"\\\n\u0000\u001f\u007f\u2028é日😀']

it(`writes what the library writes for rows of odd texts, in any order of their members (seed ${SEED})`, () => {
  const draw = drawFrom(SEED)
  const one = <T>(of: readonly T[]) => of[draw(of.length)] as T
  const number = (most: number, width: number, least = 0) => String(least + draw(most + 1 - least)).padStart(width, '0')
  const plain = () => 'x'.repeat(one(LENGTHS))
  const odd = () => Array.from({ length: draw(40) }, () => one(LETTERS)).join('')
  const text = () => one([plain, odd, () => plain() + odd()])()
  const time = () => {
    const date = [number(9999, 4, 1), number(12, 2, 1), number(28, 2, 1)].join('-')
    const clock = [number(23, 2), number(59, 2), number(59, 2)].join(':')
    const fraction = one(['', '', `.${number(999_999_999, 9).slice(0, 1 + draw(9))}`])
    return `${date}T${clock}${fraction}${one(['Z', 'Z', 'Z', '+01:30'])}`
  }
  const members: Readonly<Record<string, () => unknown>> = {
    id: text,
    name: text,
    digest: text,
    deprecated: () => one([true, false, null]),
    lastUpdated: time,
    updated_at: time,
    bundles: () => one([null, Array.from({ length: draw(4) }, text)]),
    unknown: () => one([text(), 1.5e3, [{ a: '}' }, []], {}, null]),
  }
  for (let round = 0; round < 300; round += 1) {
    const rows = Array.from({ length: 1 + draw(4) }, () => {
      const names = Object.keys(members).filter(() => draw(4) > 0)
      return Object.fromEntries(names.toSorted(() => draw(3) - 1).map((name) => [name, members[name]?.()]))
    })
    const json = JSON.stringify(rows).slice(1, -1)
    expect(rowsFrom(tag, Buffer.from(json)), json).toEqual(rows.map((row) => libraryHex(tag, row)))
  }
})

it('reads a text with a letter for each byte', () => {
  const json = JSON.stringify({ name: 'é日😀"', digest: 'd' })
  const encode = rowsTextEncoder({ number: LIST, message: tag })
  expect(encode(Buffer.from(json).toString('latin1'))).toEqual(encode(Buffer.from(json)))
})

it('leaves text that is too long for its memory to a parser', () => {
  const row = Buffer.from(JSON.stringify({ name: 'x'.repeat(4 * 1024 * 1024) }))
  expect(rowsFrom(tag, row)).toBeUndefined()
  expect(rowsFrom(tag, Buffer.from('{"name":"n"}'))).toHaveLength(1)
})

it.each<[string, string]>([
  ['members in any order', '{"bundles":["a",""],"name":"n"},{"name":"m","id":"i"},{"id":"j","name":""}'],
  ['members that the message does not have', '{"x":{"y":[1,"]}\\""]},"name":"n","z":null,"é":1},{"x":2,"name":"m"}'],
  ['null', '{"name":null,"bundles":null,"deprecated":null,"lastUpdated":null}'],
  ['escapes', '{"name":"a\\"b\\u00e9\\\\","bundles":["\\n"]}'],
  ['long texts', JSON.stringify({ name: 'é'.repeat(100), digest: `${'x'.repeat(500)}"`, bundles: ['y'.repeat(127), 'z'.repeat(128)] })],
  ['times of other zones', '{"lastUpdated":"2026-03-01T00:00:00+02:00"}'],
  ['flags', '{"deprecated":true},{"deprecated":false}'],
])('reads %s', (_, text) => {
  const rows = JSON.parse(`[${text}]`) as readonly unknown[]
  expect(rowsFrom(tag, Buffer.from(text))).toEqual(rows.map((row) => libraryHex(tag, row)))
})

it.each<[string, Buffer]>([
  ['spaces', Buffer.from('{ "name": "n" }')],
  ['rows that are no objects', Buffer.from('1')],
  ['a member without a value', Buffer.from('{"name"}')],
  ['null in a list', Buffer.from('{"bundles":[null]}')],
  ['two members of one name', Buffer.from('{"id":"i"},{"name":"n","deprecated":true,"name":"m"}')],
  ['two names of one member', Buffer.from('{"lastUpdated":"2026-03-01T00:00:00Z","last_updated":null}')],
  ['an escape in a name', Buffer.from('{"n\\u0061me":"n"}')],
  ['a control character', Buffer.from('{"name":"a\nb"}')],
  ['the end of its list', Buffer.from('{"name":"n"}],"x":[{}')],
  ['no UTF-8', Buffer.from('{"name":"\xff"}', 'latin1')],
])('leaves text with %s to a parser', (_, text) => {
  expect(rowsFrom(tag, text)).toBeUndefined()
})

it.each(['{"name":1}', '{"deprecated":"yes"}', '{"lastUpdated":"x"}', '{"name":"n', '{"bundles":["a"'])('refuses %s', (text) => {
  const refused = () => rowsFrom(tag, Buffer.from(text)) ?? []
  expect(() => expect(refused()).not.toEqual([])).toThrow()
})
