import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import type { ModeRules } from '../../../src/migrate/modes/rules.ts'
import { type RolloutStage, startRolloutStage, tokensBetween } from './rollout-stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-rollouts-'))
afterAll(() => rmSync(directory, { recursive: true }))

let stage: RolloutStage
afterEach(() => stage.close())

const KINDS = ['', '?limit=5', '?limit=500', '?offset=1', '?order_by=name', '?limit=0'].map((query) => `/iam/v1/roles${query}`)

const ONE = KINDS.slice(0, 1)

const STEPS = [
  { percent: 1, observations: 5 },
  { percent: 10, hold: '10m' },
  { percent: 100, hold: '10m', observations: 10 },
]

const modes = (others: ModeRules['rules'] = []): ModeRules => {
  const rollout = { name: 'iam', target: 0.2, retries: 2, watch: '20m', steps: STEPS }
  return {
    default: 'diff-v1',
    rules: [{ operations: 'iam.*', clients: '*', mode: 'diff-v1', canary: { mode: 'diff-v2', rollout } }, ...others],
    testers: [],
  }
}

/** A caller of each part. */
const [first, tenth, rest] = [tokensBetween(0, 1, 1), tokensBetween(1, 10, 1), tokensBetween(10, 100, 1)].flat() as [string, string, string]
const ALL = [first, tenth, rest]

const place = async () => {
  const [{ phase, step, percent } = {}] = await stage.rollouts()
  return `${phase} ${step} ${percent}`
}

/** Sends traffic until the rollout is at this place, and returns the places between. */
async function reach(wanted: string): Promise<readonly string[]> {
  const places = [await place()]
  while (places.at(-1) !== wanted && places.length < 20) {
    await stage.traffic(ALL, ONE)
    places.push(await place())
  }
  return [...new Set(places)]
}

const moves = () => stage.server.log.flatMap(({ what, to }) => (what === 'rollout' ? [to] : []))

it('a rollout goes from 1 % to 100 % by itself, and a caller keeps its side', async () => {
  stage = await startRolloutStage({ modes: modes() })
  expect(await place()).toBe('running 1 1')
  expect(await stage.traffic(ALL, KINDS)).toEqual({ [first]: ['diff-v2 200'], [tenth]: ['diff-v1 200'], [rest]: ['diff-v1 200'] })
  expect(await place()).toBe('running 2 10')
  expect(await stage.traffic(ALL, ONE)).toEqual({ [first]: ['diff-v2 200'], [tenth]: ['diff-v2 200'], [rest]: ['diff-v1 200'] })
  await reach('running 3 100')
  expect(await stage.traffic(ALL, KINDS.slice(2))).toEqual({ [first]: ['diff-v2 200'], [tenth]: ['diff-v2 200'], [rest]: ['diff-v2 200'] })
  expect(await reach('done 3 100')).toEqual(['running 3 100', 'watching 3 100', 'done 3 100'])
  expect(moves()).toEqual([
    'running at step 1 of 3 (1 %)',
    'running at step 2 of 3 (10 %)',
    'running at step 3 of 3 (100 %)',
    'watching (100 %)',
    'done (100 %)',
  ])
})

it('a rollout turns back by itself, stays so through a change and a restart, and a person resumes it', async () => {
  const values = { modes: modes(), 'records.file': join(directory, 'back.ndjson') }
  stage = await startRolloutStage(values)
  await stage.traffic(ALL, KINDS)
  expect(await place()).toBe('running 2 10')
  await stage.fault({ match: 'GET /iam/v2/roles', change: { at: '/roles/0/name', to: 'wrong' } })
  await stage.traffic([first, tenth], KINDS)
  expect(await place()).toBe('turned-back 2 0')
  expect((await stage.rollouts())[0]).toMatchObject({
    reason: expect.stringMatching(
      /^The circuit of iam\.roles\.list opened \(mismatches: 3 of the last 3 comparisons differed.*\)\. No answer can close the/,
    ),
  })
  await stage.clearFaults()
  expect((await stage.traffic([first], ONE))[first]).toEqual(['diff-v1 200'])

  await stage.setModes(modes([{ operations: 'registry.*', clients: '*', mode: 'v1' }]))
  expect(await place()).toBe('turned-back 2 0')
  const { clock } = stage
  await stage.close()
  stage = await startRolloutStage(values, clock)
  expect(await place()).toBe('turned-back 2 0')
  await stage.traffic(ALL, ONE)
  expect(await place()).toBe('turned-back 2 0')

  expect(await stage.command('iam', 'resume')).toBe(200)
  expect(await place()).toBe('running 1 1')
  expect((await stage.traffic([first], KINDS))[first]).toEqual(['diff-v2 200'])
  expect(moves()).toEqual(['turned-back at step 2 of 3 (0 %)', 'running at step 1 of 3 (1 %)'])
})

it('a promotion leaves a list on the side that began it, and sends writes to v2 alone', async () => {
  const rollout = { name: 'all', target: 0.1, retries: 2, watch: '1h', steps: [STEPS[0], STEPS[2]].flatMap((step) => step ?? []) }
  const rule = { operations: '*', clients: '*', mode: 'v1' as const, canary: { mode: 'diff-v2' as const, rollout } }
  stage = await startRolloutStage({ modes: { default: 'v1', rules: [rule], testers: [] } })
  const sides = async () => (await stage.journal()).filter(({ method }) => method !== 'GET').map(({ path }) => path.split('/')[2])
  const page = async (token = '') => {
    const { body } = await stage.request('GET', `/registry/v1/eoltags?page_size=5&page_token=${encodeURIComponent(token)}`)
    await stage.settled()
    return [stage.server.log.findLast(({ msg }) => msg === 'request')?.mode, body.next_page_token] as const
  }
  const reason = async () => (await stage.rollouts())[0]?.reason
  const [before, token] = await page()
  expect(await stage.command('all', 'promote')).toBe(200)
  const [continued] = await page(token)
  expect([before, continued]).toEqual(['v1', 'v1'])
  expect(await reason()).toContain('no caller of the share has sent a request yet')
  expect((await page())[0]).toBe('diff-v2')
  expect(await reason()).not.toContain('no caller of the share')
  await stage.clearJournal()
  const made = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
  expect([made.status, await sides()]).toEqual([200, ['v2']])
})
