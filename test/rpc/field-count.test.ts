import { describe, expect, it } from 'vitest'
import { readFacts } from '../../src/grpc/facts.ts'
import { requestOf } from '../../src/grpc/messages/request-of.ts'
import { openRpc } from '../../src/grpc/proto-files.ts'
import { processorMs } from '../stage/own-time.ts'

const rpc = openRpc([], readFacts())

const MOST = 10_000

/** A field of bytes: its tag, its length and what it holds. */
function field(number: number, bytes: Uint8Array): Buffer {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))])
  return Buffer.concat([Buffer.from(varint(number * 8 + 2)), Buffer.from(varint(bytes.length)), bytes])
}

const many = (count: number, one: Buffer) => Buffer.concat(Array<Buffer>(count).fill(one))
const EMPTY = Buffer.alloc(0)

const read = (method: string, bytes: Uint8Array, codec: 'proto' | 'json' = 'proto') => {
  const found = rpc.find(`/chainguard.platform.${method}`)
  if (!found) throw new Error(`there is no ${method}`)
  return () => requestOf(found, bytes, codec)
}

describe('a message with as many values as a body may hold', () => {
  it('is read', () => {
    expect(read('iam.RoleBindings/CreateBatch', many(MOST, field(2, EMPTY)))).not.toThrow()
    expect(read('iam.Groups/List', field(3, Buffer.alloc(8 * MOST, 'x')))).not.toThrow()
  })

  it.each([
    ['empty messages', 'iam.RoleBindings/CreateBatch', many(MOST + 1, field(2, EMPTY))],
    ['empty texts of a nested message', 'iam.Groups/List', field(2, many(MOST + 1, field(6, EMPTY)))],
    ['empty texts below an unknown group', 'iam.Groups/List', many(MOST + 1, Buffer.of(0x7b, 0x7c))],
    [
      'messages in the value of a map',
      'iam.GroupAccountAssociations/Create',
      field(9, field(2, Buffer.concat([Buffer.of(8, 7), field(2, many(MOST, field(1, EMPTY)))]))),
    ],
    ['zeros without end', 'iam.Groups/List', Buffer.alloc(2 ** 20, Buffer.of(0x08, 0))],
  ])('is refused with one more: %s', (_, method, bytes) => {
    const refused = expect.objectContaining({ code: 'INVALID_ARGUMENT', message: `the message holds more than ${MOST} values` })
    expect(processorMs(() => expect(read(method, bytes)).toThrow(refused))).toBeLessThan(500)
  })

  it('is refused as JSON', () => {
    const json = Buffer.from(JSON.stringify({ roleBindings: Array.from({ length: MOST }, () => ({})) }))
    expect(read('iam.RoleBindings/CreateBatch', json, 'json')).toThrow(`the request body holds more than ${MOST} values`)
  })

  it('is refused as bytes that are none, whatever they seem to hold', () => {
    expect(read('iam.Groups/List', Buffer.alloc(3 * MOST, 0xff))).toThrow('grpc: error unmarshalling request')
  })
})
