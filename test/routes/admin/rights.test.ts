import { timingSafeEqual } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { createRights, whyNot } from '../../../src/routes/admin/rights.ts'

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) }
})
const compared = vi.mocked(timingSafeEqual)
beforeEach(() => void compared.mockClear())

const TOKEN = 'the-token-that-changes'
const READ_TOKEN = 'the-token-that-reads'
const rights = createRights({ token: TOKEN, readToken: READ_TOKEN })

it.each([
  [`Bearer ${TOKEN}`, 'change'],
  [`bearer ${TOKEN}`, 'change'],
  [`Bearer ${READ_TOKEN}`, 'read'],
  [`Bearer ${TOKEN}x`, 'none'],
  [`Bearer ${TOKEN.slice(0, -1)}`, 'none'],
  [`Bearer ${TOKEN} `, 'none'],
  [`Bearer ${TOKEN},${READ_TOKEN}`, 'none'],
  [`Basic ${TOKEN}`, 'none'],
  [TOKEN, 'none'],
  ['Bearer ', 'none'],
  ['', 'none'],
  [undefined, 'none'],
])('gives %j the right to %s', (authorization, right) => expect(rights(authorization)).toBe(right))

it('compares a given token with both tokens, whole and in constant time', () => {
  for (const given of [TOKEN, READ_TOKEN, 'x', `${TOKEN.slice(0, -1)}x`, `x${TOKEN.slice(1)}`, TOKEN.repeat(100), '']) {
    compared.mockClear()
    rights(`Bearer ${given}`)
    expect(compared.mock.calls.map((sides) => sides.map(({ byteLength }) => byteLength))).toEqual([
      [32, 32],
      [32, 32],
    ])
  }
})

it('permits everything without tokens, and no change with only a read token', () => {
  expect(createRights({ token: undefined, readToken: undefined })(undefined)).toBe('change')
  const reading = createRights({ token: undefined, readToken: READ_TOKEN })
  expect([reading(undefined), reading(`Bearer ${READ_TOKEN}`), reading('Bearer undefined')]).toEqual(['none', 'read', 'none'])
})

it.each([
  ['change', 'PUT', undefined],
  ['read', 'GET', undefined],
  ['read', 'HEAD', undefined],
  ['read', 'PUT', 'PERMISSION_DENIED'],
  ['read', 'OPTIONS', 'PERMISSION_DENIED'],
  ['none', 'GET', 'UNAUTHENTICATED'],
] as const)('checks the right to %s for a %s: %s', (right, method, code) => expect(whyNot(right, method)?.code).toBe(code))
