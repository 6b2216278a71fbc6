import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { SAMPLED, walkThrough } from './walk.ts'

it.skipIf(!hasCurl())(
  'runs docs/operations.md word for word on the sandbox',
  async () => {
    expect(await walkThrough('docs/operations.md', SAMPLED)).toBeGreaterThan(SAMPLED ? 4 : 10)
  },
  240_000,
)
