import { expect, inject, it } from 'vitest'
import { fuzzFrames, fuzzHeads, fuzzUpgrades } from './fuzz/against.ts'
import { fuzzAnswers } from './fuzz/answers.ts'
import { fuzzGateways } from './fuzz/gateways/gateways.ts'
import { fuzzRequests } from './fuzz/over-http.ts'
import { sampleSeed } from './fuzz/size.ts'

/** A sample of `npm run fuzz`, the same every time unless CROSSWALK_SEED is set. */
const SAMPLE = 2000
/** Heads go nine ways and more. */
const HEADS = 150
const SEQUENCES = 500

it('random requests get answers in v1 shape, and no error of our own making', async () => {
  const { statuses } = await fuzzRequests(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404', '501']))
}, 60_000)

it('random answers of v2 become answers in v1 shape, and no error of our own making', async () => {
  const { statuses } = await fuzzAnswers(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '200 streamed', 'broken off', '503']))
}, 60_000)

it('answers of v2 that a gateway spoilt become errors, and never a success that v2 did not say', async () => {
  const { statuses } = await fuzzGateways(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['said 200', 'spoilt 500', 'spoilt 503']))
  expect(Object.keys(statuses).filter((kind) => kind.startsWith('spoilt 2') || /^said [^2]/.test(kind))).toEqual([])
}, 60_000)

it.each([
  ['heads of services, on every carrier', fuzzHeads, HEADS],
  ['sequences of HTTP/2 frames', fuzzFrames, SEQUENCES],
  ['offers of other protocols', fuzzUpgrades, SEQUENCES],
])(
  'random %s end no process, leave nothing behind and mix up no answers',
  async (_, fuzz, cases) => {
    expect(await fuzz({ cases, seed: sampleSeed, start: { cli: inject('cli') }, note: () => {} })).toEqual([])
  },
  120_000,
)
