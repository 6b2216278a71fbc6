import { expect, inject, it } from 'vitest'
import { inWorld, serving } from './fault.ts'
import { fuzzFrames, fuzzHeads, fuzzUpgrades } from './fuzz/against.ts'
import { fuzzDrafts } from './fuzz/drafts.ts'
import { fuzzGateways } from './fuzz/gateways.ts'
import { diceOf, sampleSeed } from './fuzz/hunt.ts'
import { fuzzAnswers, fuzzRequests } from './fuzz/requests.ts'
import { drawCall, openRpcAsker, REQUEST_BYTES, wrongWith } from './fuzz/rpc.ts'
import { fuzzWire } from './fuzz/wire.ts'
import { FAULTS, fuzzWrongV2 } from './fuzz/wrong-v2.ts'

/** The size of a sample of `npm run fuzz`, with the same cases unless CROSSWALK_SEED is set. */
const SAMPLE = 400
/** Fewer break off none. */
const ANSWERS = 2000
/** Heads have more than nine ways. */
const HEADS = 10
const CONNECTIONS = 50
/** Fewer miss a code of one of the protocols. */
const SEQUENCES = 120
const CALLS = 40

it('answers random requests in v1’s form, without an error of our own', async () => {
  const { statuses } = await fuzzRequests(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404', '501']))
}, 60_000)

it('drafts tables of hostile documents, and nothing but tables', async () => {
  const { statuses } = await fuzzDrafts(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['paired', 'alone', 'much to decide']))
}, 60_000)

it('turns random answers of v2 into v1’s form, without an error of our own', async () => {
  const { statuses } = await fuzzAnswers(ANSWERS, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '200 streamed', 'broken off', '503']))
}, 60_000)

it('turns answers spoilt by a gateway into errors, never into false successes', async () => {
  const { statuses } = await fuzzGateways(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['said 200', 'spoilt 500', 'spoilt 503']))
  expect(Object.keys(statuses).filter((kind) => kind.startsWith('spoilt 2') || /^said [^2]/.test(kind))).toEqual([])
}, 60_000)

it('tells no success that a wrong v2 did not say, over REST, gRPC and Connect', async () => {
  expect(FAULTS.length).toBeGreaterThan(140)
  const { statuses } = await fuzzWrongV2(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['wrong 500', 'wrong 503', 'wrong as told', 'right as told']))
}, 60_000)

it('answers random calls of gRPC, gRPC-Web and Connect with the codes that they deserve', async () => {
  const { statuses } = await fuzzWire(SEQUENCES, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['grpc 0', 'stream 13', 'web 12', 'text 8', 'connect 4', 'get 3']))
}, 60_000)

it('answers random calls over gRPC, gRPC-Web and Connect by a code that v1 has', async () => {
  const settings = { 'upstream.v1': undefined, 'limits.requestBytes': REQUEST_BYTES }
  await inWorld(serving(1), settings, async ({ proxy }) => {
    const { ask, close } = openRpcAsker(() => proxy.url)
    const calls = Array.from({ length: CALLS }, (_, nth) => drawCall(diceOf(sampleSeed, nth)))
    for (const one of calls) expect([wrongWith(one, await ask(one)), one]).toEqual([undefined, one])
    close()
  })
}, 60_000)

it.each([
  ['heads of services, on every carrier', fuzzHeads, HEADS],
  ['sequences of HTTP/2 frames', fuzzFrames, CONNECTIONS],
  ['offers of other protocols', fuzzUpgrades, CONNECTIONS],
])(
  'survives random %s, leaves nothing behind and mixes up no answers',
  async (_, fuzz, cases) => {
    expect(await fuzz({ cases, seed: sampleSeed, start: { cli: inject('cli') }, note: () => {} })).toEqual([])
  },
  120_000,
)
