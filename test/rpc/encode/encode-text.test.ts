import { create, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { ByteWriter } from '../../../src/rpc/encode/byte-writer.ts'
import { rowsTextEncoder } from '../../../src/rpc/encode/encode-text.ts'
import { rpc, v1Method } from '../messages/messages.ts'
import { drawFrom, randomJson } from '../messages/random-json.ts'

const SEED = 17

const isOurs = ({ typeName }: DescMessage) => !typeName.startsWith('google.') && !typeName.includes('.v2beta1.')
const messages = [...rpc.registry].filter((type) => type.kind === 'message').filter(isOurs)
const writer = new ByteWriter()

/** Field 1 of a list, which is not the number of another field. */
const LIST = 1

/** Returns the rows that the bytes of a list hold, each as the library writes it; undefined if JSON must be parsed. */
function rowsFrom(message: DescMessage, text: Buffer): readonly string[] | undefined {
  writer.begin()
  if (!rowsTextEncoder({ number: LIST, message })(writer, text)) return undefined
  const rows: string[] = []
  const bytes = writer.take()
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
  ['the end of its list', Buffer.from('{"name":"n"}],"x":[{}')],
  ['no UTF-8', Buffer.from('{"name":"\xff"}', 'latin1')],
])('leaves text with %s to a parser', (_, text) => {
  expect(rowsFrom(tag, text)).toBeUndefined()
})

it.each(['{"name":1}', '{"deprecated":"yes"}', '{"lastUpdated":"x"}', '{"name":"n', '{"bundles":["a"'])('refuses %s', (text) => {
  const refused = () => rowsFrom(tag, Buffer.from(text)) ?? []
  expect(() => expect(refused()).not.toEqual([])).toThrow()
})
