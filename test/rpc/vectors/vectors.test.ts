import { describe, expect, it } from 'vitest'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import { pinned, signatureOf, valuesOf, vectorFault } from './vectors.ts'

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
