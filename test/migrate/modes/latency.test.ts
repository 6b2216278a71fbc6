import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { createLatencyWatch, type Guardrail } from '../../../src/migrate/modes/latency.ts'
import { readModeRules } from '../../../src/migrate/modes/rules.ts'
import { runCommand } from '../../app/cli/support.ts'
import { isFull } from '../../sample.ts'
import { seeded, until } from '../../stage/clocks.ts'
import { bearer, startStage } from '../../stage/stage.ts'
import { answering } from '../../stage/upstream.ts'
import { tokensBetween } from '../rollout/stage.ts'

interface Service {
  /** Milliseconds of one request, of a number that chance drew. */
  readonly v1: (drawn: number, at: number) => number
  readonly v2: (drawn: number, at: number) => number
}

/** Times with a long tail: one in a hundred requests takes a hundred times as long. */
const usual = (drawn: number) => 10 / (1 - drawn)

/** Sends so many requests, half of them to v2. Returns after how many v2 was found too slow, and why. */
function play(guardrail: Guardrail, { v1, v2 }: Service, requests: number, seed: number) {
  const random = seeded(seed)
  const watch = createLatencyWatch(guardrail)
  for (let at = 0; at < requests; at += 1) {
    const side = random() < 0.5 ? 'share' : 'rest'
    const why = watch.see(side, (side === 'share' ? v2 : v1)(random(), at))
    if (why !== undefined) return { at, why }
  }
  return undefined
}

const SIMULATIONS = isFull ? 1000 : 200

/** How many of the simulations find v2 too slow. */
function found(guardrail: Guardrail, service: Service, requests: number): number {
  let count = 0
  for (let seed = 0; seed < SIMULATIONS; seed += 1) if (play(guardrail, service, requests, seed)) count += 1
  return count
}

describe('a guardrail of latency', () => {
  it.each<[keyof Guardrail, number]>([
    ['p50', 600],
    ['p90', 2000],
    ['p99', 10_000],
  ])(`finds in at most 5 % of ${SIMULATIONS.toLocaleString('en')} simulations by %s that an equal v2 is slow`, (quantile, requests) => {
    expect(found({ [quantile]: 1 }, { v1: usual, v2: usual }, requests)).toBeLessThanOrEqual(SIMULATIONS / 20)
  })

  it('does not find a v2 slow that is slow when v1 is', () => {
    const spikes = (drawn: number, at: number) => usual(drawn) * (at % 1000 < 200 ? 20 : 1)
    expect(found({ p90: 1 }, { v1: spikes, v2: spikes }, 2000)).toBeLessThanOrEqual(SIMULATIONS / 20)
    const rising = (drawn: number, at: number) => usual(drawn) * (1 + at / 500)
    expect(found({ p90: 1 }, { v1: rising, v2: rising }, 2000)).toBeLessThanOrEqual(SIMULATIONS / 20)
  })

  it('lets v2 be as much slower as it says', () => {
    const v2 = (drawn: number) => 1.4 * usual(drawn)
    expect(found({ p90: 1.5 }, { v1: usual, v2 }, 2000)).toBeLessThanOrEqual(SIMULATIONS / 20)
  })

  it.each<[string, Guardrail, Service['v2'], number]>([
    ['that hangs', { p99: 1.5 }, () => 30_000, 2_000],
    ['whose tail is longer', { p99: 1.5 }, (drawn) => (drawn < 0.1 ? 50_000 : usual(drawn)), 40_000],
    ['that is three times as slow', { p50: 1.5 }, (drawn) => 3 * usual(drawn), 2_000],
  ])('finds a v2 %s', (_, guardrail, v2, requests) => {
    const results = Array.from({ length: 20 }, (_unused, seed) => play(guardrail, { v1: usual, v2 }, requests, seed))
    expect(results.filter((one) => one === undefined)).toEqual([])
  })

  it('finds a v2 that becomes slow after a long time in which it was not', () => {
    const v2 = (drawn: number, at: number) => (at < 20_000 ? usual(drawn) : 30_000)
    expect(play({ p99: 1.5 }, { v1: usual, v2 }, 22_000, 1)?.at).toBeGreaterThanOrEqual(20_000)
  })

  it('says how slow v2 is', () => {
    expect(play({ p99: 1.5 }, { v1: () => 10, v2: () => 1000 }, 5_000, 1)?.why).toBe(
      'latency: 3 of the last 3 answers of v2 took longer than 1.5 × the 99th percentile of v1, so at least 3.5 % do; 1 % is allowed',
    )
  })
})

describe('the rules', () => {
  const problemOf = (canary: object, mode = 'v1') => readModeRules({ default: 'v1', rules: [{ mode, canary: { percent: 1, ...canary } }] })

  it.each([
    [{ mode: 'v2', guardrail: { p99: 0.5 } }, 'v1', 'rules.0.canary.guardrail.p99 must be a number from 1 to 1000'],
    [{ mode: 'v2', guardrail: {} }, 'v1', 'rules.0.canary.guardrail needs p50, p90 or p99'],
    [{ mode: 'v2', guardrail: { p95: 2 } }, 'v1', 'rules.0.canary.guardrail has no member "p95"'],
    [{ mode: 'diff-v1', guardrail: { p99: 2 } }, 'v1', 'must be left out unless v1 answers the others and v2 the share'],
  ])('refuse %j', (canary, mode, problem) => {
    expect(problemOf(canary, mode)).toEqual({ problem: expect.stringContaining(problem) })
  })
})

