import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { walkThrough } from './walk.ts'

it.skipIf(!hasCurl())(
  'docs/migration.md can be followed word for word on the sandbox',
  async () => {
    expect(await walkThrough('docs/migration.md')).toBeGreaterThan(8)
  },
  240_000,
)
