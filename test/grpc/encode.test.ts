import { create, type DescMessage, fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { messageEncoder, rowsTextEncoder } from '../../src/grpc/encode/encode.ts'
import { ByteWriter } from '../../src/grpc/encode/writer.ts'
import { bytesOfJson, jsonOfBytes, type Recoded, valueOfBytes } from '../../src/grpc/messages/recode.ts'
import { requestOf } from '../../src/grpc/messages/request-of.ts'
import { Firing } from '../../src/serve/signals.ts'
import { processorMs } from '../stage/clocks.ts'
import { drawFrom, methodOf, randomJson, rpc } from './messages.ts'
import v1 from './vectors/v1.json' with { type: 'json' }
import v2 from './vectors/v2.json' with { type: 'json' }

describe('encode json', () => {
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
})

describe('encode text', () => {
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

  const { output } = methodOf('registry.Registry/ListTags')
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
})

describe('recode answer', () => {
  const { registry } = rpc
  const typeOf = (name: string) => registry.getMessage(name)!

  const LIST = typeOf('chainguard.platform.iam.v2.ListGroupsResponse')
  const LIMITS = { messageBytes: 2 ** 26, rowsPerRequest: 1_000_000 }

  const answer = (bytes: Buffer, more: Partial<Recoded> = {}): Recoded => ({
    type: LIST,
    bytes,
    registry,
    limits: LIMITS,
    signal: new Firing(),
    ...more,
  })

  /** The bytes of a field that holds less than 128 of them. */
  const field = (number: number, content: string | Buffer) => {
    const bytes = Buffer.from(content)
    return Buffer.concat([Buffer.of(number * 8 + 2, bytes.length), bytes])
  }

  const many = (count: number, one: Buffer) => Buffer.alloc(count * one.length, one)
  const ROW = field(1, Buffer.concat([field(1, 'a'.repeat(40)), field(2, 'some name')]))
  const EMPTY = field(1, '')
  /** A row of more bytes than stand in one byte. */
  const large = (size: number, content: Buffer) => {
    const inner = Buffer.concat([Buffer.of(0x1a, ...varint(size)), Buffer.alloc(size, content)])
    return Buffer.concat([Buffer.of(0x0a, ...varint(inner.length)), inner])
  }
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))])

  it('says of an answer that is none of its type what is wrong with it', async () => {
    const wrong = { code: 'INTERNAL', message: 'the service sent an answer that is not a chainguard.platform.iam.v2.ListGroupsResponse' }
    for (const bytes of [Buffer.of(0x0a, 9), Buffer.concat([many(20_000, ROW), Buffer.of(0x0a, 9)])]) {
      await expect(jsonOfBytes(answer(bytes))).rejects.toMatchObject(wrong)
      await expect(valueOfBytes(answer(bytes))).rejects.toMatchObject(wrong)
    }
  })

  it.each([
    ['rows and a token', Buffer.concat([field(2, 'first'), many(2_000, ROW), field(2, 'next'), Buffer.of(0x18, 7)])],
    ['rows alone', many(2_000, ROW)],
    ['no rows', many(12_000, field(2, 'x'))],
    ['few rows', Buffer.concat([many(3, ROW), field(2, 'next')])],
    ['unknown fields', Buffer.concat([many(2_000, ROW), Buffer.of(0xf8, 0x01, 5), field(15, 'x')])],
  ])('gives %s as a whole message does', async (_, bytes) => {
    const whole = (alwaysEmitImplicit: boolean) => toJson(LIST, fromBinary(LIST, bytes), { registry, alwaysEmitImplicit })
    expect(JSON.parse(Buffer.concat(await jsonOfBytes(answer(bytes))).toString())).toEqual(whole(false))
    // A value has empty lists and zeros too, as v2 writes them over REST.
    expect(await valueOfBytes(answer(bytes))).toEqual(whole(true))
  })

  it('serves others while it reads a long list', async () => {
    let turns = 0
    const counting = setInterval(() => {
      turns += 1
    })
    const json = await jsonOfBytes(answer(many(200_000, EMPTY)))
    clearInterval(counting)
    expect(Buffer.concat(json).length).toBe('{"groups":[]}'.length + 200_000 * 3 - 1)
    expect(turns).toBeGreaterThan(2)
  })

  it.each([
    ['more rows than a request may have', many(40_000, EMPTY), { limits: { ...LIMITS, rowsPerRequest: 30_000 } }, /rowsPerRequest/],
    ['a row of many megabytes', large(5 * 2 ** 20, Buffer.from('a')), {}, /application\/proto/],
    ['a row that JSON writes six times as long', large(2 ** 20, Buffer.of(1)), {}, /application\/proto/],
    [
      'a row of many fields',
      large(0, Buffer.of(1)),
      { bytes: Buffer.concat([Buffer.of(0x0a, ...varint(60_000)), many(30_000, Buffer.of(0x32, 0))]) },
      /20000 values/,
    ],
    ['many fields beside the rows', many(30_000, field(2, 'x')), {}, /20000 values/],
    ['more JSON than a message may have', many(40_000, EMPTY), { limits: { ...LIMITS, messageBytes: 100_000 } }, /messageBytes/],
  ])('refuses %s', async (_, bytes, more, message) => {
    await expect(jsonOfBytes(answer(bytes, more))).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(message),
    })
  })

  it('ends when nobody waits for the answer any more', async () => {
    const signal = new Firing()
    const reason = new ApiError('CANCELLED', 'the client went away')
    const json = jsonOfBytes(answer(many(500_000, EMPTY), { signal }))
    signal.abort(reason)
    await expect(json).rejects.toBe(reason)
  })

  it('passes over members of a newer message', () => {
    const bytes = bytesOfJson(typeOf('chainguard.platform.iam.v2.Group'), Buffer.from('{"name":"a","newer":{"b":1}}'), registry)
    expect(bytes).toEqual(new Uint8Array(field(2, 'a')))
  })

  it('reads no JSON with more values or levels than a body may have', () => {
    const group = typeOf('chainguard.platform.iam.v2.Group')
    expect(bytesOfJson(group, Buffer.from('{"name":"a"}'), registry)).toEqual(new Uint8Array(field(2, 'a')))
    expect(bytesOfJson(group, Buffer.alloc(0), registry)).toEqual(new Uint8Array())
    for (const json of [`{"x":[${'{},'.repeat(10_000)}{}]}`, `{"x":${'['.repeat(200)}`]) {
      expect(() => bytesOfJson(group, Buffer.from(json), registry)).toThrow(ApiError)
    }
  })
})

