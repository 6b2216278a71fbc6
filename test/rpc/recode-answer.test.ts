import { fromBinary, toJson } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import { bytesOfJson, jsonOfBytes, type Recoded, valueOfBytes } from '../../src/grpc/messages/recode.ts'
import { openRpc } from '../../src/grpc/proto-files.ts'
import { Firing } from '../../src/serve/signals.ts'

const { registry } = openRpc([], readFacts())

function typeOf(name: string) {
  const type = registry.getMessage(name)
  if (!type) throw new Error(`there is no ${name}`)
  return type
}

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

it('reads no JSON with more values or levels than a body may have', () => {
  const group = typeOf('chainguard.platform.iam.v2.Group')
  expect(bytesOfJson(group, Buffer.from('{"name":"a"}'), registry)).toEqual(new Uint8Array(field(2, 'a')))
  expect(bytesOfJson(group, Buffer.alloc(0), registry)).toEqual(new Uint8Array())
  for (const json of [`{"x":[${'{},'.repeat(10_000)}{}]}`, `{"x":${'['.repeat(200)}`]) {
    expect(() => bytesOfJson(group, Buffer.from(json), registry)).toThrow(ApiError)
  }
})
