import { expect, it } from 'vitest'
import { readFacts } from '../../src/grpc/facts.ts'
import { jsonOfBytes, openRpc } from '../../src/grpc/proto-files.ts'

it('says of an answer that is none of its type what is wrong with it', () => {
  const { registry } = openRpc([], readFacts())
  const type = registry.getMessage('chainguard.platform.iam.GroupList')
  if (!type) throw new Error('there is no such message')
  const wrong = { code: 'INTERNAL', message: 'the service sent an answer that is no chainguard.platform.iam.GroupList' }
  expect(() => jsonOfBytes(type, Buffer.of(0x0a, 9), registry)).toThrow(expect.objectContaining(wrong))
})
