import { expect, it } from 'vitest'
import { hasCurl } from '../cli/support.ts'
import { walkThrough } from './walk.ts'

it.skipIf(!hasCurl()).each([
  ['README.md', 1],
  ['docs/deployment.md', 2],
  ['docs/sandbox.md', 4],
])(
  'runs %s word for word on the sandbox',
  async (page, outputs) => {
    expect(await walkThrough(page)).toBe(outputs)
  },
  120_000,
)
