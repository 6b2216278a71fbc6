import { type DescMessage, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { messageEncoder } from '../../../src/grpc/encode/encode.ts'
import { ByteWriter } from '../../../src/grpc/encode/writer.ts'
import { rpc } from '../messages/messages.ts'
import { drawFrom, randomJson } from '../messages/random-json.ts'
import v1 from '../vectors/v1.json' with { type: 'json' }
import v2 from '../vectors/v2.json' with { type: 'json' }

const SEED = 20_261_122

const isOurs = ({ typeName }: DescMessage) => !typeName.startsWith('google.protobuf.') && !typeName.includes('.v2beta1.')
const messages = [...rpc.registry].filter((type) => type.kind === 'message').filter(isOurs)
const writer = new ByteWriter()

function encoded(message: DescMessage, json: unknown): string {
  writer.begin()
  messageEncoder(message)(writer, json as Record<string, unknown>)
  return writer.take().toString('hex')
}

it(`writes the bytes of the library for random messages of every type (seed ${SEED})`, () => {
  const draw = drawFrom(SEED)
  for (const message of messages) {
    for (let round = 0; round < 6; round += 1) {
      const json = randomJson(message, draw)
      const bytes = toBinary(message, fromJson(message, json as JsonValue))
      expect(encoded(message, json), `${message.typeName} ${JSON.stringify(json)}`).toBe(Buffer.from(bytes).toString('hex'))
    }
  }
})

/** The vendor writes the members of a oneof last; the library, as here, by their numbers. */
function inOrder(message: DescMessage, hex: string): string {
  return Buffer.from(toBinary(message, fromBinary(message, Buffer.from(hex, 'hex')))).toString('hex')
}

it('writes the pinned bytes of the vendor for both spellings of the names', () => {
  for (const { messages: pinned } of [v1, v2]) {
    for (const [typeName, { vectors }] of Object.entries(pinned)) {
      const message = rpc.registry.getMessage(typeName)!
      // No method answers with it, and its details need a registry.
      for (const { hex, json, ...more } of typeName === 'google.rpc.Status' ? [] : vectors) {
        expect(encoded(message, json), typeName).toBe(inOrder(message, hex))
        if ('defaultNames' in more) expect(encoded(message, more.defaultNames), typeName).toBe(inOrder(message, hex))
      }
    }
  }
})

it.each([
  ['a number for a text', { name: 1 }],
  ['an object for a list', { uidp: { ids: {} } }],
  ['a list for a message', { uidp: [] }],
])('refuses %s', (_, json) => {
  const message = rpc.registry.getMessage('chainguard.platform.iam.RoleFilter')!
  expect(() => encoded(message, json)).toThrow(/^must be/)
})
