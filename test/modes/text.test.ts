import { afterEach, expect, it } from 'vitest'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { type Stage, startStage } from '../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

it.each(['diff-v1', 'diff-v2'] as const)('in mode %s v2 is compared as clients get it, rows as text included', async (mode) => {
  stage = await startStage({ modes: { ...ALL_V2, default: mode } })
  const plain = await stage.request('GET', '/iam/v1/groups', { headers: { 'x-crosswalk-mode': 'v2' } })
  await stage.settled()
  await stage.setModes({ default: 'v2' })
  const served = await stage.request('GET', '/iam/v1/groups')
  expect(served.body).toEqual(plain.body)
  expect(served.headers.get('content-length')).toMatch(/^\d+$/)
  await stage.setModes({ default: mode })
  const compared = await stage.request('GET', '/iam/v1/groups')
  await stage.settled()
  expect(compared.body).toEqual(served.body)
  if (mode === 'diff-v2') expect(compared.headers.get('content-length')).toBe(served.headers.get('content-length'))
  expect((await stage.evidence()).operations).toMatchObject([{ matches: 1, mismatches: 0, inconclusive: 0 }])
})
