import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { OPERATIONS } from './journeys.ts'
import { SAMPLED, walkThrough } from './walk.ts'

it.skipIf(!hasCurl())(
  'runs the pages for the person on call word for word on the sandbox',
  async () => {
    expect(await walkThrough(OPERATIONS, SAMPLED)).toBeGreaterThan(SAMPLED ? 4 : 12)
  },
  240_000,
)
