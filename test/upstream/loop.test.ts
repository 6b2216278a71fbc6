import { expect, it } from 'vitest'
import { createLoopGuard, hasPassed } from '../../src/serve/upstream/v1.ts'

/** Returns the headers of a request after these guards. */
function passing(headers: Record<string, string>, ...guards: readonly ReturnType<typeof createLoopGuard>[]) {
  for (const guard of guards) expect(guard.enter(headers)).toBeUndefined()
  return headers
}

it('marks a request once for each proxy, after the marks of others', () => {
  const [one, other] = [createLoopGuard(), createLoopGuard()]
  expect(passing({ 'cdn-loop': 'a.test; x="1"' }, one, other)['cdn-loop']).toMatch(
    /^a\.test; x="1", crosswalk-[\w-]{12}, crosswalk-[\w-]{12}$/,
  )
})

it('refuses only a request that has come back', () => {
  const [one, other] = [createLoopGuard(), createLoopGuard()]
  const headers = passing({}, one, other)
  expect(one.enter(headers)).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('has passed through here before') })
  expect(createLoopGuard().enter(headers)).toBeUndefined()
})

it('recognises a request that has passed through any Crosswalk', () => {
  expect([hasPassed({}), hasPassed({ 'cdn-loop': 'a.test' }), hasPassed(passing({}, createLoopGuard()))]).toEqual([false, false, true])
})
