import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Observation } from '../../../src/migrate/evidence/evidence.ts'
import { type ModeRules, readModeRules } from '../../../src/migrate/modes/rules.ts'
import { createSampleRatio, createStepEvidence } from '../../../src/migrate/rollout/evidence.ts'
import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import {
  describeDuration,
  describeState,
  durationOf,
  firstState,
  planOf,
  type RolloutPhase,
  type RolloutPlan,
  type RolloutState,
} from '../../../src/migrate/rollout/plan.ts'
import { ROLLOUT_COMMANDS, steered } from '../../../src/migrate/rollout/run.ts'
import { seeded } from '../../stage/clocks.ts'
import { startStage } from '../../stage/stage.ts'
import { iamRules, PERSON, type RolloutStage, simulate, startRolloutStage, tokensBetween } from './stage.ts'

describe('rollout plan', () => {
  const STEPS = [
    { percent: 1, observations: 200 },
    { percent: 100, hold: '1h', target: 0.01 },
  ]
  const rule = (rollout: object, more: object = {}) => ({
    operations: 'iam.*',
    mode: 'diff-v1',
    canary: { mode: 'diff-v2', rollout: { name: 'iam', steps: STEPS, ...rollout }, ...more },
  })
  const problemOf = (...rules: object[]) => {
    const read = readModeRules({ default: 'diff-v1', rules })
    return 'problem' in read ? read.problem : undefined
  }

  it('a rollout is read with its defaults, and planned in milliseconds', () => {
    const read = readModeRules({ default: 'diff-v1', rules: [rule({})] })
    if ('problem' in read) throw new Error(read.problem)
    const [first] = read.rules
    expect(first?.canary?.rollout).toEqual({ name: 'iam', target: 0.001, retries: 2, watch: '24h', steps: STEPS })
    if (!first?.canary?.rollout) throw new Error('no rollout')
    expect(planOf(first.canary.rollout, first)).toMatchObject({
      operations: ['iam.*'],
      steps: [
        { percent: 1, observations: 200, holdMs: 0, target: 0.001 },
        { percent: 100, observations: 0, holdMs: 3_600_000, target: 0.01 },
      ],
      watch: { percent: 100, observations: 0, holdMs: 86_400_000, target: 0.01 },
    })
  })

  describe('a wrong rollout is refused', () => {
    const ROLLOUT = 'rules.0.canary.rollout'
    it.each([
      ['without a name', [rule({ name: undefined })], `${ROLLOUT}.name is required`],
      ['with a name that is no part of a path', [rule({ name: 'a/b' })], `${ROLLOUT}.name must be 1 to 63 letters`],
      ['without steps', [rule({ steps: [] })], `${ROLLOUT}.steps must be a list of 1 to 20 steps`],
      ['with too many steps', [rule({ steps: Array(21).fill(STEPS[0]) })], `${ROLLOUT}.steps must be a list of 1 to 20 steps`],
      ['with a step that shrinks', [rule({ steps: [...STEPS].reverse() })], `${ROLLOUT}.steps.1.percent must be above 100,`],
      ['with a step that stays', [rule({ steps: [STEPS[0], STEPS[0]] })], `${ROLLOUT}.steps.1.percent must be above 1, the percent of`],
      ['with a step of 0 %', [rule({ steps: [{ percent: 0, hold: '1h' }] })], `${ROLLOUT}.steps.0.percent must be a number above 0`],
      ['with a step that wants nothing', [rule({ steps: [{ percent: 1 }] })], `${ROLLOUT}.steps.0 needs observations, a hold or both`],
      [
        'with half an observation',
        [rule({ steps: [{ percent: 1, observations: 0.5 }] })],
        `${ROLLOUT}.steps.0.observations must be a whole`,
      ],
      ['with a hold without a unit', [rule({ steps: [{ percent: 1, hold: '30' }] })], `${ROLLOUT}.steps.0.hold must be a duration`],
      ['with a target of 0', [rule({ target: 0 })], `${ROLLOUT}.target must be a share above 0 and below 1`],
      ['with a watch of a number', [rule({ watch: 24 })], `${ROLLOUT}.watch must be a duration`],
      ['with a negative number of retries', [rule({ retries: -1 })], `${ROLLOUT}.retries must be a whole number from 0 to 10`],
      ['with an unknown member', [rule({ speed: 1 })], `${ROLLOUT} has no member "speed"`],
      ['with an unknown member of a step', [rule({ steps: [{ ...STEPS[0], wait: 1 }] })], `${ROLLOUT}.steps.0 has no member "wait"`],
      ['that is not an object', [rule({}, { rollout: 'iam' })], `${ROLLOUT} must be an object {"name",`],
      ['beside a percent', [rule({}, { percent: 5 })], 'rules.0.canary.percent must be left out beside a rollout'],
      ['to a mode that compares nothing', [rule({}, { mode: 'v2' })], 'rules.0.canary.mode must be diff-v2 beside a rollout'],
      ['from v2', [{ ...rule({}), mode: 'v2' }], 'rules.0.mode must be v1 or diff-v1 beside a rollout'],
      ['of a name that is taken', [rule({}), rule({})], 'rules.1.canary.rollout.name is the name of an earlier rollout too'],
      [
        'beyond the tenth',
        Array.from({ length: 11 }, (_, nth) => rule({ name: `r${nth}` })),
        'rules.10.canary.rollout.name is one too many: 10 are allowed',
      ],
      ['that is left out of its canary', [{ mode: 'v1', canary: { mode: 'v2' } }], 'rules.0.canary.percent must be a number from 0 to 100'],
    ])('%s', (_, rules, problem) => {
      expect(problemOf(...rules)).toContain(problem)
    })
  })

  it.each([
    ['90s', 90_000, '1 min 30 s'],
    ['30m', 1_800_000, '30 min'],
    ['36h', 129_600_000, '1 d 12 h'],
    ['365d', 31_536_000_000, '365 d'],
  ])('a duration of %s is %i ms, in words %s', (text, ms, words) => {
    expect([durationOf(text), describeDuration(ms)]).toEqual([ms, words])
  })

  it.each(['0s', '366d', '1.5h', '-1m', 'PT1H', '1w', ''])('%j is no duration', (text) => {
    expect(durationOf(text)).toBeUndefined()
  })

  it('a rollout that is written otherwise is the same, and one with another step, retry or scope is not', () => {
    const digestOf = (rollout: object, more: object = {}) => {
      const read = readModeRules({ default: 'diff-v1', rules: [{ ...rule(rollout), ...more }] })
      if ('problem' in read || !read.rules[0]?.canary?.rollout) throw new Error('wrong')
      return planOf(read.rules[0].canary.rollout, read.rules[0]).digest
    }
    const known = digestOf({})
    expect(digestOf({ watch: '1d', steps: [STEPS[0], { target: 0.01, hold: '60m', percent: 100 }] })).toBe(known)
    const others = [{ retries: 1 }, { watch: '2d' }, { target: 0.002 }, { steps: [STEPS[0]] }].map((rollout) => digestOf(rollout))
    const scopes = [{ operations: 'iam.r*' }, { clients: 'a' }].map((more) => digestOf({}, more))
    expect(new Set([known, ...others, ...scopes]).size).toBe(7)
  })
})

