import { expect, it } from 'vitest'
import { createLoopGuard, hasPassed } from '../../src/upstream/loop.ts'

/** The headers of a request as they are after these guards. */
function passing(headers: Record<string, string>, ...guards: readonly ReturnType<typeof createLoopGuard>[]) {
  for (const guard of guards) expect(guard.enter(headers)).toBeUndefined()
  return headers
}

it('a request is marked once by each proxy, behind what others wrote', () => {
  const [one, other] = [createLoopGuard(), createLoopGuard()]
  expect(passing({ 'cdn-loop': 'a.test; x="1"' }, one, other)['cdn-loop']).toMatch(
    /^a\.test; x="1", crosswalk-[\w-]{12}, crosswalk-[\w-]{12}$/,
  )
})

it('a request that has come back is an error, and nobody else’s is', () => {
  const [one, other] = [createLoopGuard(), createLoopGuard()]
  const headers = passing({}, one, other)
  expect(one.enter(headers)).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('has passed through here before') })
  expect(createLoopGuard().enter(headers)).toBeUndefined()
})

it('what has passed through any of them can be told', () => {
  expect([hasPassed({}), hasPassed({ 'cdn-loop': 'a.test' }), hasPassed(passing({}, createLoopGuard()))]).toEqual([false, false, true])
})
