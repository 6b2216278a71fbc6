import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { walkThrough } from './walk.ts'

it.skipIf(!hasCurl())(
  'docs/operations.md can be followed word for word on the sandbox',
  async () => {
    expect(await walkThrough('docs/operations.md')).toBeGreaterThan(10)
  },
  240_000,
)
