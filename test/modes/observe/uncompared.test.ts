import { afterEach, expect, it } from 'vitest'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { runCommand } from '../../cli/support.ts'
import { type Stage, startStage } from '../../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const DIFF = { ...ALL_V2, default: 'diff-v1' } as const
const groups = async () => (await stage.evidence()).operations.find(({ operation }) => operation === 'iam.groups.list')

const hint = '1 request had an answer larger than diff.answerBytes: raise diff.answerBytes.'

it('an answer that is too large to be compared names the setting in /evidence and cutover', async () => {
  stage = await startStage({ modes: DIFF, 'diff.answerBytes': 10 })
  await stage.request('GET', '/iam/v1/groups')
  await stage.settled()
  expect(await groups()).toMatchObject({ n: 0, callers: 0, uncompared: { answerBytes: 1 }, hints: [hint] })
  const { out } = await runCommand(['cutover', '--admin', stage.server.adminUrl])
  expect(out).toContain(hint)
})

it('requests beyond diff.perSecond are counted, and the setting is named', async () => {
  stage = await startStage({ modes: DIFF, 'diff.perSecond': 1 })
  for (let nth = 0; nth < 5; nth++) await stage.request('GET', '/iam/v1/groups')
  await stage.settled()
  const { n, repeats, uncompared } = (await groups()) ?? {}
  expect(n).toBe(1)
  expect((repeats?.n ?? 0) + (uncompared?.perSecond ?? 0) + (uncompared?.repeat ?? 0)).toBe(4)
})

it('a repeat is no observation, and its fault shows as a share of the requests', async () => {
  stage = await startStage({ modes: DIFF })
  await stage.request('GET', '/iam/v1/groups')
  await stage.settled()
  await stage.fault({ match: 'GET /iam/v2/groups', change: { at: '/groups/0/name', to: 'wrong' } })
  for (let nth = 0; nth < 4; nth++) await stage.request('GET', '/iam/v1/groups')
  await stage.settled()
  expect(await groups()).toMatchObject({ comparisons: 5, n: 1, bad: 0, mismatches: 1, repeats: { n: 4, bad: 4, wrong: 4 }, share: 0.8 })
})
