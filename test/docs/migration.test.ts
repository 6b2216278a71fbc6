import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { SAMPLED, walkThrough } from './walk.ts'

it.skipIf(!hasCurl())(
  'runs docs/migration.md word for word on the sandbox',
  async () => {
    expect(await walkThrough('docs/migration.md', SAMPLED)).toBeGreaterThan(SAMPLED ? 4 : 8)
  },
  240_000,
)
