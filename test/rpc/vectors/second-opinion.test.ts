import { equals, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { expect, it } from 'vitest'
import { createProtos, readPublishedFacts } from '../../../src/sandbox/grpc/protos.ts'
import { isFull } from '../../sample.ts'
import { rpc } from '../messages/messages.ts'
import { drawFrom, randomJson } from '../messages/random-json.ts'

const SEED = 20_261_123

/** In `npm test` one message of every fourth type, because each costs processor time; `.ci/run` tries more. */
const ROUNDS = isFull ? 40 : 1
const EACH = isFull ? 1 : 4

/** The sandbox reads the same facts by code of its own, with another library. */
const facts = readPublishedFacts()
const protos = createProtos(facts)

it(`writes and reads what protobufjs writes and reads, for random messages (seed ${SEED})`, () => {
  const draw = drawFrom(SEED)
  const { registry } = rpc
  const wrong = Object.keys(facts.messages)
    .filter((_, nth) => nth % EACH === 0)
    .flatMap((typeName) => {
    const ours = registry.getMessage(typeName)!
    const theirs = protos.lookupType(typeName)
    return Array.from({ length: ROUNDS }, () => randomJson(ours, draw) as JsonValue).filter((json) => {
      const message = fromJson(ours, json, { registry })
      const bytes = toBinary(ours, message)
      const again = theirs.encode(theirs.decode(bytes)).finish()
      const isSame = Buffer.from(again).sort().equals(Buffer.from(bytes).sort())
      return !isSame || !equals(ours, fromBinary(ours, again), message, { registry, unknown: true })
    })
  })
  expect(wrong).toEqual([])
})
