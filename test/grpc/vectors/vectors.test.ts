import { equals, fromBinary, fromJson, type JsonValue, toBinary } from '@bufbuild/protobuf'
import { describe, expect, it } from 'vitest'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import { createProtos, readPublishedFacts } from '../../../src/sandbox/grpc/protos.ts'
import { isFull } from '../../sample.ts'
import { drawFrom, randomJson, rpc } from '../messages.ts'
import { pinned, signatureOf, valuesOf, vectorFault } from './vectors.ts'

describe('second opinion', () => {
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
})

describe('vectors', () => {
  const { registry, methods } = openRpc([], readFacts())
  const named = (name: string) => name
  const renamed = (name: string) => name.replace('.v2.', '.v2beta1.')

  describe.each([
    ['v1', 'v1', named],
    ['v2', 'v2', named],
    ['v2beta1', 'v2', renamed],
  ] as const)('the descriptors of %s', (version, api, nameOf) => {
    const vendor = pinned(api)

    it('write and read every message as the vendor does', () => {
      const faults = Object.entries(vendor.messages).flatMap(([name, vectors]) => {
        const fault = vectorFault(registry.getMessage(nameOf(name)), vectors, registry)
        return fault === undefined ? [] : [`${name}: ${fault}`]
      })
      expect(faults).toEqual([])
    })

    it('have the values of every enum', () => {
      for (const [name, values] of Object.entries(vendor.enums)) expect(valuesOf(registry.getEnum(nameOf(name))), name).toEqual(values)
    })

    it('have every method', () => {
      const own = methods.filter((method) => method.version === version)
      // A service without a version in its name has one.
      const published = Object.entries(vendor.methods).filter(([name]) => version === api || nameOf(name) !== name)
      expect(Object.fromEntries(own.map((method) => [method.path.slice(1), signatureOf(method)]))).toEqual(
        Object.fromEntries(published.map(([name, signature]) => [nameOf(name), signature.map(nameOf)])),
      )
    })

    it('have a vector of every message and enum', () => {
      const { messages, enums } = readFacts()[api]
      expect(Object.keys(vendor.messages).sort()).toEqual(Object.keys(messages).sort())
      expect(Object.keys(vendor.enums).sort()).toEqual(Object.keys(enums).sort())
    })
  })
})