describe('ratio', () => {
  it('a share that is not what is configured pauses the rollout, and a person who resumes has it counted anew', () => {
    const one = simulate(iamRules({ steps: [{ percent: 10, hold: '1h' }] }))
    const ask = (nth: number) => {
      const client = { caller: `caller ${nth}`, subject: undefined, mode: 'v1', round: one.rollouts.round() } as const
      one.rollouts.used(client, 'iam.a', 'v1')
    }
    for (let nth = 0; nth < 200; nth += 1) ask(nth)
    one.pass(1000)
    expect(one.rollouts.all()[0]).toMatchObject({
      phase: 'paused',
      percent: 10,
      reason: expect.stringMatching(
        /^The share is not what is configured: 0 of 200 callers \(0 %\) got the canary, and 10 % are configured: look for /,
      ),
      ratio: { callers: 200, got: 0, share: 0.1, requests: { got: 0, other: 200 }, isOff: true },
    })
    expect(one.rollouts.steer('iam', 'resume', PERSON)).toBeUndefined()
    ask(0)
    one.pass(1000)
    expect(one.rollouts.all()[0]).toMatchObject({ phase: 'running', ratio: { callers: 1, isOff: false } })
  })

  it('a caller got the share if v2 itself answered: not by the header of a tester, and not if v1 answered in its place', async () => {
    const rollout = { name: 'iam', steps: [{ percent: 100, hold: '1h' }] }
    const rule = { operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout } }
    const rules = readModeRules({ default: 'v1', rules: [rule], testers: ['*'] })
    if ('problem' in rules) throw new Error(rules.problem)
    const stage = await startStage({ proxy: { modes: rules } })
    await stage.fault({ match: 'GET /iam/v2/roles', status: 503, times: 2 })
    for (const token of ['demo-admin-1', 'demo-admin-2', 'demo-admin-3', 'demo-admin-1']) {
      await stage.request('GET', '/iam/v1/roles', { token })
    }
    await stage.request('GET', '/iam/v1/roles', { token: 'demo-admin-4', headers: { 'x-crosswalk-mode': 'v1' } })
    await stage.settled()
    // A request is counted after its client has the answer.
    const ratio = async () => ((await (await fetch(`${stage.adminUrl}/rollouts`)).json()) as readonly RolloutStatus[])[0]?.ratio
    await expect.poll(ratio).toMatchObject({ callers: 4, got: 1, requests: { got: 2, other: 3 } })
  })
})

