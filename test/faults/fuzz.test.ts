import { expect, it } from 'vitest'
import { fuzzAnswers } from './fuzz/answers.ts'
import { fuzzRequests } from './fuzz/over-http.ts'
import { sampleSeed } from './fuzz/size.ts'

/** A sample of `npm run fuzz`, the same every time unless CROSSWALK_SEED is set. */
const SAMPLE = 2000

it('random requests get answers in v1 shape, and no error of our own making', async () => {
  const { statuses } = await fuzzRequests(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404', '501']))
}, 60_000)

it('random answers of v2 become answers in v1 shape, and no error of our own making', async () => {
  const { statuses } = await fuzzAnswers(SAMPLE, sampleSeed)
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '200 streamed', 'broken off', '503']))
}, 60_000)
