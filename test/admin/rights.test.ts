import { timingSafeEqual } from 'node:crypto'
import { beforeEach, expect, it, vi } from 'vitest'
import { createRights, whyNot } from '../../src/admin/admin.ts'

vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) }
})
const compared = vi.mocked(timingSafeEqual)
beforeEach(() => void compared.mockClear())

const TOKEN = 'the-token-that-changes'
const READ_TOKEN = 'the-token-that-reads'
const NAMED = 'the-token-of-alice'
const READING = { name: 'admin.readToken', token: READ_TOKEN, right: 'read' } as const
const rights = createRights(() => [
  { name: 'admin.token', token: TOKEN, right: 'change' },
  { name: 'alice', token: NAMED, right: 'change' },
  READING,
])

it.each([
  [`Bearer ${TOKEN}`, 'change', 'admin.token'],
  [`bearer ${TOKEN}`, 'change', 'admin.token'],
  [`Bearer ${NAMED}`, 'change', 'alice'],
  [`Bearer ${READ_TOKEN}`, 'read', 'admin.readToken'],
  [`Bearer ${TOKEN}x`, 'none'],
  [`Bearer ${TOKEN.slice(0, -1)}`, 'none'],
  [`Bearer ${TOKEN} `, 'none'],
  [`Bearer ${TOKEN},${READ_TOKEN}`, 'none'],
  [`Basic ${TOKEN}`, 'none'],
  [TOKEN, 'none'],
  ['Bearer ', 'none'],
  ['', 'none'],
  [undefined, 'none'],
])('gives %j the right to %s', (authorization, right, token?: string) => {
  expect(rights(authorization)).toEqual(token === undefined ? { right } : { right, token })
})

it('compares a given token with every token, whole and in constant time', () => {
  for (const given of [TOKEN, NAMED, READ_TOKEN, 'x', `${TOKEN.slice(0, -1)}x`, `x${TOKEN.slice(1)}`, TOKEN.repeat(100), '']) {
    compared.mockClear()
    rights(`Bearer ${given}`)
    expect(compared.mock.calls.map((sides) => sides.map(({ byteLength }) => byteLength))).toEqual([
      [32, 32],
      [32, 32],
      [32, 32],
    ])
  }
})

it('permits everything without tokens, and no change with only a read token', () => {
  expect(createRights(() => [])(undefined)).toEqual({ right: 'change' })
  const reading = createRights(() => [READING])
  expect([undefined, `Bearer ${READ_TOKEN}`, 'Bearer undefined'].map((one) => reading(one).right)).toEqual(['none', 'read', 'none'])
})

it.each([
  ['change', 'PUT', undefined],
  ['read', 'GET', undefined],
  ['read', 'HEAD', undefined],
  ['read', 'PUT', 'PERMISSION_DENIED'],
  ['read', 'OPTIONS', 'PERMISSION_DENIED'],
  ['none', 'GET', 'UNAUTHENTICATED'],
] as const)('checks the right to %s for a %s: %s', (right, method, code) => expect(whyNot({ right }, method)?.code).toBe(code))
