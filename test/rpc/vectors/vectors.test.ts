import { expect, it } from 'vitest'
import { readFacts, v2beta1Of } from '../../../src/rpc/facts.ts'
import { openRpc } from '../../../src/rpc/open-rpc.ts'
import { pinned, vectorFault } from './vectors.ts'

const facts = readFacts()
const { registry } = openRpc([], facts)

const betaName = (name: string) => name.replace('.v2.', '.v2beta1.')

it.each([
  ['v1', 'v1', (name: string) => name],
  ['v2', 'v2', (name: string) => name],
  ['v2beta1', 'v2', betaName],
] as const)('writes and reads every message of %s as the vendor does', (_, api, nameOf) => {
  const faults = Object.entries(pinned(api)).flatMap(([name, vectors]) => {
    const fault = vectorFault(registry.getMessage(nameOf(name)), vectors, registry)
    return fault === undefined ? [] : [`${name}: ${fault}`]
  })
  expect(faults).toEqual([])
})

it('has a vector of every message', () => {
  expect(Object.keys(pinned('v1')).sort()).toEqual(Object.keys(facts.v1.messages).sort())
  expect(Object.keys(pinned('v2')).sort()).toEqual(Object.keys(facts.v2.messages).sort())
  expect(Object.keys(v2beta1Of(facts.v2).messages).sort()).toEqual(Object.keys(pinned('v2')).map(betaName).sort())
})
