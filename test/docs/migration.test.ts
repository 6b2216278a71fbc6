import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { MIGRATION } from './journeys.ts'
import { SAMPLED, walkThrough } from './walk.ts'

it.skipIf(!hasCurl())(
  'runs the pages of a migration word for word on the sandbox',
  async () => {
    expect(await walkThrough(MIGRATION, SAMPLED)).toBeGreaterThan(SAMPLED ? 4 : 12)
  },
  240_000,
)
