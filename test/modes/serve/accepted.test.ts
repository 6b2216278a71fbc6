import { describe, expect, it } from 'vitest'
import { createAccepted } from '../../../src/migrate/modes/serve.ts'
import { ANONYMOUS } from '../../../src/serve/caller.ts'

const guarded = {}
const open = { takesNoToken: true as const }

describe('a credential', () => {
  it.each([200, 201, 204, 299])('is accepted by HTTP %i', (status) => {
    const accepted = createAccepted()
    accepted.heard(guarded, 'a', status, 'v1')
    expect([accepted.has('a'), accepted.has('b')]).toEqual([true, false])
  })

  it.each([101, 302, 304, 400, 401, 403, 404, 409, 429, 500, 503])('is not accepted by HTTP %i', (status) => {
    const accepted = createAccepted()
    accepted.heard(guarded, 'a', status, 'v1')
    expect(accepted.has('a')).toBe(false)
  })

  it('is not accepted by an operation without one, and no credential never is', () => {
    const accepted = createAccepted()
    accepted.heard(open, 'a', 200, 'v1')
    accepted.heard(guarded, ANONYMOUS, 200, 'v1')
    expect([accepted.has('a'), accepted.has(ANONYMOUS)]).toEqual([false, false])
  })

  it('is accepted until a service rejects it', () => {
    const accepted = createAccepted()
    accepted.heard(guarded, 'a', 200, 'v1')
    for (const status of [400, 403, 404, 500]) accepted.heard(guarded, 'a', status, 'v1')
    expect(accepted.has('a')).toBe(true)
    accepted.heard(guarded, 'a', 401, 'v1')
    expect(accepted.has('a')).toBe(false)
    accepted.heard(guarded, 'a', 200, 'v1')
    expect(accepted.has('a')).toBe(true)
  })

  it('is forgotten only when no side accepts it', () => {
    const accepted = createAccepted()
    accepted.heard(guarded, 'a', 200, 'v1')
    accepted.heard(guarded, 'a', 401, 'v2')
    expect(accepted.has('a')).toBe(true)
    accepted.heard(guarded, 'a', 200, 'v2')
    accepted.heard(guarded, 'a', 401, 'v1')
    expect(accepted.has('a')).toBe(true)
    accepted.heard(guarded, 'a', 401, 'v2')
    expect(accepted.has('a')).toBe(false)
  })
})

it('remembers a limited number; the oldest is dropped, and returns with a success', () => {
  const accepted = createAccepted(2)
  for (const credential of ['a', 'b', 'b', 'c']) accepted.heard(guarded, credential, 200, 'v1')
  expect(['a', 'b', 'c'].map(accepted.has)).toEqual([false, true, true])
  accepted.heard(guarded, 'a', 200, 'v1')
  expect(['a', 'b', 'c'].map(accepted.has)).toEqual([true, false, true])
})

it('strangers take no place', () => {
  const accepted = createAccepted(2)
  accepted.heard(guarded, 'a', 200, 'v1')
  for (let nth = 0; nth < 10; nth += 1) accepted.heard(guarded, `forged-${nth}`, 401, 'v1')
  expect(accepted.has('a')).toBe(true)
})