describe('the test of the share that callers got', () => {
  const ODDS = 100_000

  /** Sends callers of which this share gets the canary until the test proves another share. Returns their number, or undefined. */
  function untilOff(share: number, real: number, next: () => number, { odds = ODDS, most = 10_000 } = {}): number | undefined {
    const ratio = createSampleRatio({ share, odds })
    for (let n = 1; n <= most; n++) {
      ratio.see(`caller ${n}`, next() < real)
      if (ratio.isOff()) return n
    }
    return undefined
  }

  function median(numbers: readonly (number | undefined)[]): number {
    return numbers.map((n) => n ?? Number.POSITIVE_INFINITY).sort((a, b) => a - b)[Math.floor(numbers.length / 2)] as number
  }

  it.each([0.01, 0.1, 0.5, 1])('calls a right share of %f wrong in no more runs than its odds allow', (share) => {
    const next = seeded(4_731)
    const runs = Array.from({ length: 100 }, () => untilOff(share, share, next, { odds: 20, most: 1000 }))
    // At odds of 20 at most one run of 20, and three standard errors of the simulation itself.
    expect(runs.filter((n) => n !== undefined).length).toBeLessThanOrEqual(100 / 20 + 3 * Math.sqrt(100 * 0.05 * 0.95))
    expect(untilOff(share, share, next)).toBeUndefined()
  })

  it.each([
    [0.1, 0.5, 27],
    [0.1, 0, 117],
    [0.1, 0.2, 350],
    [0.01, 0, 1_177],
    [0.5, 0.6, 874],
    [1, 0.9, 218],
    [1, 0.5, 15],
  ])('finds that %f are configured and %f get it, after the callers of docs/facts/evidence.md', (share, real, callers) => {
    const next = seeded(4_732)
    const needed = median(Array.from({ length: 31 }, () => untilOff(share, real, next)))
    expect(needed / callers).toBeGreaterThan(0.8)
    expect(needed / callers).toBeLessThan(1.25)
  })

  it('takes a share within 2 % of the configured one for right', () => {
    const next = seeded(4_733)
    expect(untilOff(1, 0.985, next)).toBeUndefined()
    expect(untilOff(1, 0.9, next)).toBeDefined()
  })

  it('counts each caller once, and each request', () => {
    const ratio = createSampleRatio({ share: 0.1, odds: ODDS })
    for (let n = 0; n < 100; n++) ratio.see('a busy caller', true)
    ratio.see('another', false)
    ratio.see('a busy caller', false)
    expect(ratio.state()).toMatchObject({ callers: 2, got: 1, requests: { got: 100, other: 2 } })
    expect(ratio.isOff()).toBe(false)
  })

  it('tests the first 10,000 callers and no more', () => {
    const ratio = createSampleRatio({ share: 0.5, odds: ODDS })
    for (let n = 0; n < 10_000; n++) ratio.see(`caller ${n}`, n % 2 === 0)
    for (let n = 10_000; n < 12_000; n++) ratio.see(`caller ${n}`, false)
    expect(ratio.state()).toMatchObject({ callers: 10_000, got: 5_000, requests: { got: 5_000, other: 7_000 } })
    expect(ratio.isOff()).toBe(false)
  })

  it('says both shares and the number of callers, and when they are too few to tell', () => {
    const reasonAfter = (got: number, other: number) => {
      const ratio = createSampleRatio({ share: 0.1, odds: ODDS })
      for (let n = 0; n < got + other; n++) ratio.see(`caller ${n}`, n < got)
      return ratio.state().reason
    }
    expect(reasonAfter(0, 0)).toBe('no caller yet; 10 % of them are to get the canary')
    expect(reasonAfter(0, 1)).toBe('0 of 1 caller (0 %) got the canary, and 10 % are configured: too few callers to tell')
    expect(reasonAfter(11, 109)).toBe('11 of 120 callers (9.17 %) got the canary, and 10 % are configured')
    expect(reasonAfter(60, 60)).toBe(
      "60 of 120 callers (50 %) got the canary, and 10 % are configured: look for clients that another rule, a tester's header or the balancer sends elsewhere",
    )
  })
})

