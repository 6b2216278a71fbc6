import { expect, it } from 'vitest'
import { createOwnAnswers } from '../../../src/serve/upstream/send.ts'

it('keeps no more resources than it may, the latest of them', () => {
  const own = createOwnAnswers(10)
  own.set('a', { uid: 'a' }, 4)
  own.set('b', { uid: 'b' }, 6)
  expect([own.get('a'), own.get('b')]).toEqual([{ uid: 'a' }, { uid: 'b' }])
  own.set('c', { uid: 'c' }, 5)
  expect([own.get('a'), own.get('b'), own.get('c')]).toEqual([undefined, undefined, { uid: 'c' }])
  own.set('d', { uid: 'd' }, 11)
  expect(['a', 'b', 'c', 'd'].map(own.get)).toEqual([undefined, undefined, undefined, undefined])
})

it('counts an answer once, however often it arrives', () => {
  const own = createOwnAnswers(2)
  own.set('a', { uid: 'a' }, 1)
  own.set('a', { uid: 'later' }, 1)
  own.set('b', { uid: 'b' }, 1)
  expect([own.get('a'), own.get('b')]).toEqual([{ uid: 'a' }, { uid: 'b' }])
})