/** A clock that upstreams put forward in place of waiting, by more than a busy machine takes. */
const clock = { ahead: 0 }
const real = performance.now.bind(performance)

beforeAll(() => void vi.spyOn(performance, 'now').mockImplementation(() => real() + clock.ahead))
afterAll(() => void vi.restoreAllMocks())

/** Milliseconds that v2 takes, and v1. */
interface Times {
  readonly v1: number
  readonly v2: number
}

async function proxyWith({ v1, v2 }: Times, canary: object, mode: string, memory?: ReturnType<typeof createMemory>) {
  const late = (ms: number, body: object) => (_: IncomingMessage, response: ServerResponse) => {
    clock.ahead += ms
    answering(body)(_, response, '')
  }
  const modes = readModeRules({
    default: mode,
    rules: [{ operations: 'iam.groups.list', mode, canary: { ...canary, guardrail: { p50: 3 } } }],
  })
  if ('problem' in modes) throw new Error(modes.problem)
  const sides = { v1: late(v1, { items: [] }), v2: late(v2, { groups: [] }) }
  const proxy = await startStage({ ...sides, proxy: { modes }, join: memory && joinFleet(memory.open()) })
  const [inside = [], outside = []] = [tokensBetween(0, 50, 1), tokensBetween(50, 100, 1)]
  const isOpen = () => proxy.log.some(({ what }) => what === 'circuit')
  const rounds = async (count: number) => {
    for (let round = 0; round < count && !isOpen(); round += 1) {
      for (const token of [...outside, ...inside]) {
        await ask(token)
        // What is compared must not make the next request slow.
        await proxy.idle()
      }
    }
  }
  const ask = async (token: string) => (await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer(token) })).text()
  const admin = async (path: string) => (await fetch(`${proxy.adminUrl}${path}`)).text()
  return { proxy, rounds, admin, ask, inside: inside[0] ?? '' }
}

const SLOW = { v1: 0, v2: 3000 }

describe('a proxy', () => {
  it('turns a canary back whose v2 is slow, and says why in its log, its metrics and its modes', async () => {
    const { proxy, rounds, admin, ask, inside } = await proxyWith(SLOW, { mode: 'v2', percent: 50 }, 'v1')
    await rounds(200)
    const { msg } = await proxy.logged(({ what }) => what === 'circuit')
    const why = /latency: \d+ of the last \d+ answers of v2 took longer than 3 × the median of v1, so at least [\d.]+ % do; 50 % is allowed/
    expect(msg).toMatch(why)
    expect(JSON.parse(await admin('/circuits'))).toMatchObject([{ operation: 'iam.groups.list', reason: expect.stringMatching(why) }])
    expect(await admin('/metrics')).toMatch(/^crosswalk_circuit_open\{operation="iam\.groups\.list"\} 1$/m)
    await ask(inside)
    expect(proxy.log.findLast((line) => line.msg === 'request')).toMatchObject({ mode: 'v1' })
  })

  it('turns a rollout back whose v2 is slow', async () => {
    const rollout = { name: 'groups', steps: [{ percent: 50, observations: 100_000 }] }
    const { rounds, admin } = await proxyWith(SLOW, { mode: 'diff-v2', rollout }, 'diff-v1')
    await rounds(200)
    expect(JSON.parse(await admin('/rollouts'))).toMatchObject([
      { phase: 'turned-back', reason: expect.stringMatching(/took longer than 3 × the median .+ for the guardrail of rollout groups/) },
    ])
  })

  it('judges by what it serves itself, and turns the canary of every replica back', async () => {
    const memory = createMemory(Date.now)
    const replica = () => proxyWith(SLOW, { mode: 'v2', percent: 50 }, 'v1', memory)
    const [first, second] = [await replica(), await replica()]
    // 15 of these together would prove it.
    for (const { rounds } of [first, second]) await rounds(10)
    await Promise.all([first, second].map(({ proxy }) => proxy.idle()))
    expect(JSON.parse(await second.admin('/circuits'))).toEqual([])
    await first.rounds(200)
    const why = /latency: \d+ of the last \d+ answers of v2 took longer than 3 × the median of v1/
    const owner = 'the guardrail of the canary of iam.groups.list'
    const opened = async () => {
      const [row] = JSON.parse(await second.admin('/circuits'))
      return row as object | undefined
    }
    expect(await until(opened)).toMatchObject({ reason: expect.stringMatching(why), owner })
    const { ask, inside, proxy, admin } = second
    await ask(inside)
    expect(proxy.log.findLast((line) => line.msg === 'request')).toMatchObject({ mode: 'v1' })
    const { out } = await runCommand(['status', '--admin', proxy.adminUrl])
    expect(out).toMatch(new RegExp(`^ {2}iam\\.groups\\.list {2}open since \\S+ for ${owner}\n {4}${why.source}`, 'm'))
    expect(JSON.parse(await admin('/report.json')).now.circuits['iam.groups.list']).toMatch(why)
  })

  it('leaves a canary alone if v1 is as slow', async () => {
    const { rounds, admin } = await proxyWith({ v1: 3000, v2: 3000 }, { mode: 'v2', percent: 50 }, 'v1')
    await rounds(30)
    expect(JSON.parse(await admin('/circuits'))).toEqual([])
  })
})
