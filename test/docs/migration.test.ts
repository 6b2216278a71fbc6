import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { walkThrough } from './walk.ts'

it.skipIf(!hasCurl())(
  'runs docs/migration.md word for word on the sandbox',
  async () => {
    expect(await walkThrough('docs/migration.md')).toBeGreaterThan(8)
  },
  240_000,
)