describe('a message with as many values as a body may hold', () => {
  const MOST = 10_000

  /** A field of bytes: its tag, its length and what it holds. */
  function field(number: number, bytes: Uint8Array): Buffer {
    return Buffer.concat([Buffer.from(varint(number * 8 + 2)), Buffer.from(varint(bytes.length)), bytes])
  }

  const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))])

  const many = (count: number, one: Buffer) => Buffer.concat(Array<Buffer>(count).fill(one))
  const EMPTY = Buffer.alloc(0)

  const read = (method: string, bytes: Uint8Array, codec: 'proto' | 'json' = 'proto') => {
    const found = methodOf(method)
    return () => requestOf(found, bytes, codec)
  }

  it('is read', () => {
    expect(read('iam.RoleBindings/CreateBatch', many(MOST, field(2, EMPTY)))).not.toThrow()
    expect(read('iam.Groups/List', field(3, Buffer.alloc(8 * MOST, 'x')))).not.toThrow()
  })

  it.each([
    ['empty messages', 'iam.RoleBindings/CreateBatch', many(MOST + 1, field(2, EMPTY))],
    ['empty texts of a nested message', 'iam.Groups/List', field(2, many(MOST + 1, field(6, EMPTY)))],
    [
      'messages in the value of a map',
      'iam.GroupAccountAssociations/Create',
      field(9, field(2, Buffer.concat([Buffer.of(8, 7), field(2, many(MOST, field(1, EMPTY)))]))),
    ],
    ['zeros of an unknown field without end', 'iam.Groups/List', Buffer.alloc(2 ** 20, Buffer.of(0x78, 0))],
  ])('is refused with one more: %s', (_, method, bytes) => {
    const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', message: `the message holds more than ${MOST} values` })
    expect(processorMs(() => expect(read(method, bytes)).toThrow(refused))).toBeLessThan(500)
  })

  it('is refused as JSON', () => {
    const json = Buffer.from(JSON.stringify({ roleBindings: Array.from({ length: MOST }, () => ({})) }))
    expect(read('iam.RoleBindings/CreateBatch', json, 'json')).toThrow(`the request body holds more than ${MOST} values`)
  })

  /** Its varint is a letter of UTF-8 and a control character. */
  const LONG = 21_700

  it.each([
    ['a tag without end', 'iam.Groups/List', Buffer.alloc(3 * MOST, 0xff)],
    ['groups', 'iam.Groups/List', many(MOST + 1, Buffer.of(0x7b, 0x7c))],
    [
      'a text whose length has more than 32 bits',
      'iam.RoleBindings/CreateBatch',
      Buffer.concat([Buffer.of(0x7a, 0x80, 0x80, 0x80, 0x80, 0x10), many(MOST + 1, field(2, EMPTY))]),
    ],
    [
      'a text with the tag of eight bytes',
      'iam.RoleBindings/CreateBatch',
      Buffer.concat([Buffer.of(0x09, 11), Buffer.alloc(7), Buffer.of(0x7a, ...varint(LONG)), many(LONG / 2, field(2, EMPTY))]),
    ],
  ])('is refused as bytes that are none: %s', (_, method, bytes) => {
    expect(read(method, bytes)).toThrow('grpc: error unmarshalling request')
  })
})
