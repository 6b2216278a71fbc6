import { expect, it } from 'vitest'
import { createSign } from '../../src/admin/notify.ts'
import { NEXT, SECRET, verified, WRONG } from './webhook.ts'

const BODY = '{"a":"é"}'

const signed = (secrets: readonly string[], now = Date.now()) => {
  return { method: 'POST', url: '/', body: BODY, headers: { ...createSign(secrets)('id', BODY, now) } }
}

it('is what a verifier of Standard Webhooks accepts, by its secret alone', () => {
  expect(verified(signed([SECRET]), SECRET)).toEqual({ a: 'é' })
  expect(() => verified(signed([SECRET]), WRONG)).toThrow('No matching signature')
})

it('is made with each secret, so that a receiver may know the old or the next one', () => {
  for (const secret of [SECRET, NEXT]) expect(verified(signed([SECRET, NEXT]), secret)).toEqual({ a: 'é' })
  expect(() => verified(signed([SECRET, NEXT]), WRONG)).toThrow('No matching signature')
})

it('covers the time of the attempt, so that an old event cannot be sent again', () => {
  expect(() => verified(signed([SECRET], Date.now() - 600_000), SECRET)).toThrow('too old')
})