describe('rollouts', () => {
  const directory = mkdtempSync(join(tmpdir(), 'crosswalk-rollouts-'))
  afterAll(() => rmSync(directory, { recursive: true }))

  let stage: RolloutStage

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
  const [first, tenth, rest] = [tokensBetween(0, 1, 1), tokensBetween(1, 10, 1), tokensBetween(10, 100, 1)].flat() as [
    string,
    string,
    string,
  ]
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

  const moves = () => stage.log.flatMap(({ what, to }) => (what === 'rollout' ? [to] : []))

  it('a rollout goes from 1 % to 100 % by itself, and a caller keeps its side', async () => {
    stage = await startRolloutStage({ modes: modes() })
    expect(await place()).toBe('running 1 1')
    expect(await stage.traffic(ALL, KINDS)).toEqual({ [first]: ['diff-v2 200'], [tenth]: ['diff-v1 200'], [rest]: ['diff-v1 200'] })
    expect(await place()).toBe('running 2 10')
    expect(await stage.traffic(ALL, ONE)).toEqual({ [first]: ['diff-v2 200'], [tenth]: ['diff-v2 200'], [rest]: ['diff-v1 200'] })
    await reach('running 3 100')
    expect(await stage.traffic(ALL, KINDS.slice(2))).toEqual({
      [first]: ['diff-v2 200'],
      [tenth]: ['diff-v2 200'],
      [rest]: ['diff-v2 200'],
    })
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
      return [stage.log.findLast(({ msg }) => msg === 'request')?.mode, body.next_page_token] as const
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
})

describe('steer', () => {
  const steps = [
    { percent: 1, hold: '1h' },
    { percent: 50, hold: '1h' },
  ]
  const plan: RolloutPlan = planOf({ name: 'iam', target: 0.01, retries: 2, watch: '1h', steps }, { operations: 'iam.*', clients: '*' })
  const inPhase = (phase: RolloutPhase, at = 0): RolloutState => ({
    ...firstState('x', 0),
    phase,
    at,
    heldMs: 5,
    retried: 1,
    ...(phase === 'paused' && { signal: 'records' }),
  })
  const steer = (state: RolloutState, command: (typeof ROLLOUT_COMMANDS)[number], open: readonly string[] = []) => {
    const result = steered(plan, state, command, { by: 'ops', open, now: 7 })
    return result === 'same' ? result : 'problem' in result ? result.problem : describeState(plan, result.state)
  }

  it.each([
    ['running', ['paused at step 1 of 2 (1 %)', 'same', 'running at step 2 of 2 (50 %)', 'aborted at step 1 of 2 (0 %)']],
    ['held', ['paused at step 1 of 2 (1 %)', 'same', 'running at step 2 of 2 (50 %)', 'aborted at step 1 of 2 (0 %)']],
    [
      'paused',
      ['paused at step 1 of 2 (1 %)', 'running at step 1 of 2 (1 %)', 'running at step 2 of 2 (50 %)', 'aborted at step 1 of 2 (0 %)'],
    ],
    [
      'turned-back',
      [
        'The rollout iam is turned back, and its share is 0: abort it if it must not try again.',
        'running at step 1 of 2 (1 %)',
        'The rollout iam is turned back: resume it first.',
        'aborted at step 1 of 2 (0 %)',
      ],
    ],
    [
      'aborted',
      [
        'The rollout iam is aborted: only other steps, or another name, start it again.',
        'The rollout iam is aborted: only other steps, or another name, start it again.',
        'The rollout iam is aborted: only other steps, or another name, start it again.',
        'same',
      ],
    ],
    ['watching', ['paused (50 %)', 'same', 'done (50 %)', 'aborted (0 %)']],
    [
      'done',
      [
        'The rollout iam is done: abort it to set its share to 0.',
        'The rollout iam is done: nothing is left to resume.',
        'The rollout iam is done: nothing is left to promote.',
        'aborted (0 %)',
      ],
    ],
  ] as const)('commands of a rollout that is %s do what they can', (phase, results) => {
    const at = phase === 'watching' || phase === 'done' ? 2 : 0
    expect(ROLLOUT_COMMANDS.map((command) => steer(inPhase(phase, at), command))).toEqual(results)
  })

  it('a promotion leads from the last step to the watch', () => {
    expect(steer(inPhase('running', 1), 'promote')).toBe('watching (50 %)')
  })

  it('nothing is promoted while a circuit is open', () => {
    expect(steer(inPhase('running'), 'promote', ['iam.roles.list'])).toBe(
      'The rollout iam cannot be promoted: the circuit of iam.roles.list is open.',
    )
  })

  it('a second pause by a person changes nothing', () => {
    const paused = { ...inPhase('paused'), signal: undefined }
    expect(steer(paused, 'pause')).toBe('same')
  })

  it.each([
    ['records', { heldMs: 5, rounds: 1, stepsBegun: 1, runsBegun: 1 }],
    ['inconclusive', { heldMs: 5, rounds: 2, stepsBegun: 1, runsBegun: 1 }],
    ['share', { heldMs: 0, rounds: 1, stepsBegun: 2, runsBegun: 1 }],
    ['outside', { heldMs: 0, rounds: 1, stepsBegun: 2, runsBegun: 2 }],
  ] as const)('a person who resumes after the signal %s gives the retries back and settles it', (signal, settled) => {
    const result = steered(plan, { ...inPhase('paused'), signal }, 'resume', { by: 'ops', open: [], now: 7 })
    expect(result).toMatchObject({ state: { phase: 'running', at: 0, signal: undefined, retried: 0, since: 7, ...settled } })
  })

  it('a person who resumes after a guardrail begins a new run', () => {
    const result = steered(plan, { ...inPhase('turned-back', 1), opened: { a: 'b' } }, 'resume', { by: 'ops', open: ['a'], now: 7 })
    expect(result).toMatchObject({ state: { phase: 'running', at: 0, opened: {}, retried: 0, stepsBegun: 2, runsBegun: 2 } })
  })
})

describe('step evidence', () => {
  let ticks = 0
  const evidence = () => {
    ticks = 0
    return createStepEvidence({ percent: 10, ticks: () => ticks })
  }
  const seen = (outcome: Observation['outcome'], shape = 'a'): Observation => ({ operation: 'iam.a', caller: 'c', shape, outcome })

  it('counts each pair once in ten minutes as an observation, and every comparison', () => {
    const step = evidence()
    step.used('iam.a', true)
    for (const outcome of ['match', 'mismatch', 'match'] as const) step.compared(seen(outcome))
    step.compared(seen('error', 'b'))
    ticks = 600_000
    step.compared(seen('mismatch'))
    expect(step.counts()).toEqual({ 'iam.a': { requests: 1, observations: { n: 3, bad: 2 }, comparisons: { n: 5, bad: 3 } } })
  })

  it('counts nothing of a race or of an open question', () => {
    const step = evidence()
    for (const outcome of ['race', 'inconclusive'] as const) step.compared(seen(outcome))
    expect(step.counts()).toEqual({})
  })

  it('tells how many requests in a row were not judged, and for how long', () => {
    const step = evidence()
    ticks = 1000
    for (let nth = 0; nth < 3; nth += 1) step.used('iam.a', true)
    step.used('iam.write', false)
    step.compared(seen('inconclusive'))
    ticks = 5000
    expect(step.sinceLook()).toEqual({ requests: 4, unjudged: { requests: 3, ms: 4000 }, isWorse: false })
    step.compared(seen('match'))
    ticks = 9000
    expect(step.sinceLook()).toEqual({ requests: 0, unjudged: { requests: 0, ms: 0 }, isWorse: false })
    step.used('iam.a', true)
    step.forgive()
    expect(step.sinceLook().unjudged.requests).toBe(0)
  })

  it('tells once that something bad was seen', () => {
    const step = evidence()
    step.compared(seen('mismatch'))
    expect([step.sinceLook().isWorse, step.sinceLook().isWorse]).toEqual([true, false])
  })

  it('goes on with recorded counts, and knows a poll that was remembered', () => {
    const step = evidence()
    step.remember(seen('match'), 60_000)
    step.restore({ 'iam.a': { requests: 7, observations: { n: 5, bad: 1 }, comparisons: { n: 6, bad: 1 } } })
    step.compared(seen('match'))
    expect(step.counts()).toEqual({ 'iam.a': { requests: 7, observations: { n: 5, bad: 1 }, comparisons: { n: 7, bad: 1 } } })
  })
})
