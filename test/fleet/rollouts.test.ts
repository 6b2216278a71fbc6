import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { evidenceChanges, evidenceNames, type TimedObservation, tallyChanges } from '../../src/fleet/evidence.ts'
import { createLeader } from '../../src/fleet/fleet.ts'
import { readRollout } from '../../src/fleet/rollouts/documents.ts'
import { createRolloutsPart } from '../../src/fleet/rollouts/rollouts.ts'
import { createMemory, type Memory } from '../../src/fleet/store/memory.ts'
import { openStore } from '../../src/fleet/store/open.ts'
import type { Store, StoreChange } from '../../src/fleet/store/store.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import type { RolloutStatus } from '../../src/migrate/rollout/machine.ts'
import { planOf, shareOf } from '../../src/migrate/rollout/plan.ts'
import type { RolloutCommand } from '../../src/migrate/rollout/run.ts'
import { createCallers, iamRules, PERSON } from '../migrate/rollout/stage.ts'
import { type ManualClocks, manualClocks, seeded, until } from '../stage/clocks.ts'
import { NOWHERE, startStage } from '../stage/stage.ts'
import { cuttable, fleetOf } from './stage.ts'

const NAMES = evidenceNames({ nth: 0, hash: 'tables' })

/** A replica with real circuits, real evidence and clients that only count. */
async function simulateReplica(id: string, inner: Store, clocks: ManualClocks, rules: ModeRules) {
  const { now, ticks } = clocks
  const callers = createCallers({ rules, now, ticks, problem: () => replica.problem, replica: id })
  const { rollouts, follow } = callers
  const cut = cuttable(inner)
  const fleet = fleetOf(id, cut.store, clocks)
  const leader = createLeader(id, ticks)
  let version = 1
  const failed = (error: unknown) => void replica.failures.push(error)
  const part = createRolloutsPart({
    fleet,
    leader,
    rollouts,
    modesVersion: () => version,
    evidenceName: () => NAMES.evidence,
    clocks,
    failed,
  })
  fleet.add(leader)
  fleet.add(part)
  const observed: TimedObservation[] = []
  const refused: StoreChange[] = []
  fleet.add({
    changes: () => [...refused.splice(0), ...observed.splice(0).flatMap((one) => evidenceChanges(one, NAMES))],
    readings: () => [],
  })
  const ends: (() => void)[] = []
  const replica = {
    ...{ ...callers, id, cut, fleet, leader },
    problem: undefined as string | undefined,
    failures: [] as unknown[],
    /** The caller asks something new, v2 or v1 answers as the share says, and both are compared. */
    ask(...asked: Parameters<typeof callers.ask>) {
      const { comparison, isObserved } = callers.ask(...asked)
      if (isObserved) observed.push({ ...comparison, at: now() })
      return comparison.mode
    },
    /** v2 refuses so many writes of `iam.a`, and nobody knows whether v1 would. */
    refuse: (count: number) => void refused.push(...tallyChanges('iam.a', { uncompared: { writeRefused: count } }, now(), NAMES)),
    steer: (command: RolloutCommand) => part.steer('iam', command, PERSON),
    share: () => rollouts.all()[0]?.percent ?? 0,
    reason: () => rollouts.all()[0]?.reason ?? '',
    /** Puts other rules in force: at the replica where a person put them, or where they are taken over. */
    change(changed: ModeRules, isOwn: boolean) {
      version += 1
      if (isOwn) rollouts.change(changed, PERSON)
      else rollouts.adopt(changed)
      follow(changed)
    },
    /** Ends without a word. */
    kill() {
      for (const end of ends.splice(0)) end()
      cut.cut = 'requests'
    },
  }
  rollouts.start()
  await fleet.start()
  ends.push(
    clocks.repeat(() => {
      rollouts.look()
      part.look()
    }, 1000),
  )
  return replica
}

type SimulatedReplica = Awaited<ReturnType<typeof simulateReplica>>

describe('random fleets', () => {
  const NEEDED = 40

  const RULES = iamRules({
    target: 0.2,
    retries: 0,
    steps: [
      { percent: 1, observations: NEEDED },
      { percent: 10, observations: NEEDED },
      { percent: 100, observations: NEEDED },
    ],
  })

  /** More of them run with `CROSSWALK_CASES`, others with `CROSSWALK_SEED`. */
  const LIVES = Number(process.env['CROSSWALK_CASES'] ?? 1)

  const RULE = RULES.rules[0]
  const PLAN = RULE?.canary?.rollout && planOf(RULE.canary.rollout, RULE)

  /** The longest time that a share may differ: an exchange each second, and what is due within it. */
  const AN_EXCHANGE_MS = 1500

  interface World {
    readonly clocks: ManualClocks
    readonly memory: Memory
    readonly random: () => number
    readonly replicas: SimulatedReplica[]
    /** Replicas that were killed: for five minutes nobody knows that they are gone. */
    killed: number
    /** Observations by step, as whoever saw everything would count them. */
    readonly seen: Map<number, Set<string>>
  }

  /** Kills, cuts off and starts replicas at random. At most two of three are away. */
  async function disturb(world: World, nth: number): Promise<void> {
    const { clocks, memory, random, replicas } = world
    const at = Math.floor(random() * replicas.length)
    const one = replicas[at]
    const away = replicas.filter(({ cut }) => cut.cut !== 'no').length
    const kind = random()
    if (!one) return
    if (one.cut.cut !== 'no') one.cut.cut = 'no'
    else if (kind < 0.3 && away < 2) one.cut.cut = random() < 0.5 ? 'requests' : 'answers'
    else if (kind < 0.35) {
      one.kill()
      world.killed += 1
      replicas[at] = await simulateReplica(`${one.id}${nth}`, memory.open(), clocks, RULES)
    }
  }

  function ask({ random, replicas, seen }: World): void {
    for (const one of replicas) {
      const shape = `shape ${Math.floor(random() * 40)}`
      const caller = random() < 0.5 ? 5 : 50
      const [{ percent = 0, step = 0 } = {}] = one.rollouts.all()
      if (one.ask(caller, { shape, isWrong: random() < 0.002 }) !== 'diff-v2' || caller / 10 >= percent) continue
      const known = seen.get(step) ?? new Set()
      seen.set(step, known.add(`${caller} ${shape}`))
    }
  }

  /** Returns how the documents went on, and what was wrong. */
  async function live(seed: number) {
    const clocks = manualClocks()
    const memory = createMemory(clocks.now)
    const world: World = { clocks, memory, random: seeded(seed), replicas: [], killed: 0, seen: new Map() }
    for (const id of ['a', 'b', 'c']) world.replicas.push(await simulateReplica(id, memory.open(), clocks, RULES))
    const store = memory.open()
    const wrong: string[] = []
    let differs = 0
    let away = 0
    let last: ReturnType<typeof readRollout>
    for (let nth = 0; nth < 240; nth += 1) {
      if (nth % 10 === 9) await disturb(world, nth)
      ask(world)
      await clocks.pass(250)
      const [found] = await store.read([{ kind: 'document', name: 'rollout:iam' }])
      const now = readRollout((found?.value as { text: string } | undefined)?.text ?? '')
      if (!now || !PLAN) continue
      const { at, phase } = now.saved.state
      if (last && at > last.saved.state.at + 1) wrong.push(`step ${last.saved.state.at} → ${at}`)
      if (last && at > last.saved.state.at) {
        const count = world.seen.get(at)?.size ?? 0
        if (count < NEEDED) wrong.push(`step ${at} was over after ${count} observations`)
      }
      away = world.killed > 0 || world.replicas.some(({ cut }) => cut.cut !== 'no') ? away + 1 : 0
      if (last && at > last.saved.state.at && away > 1) wrong.push(`step ${at} began while a replica was away`)
      if (last?.life !== undefined && last.life !== now.life) wrong.push('it began twice')
      last = now
      const reached = world.replicas.filter(({ cut }) => cut.cut === 'no')
      const share = shareOf(PLAN, now.saved.state)
      const others = reached.filter((one) => one.share() !== share && one.share() !== 0)
      differs = others.length > 0 ? differs + 250 : 0
      if (differs > AN_EXCHANGE_MS) wrong.push(`${phase} ${share}: ${others.map((one) => `${one.id} ${one.place()}`)}`)
    }
    const failures = world.replicas.flatMap((one) => one.failures)
    const begun = world.replicas.flatMap((one) => one.moves()).filter((to) => to === 'running at step 1 of 3 (1 %)').length
    return { wrong, failures, begun }
  }

  it('never skips a step or its evidence, and never keeps two shares, whatever happens to the replicas', async () => {
    const seed = Number(process.env['CROSSWALK_SEED'] ?? 2)
    const random = seeded(seed)
    for (let nth = 0; nth < LIVES; nth += 1) {
      const life = Math.floor(random() * 2 ** 31)
      const { wrong, failures, begun } = await live(life)
      expect({ wrong, failures, twice: begun > 1 }, `CROSSWALK_SEED=${seed}, life ${life}`).toEqual({
        wrong: [],
        failures: [],
        twice: false,
      })
    }
  })
})

describe('rollouts part', () => {
  const STEPS = [
    { percent: 1, observations: 60 },
    { percent: 50, hold: '5m' },
  ]

  async function three(rollout: object = { steps: STEPS }) {
    const clocks = manualClocks()
    const memory = createMemory(clocks.now)
    const rules = iamRules(rollout)
    const start = (id: string) => simulateReplica(id, memory.open(), clocks, rules)
    const [a, b, c] = [await start('a'), await start('b'), await start('c')]
    const all = [a, b, c]
    await clocks.pass(3000)
    return { clocks, memory, rules, start, a, b, c, all }
  }

  const places = (replicas: readonly SimulatedReplica[]) => replicas.map((one) => one.place())
  const moves = (replicas: readonly SimulatedReplica[]) => replicas.map((one) => one.moves())

  it('begins once, and all replicas follow', async () => {
    const { all, b } = await three()
    expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'running 1 1'])
    expect(moves(all)).toEqual([['running at step 1 of 2 (1 %)'], [], []])
    expect([b.ask(5), b.ask(50)]).toEqual(['diff-v2', 'diff-v1'])
  })

  it('waits, and was not turned back, until the store has told where it stands', async () => {
    const { a, all, clocks } = await three()
    a.change(iamRules({ steps: [{ percent: 2, hold: '1h' }] }), true)
    expect(a.place()).toBe('waiting 1 0')
    for (const one of all.slice(1)) one.change(iamRules({ steps: [{ percent: 2, hold: '1h' }] }), false)
    await clocks.pass(3000)
    expect(places(all)).toEqual(['running 1 2', 'running 1 2', 'running 1 2'])
    expect(
      moves(all)
        .flat()
        .filter((to) => /waiting|turned/.test(to ?? '')),
    ).toEqual([])
  })

  it('judges what all replicas have seen, and counts once what two of them saw', async () => {
    const { clocks, all, a } = await three()
    const ask = async (from: number, to: number) => {
      for (let nth = from; nth < to; nth += 1) for (const one of all) one.ask(5, { shape: `shape ${nth}` })
      await clocks.pass(3000)
    }
    await ask(0, 59)
    expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'running 1 1'])
    expect(a.rollouts.all()[0]).toMatchObject({ observed: 59, wanted: 60 })
    await ask(59, 60)
    expect(places(all)).toEqual(['running 2 50', 'running 2 50', 'running 2 50'])
    expect(moves(all)).toEqual([['running at step 1 of 2 (1 %)', 'running at step 2 of 2 (50 %)'], [], []])
  })

  it('judges by what all replicas know of v2, not by what one of them does', async () => {
    const { clocks, all, a, b, c } = await three({ steps: [{ percent: 50, hold: '1m' }] })
    for (let nth = 0; nth < 70; nth += 1) for (const one of [b, c]) one.ask(5)
    for (let second = 0; second < 63; second += 1) {
      a.ask(5, { shape: 'the same' })
      await clocks.pass(1000)
    }
    expect(places(all)).toEqual(['watching 1 50', 'watching 1 50', 'watching 1 50'])
  })

  it('does not go on while v2 alone refuses a part, wherever that was', async () => {
    const { clocks, all, a, b, c } = await three({ steps: [{ percent: 50, hold: '1m' }] })
    c.refuse(10)
    for (let nth = 0; nth < 70; nth += 1) for (const one of [a, b]) one.ask(5)
    for (let second = 0; second < 63; second += 1) {
      a.ask(5, { shape: 'the same' })
      await clocks.pass(1000)
    }
    expect(places(all)).toEqual(['running 1 50', 'running 1 50', 'running 1 50'])
    expect(a.reason()).toContain('as v2 alone left 10 requests of it without a comparison')
  })

  it('does not go on while a replica has not told what it saw', async () => {
    const { clocks, all, a, b } = await three()
    b.cut.cut = 'requests'
    for (let nth = 0; nth < 60; nth += 1) a.ask(5)
    await clocks.pass(10_000)
    expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'running 1 1'])
    expect(a.reason()).toMatch(/It waits: Replica b has not handed over/)
    b.cut.cut = 'no'
    await clocks.pass(3000)
    expect(places(all)).toEqual(['running 2 50', 'running 2 50', 'running 2 50'])
    expect(all.map(({ failures }) => failures)).toEqual([[], [], []])
  })

  it('takes the share to 0 at once where a circuit opens, and soon everywhere', async () => {
    const { clocks, all, c } = await three()
    for (let nth = 0; nth < 12; nth += 1) c.ask(5, { isWrong: true })
    expect(places(all)).toEqual(['running 1 1', 'running 1 1', 'turned-back 1 0'])
    await clocks.pass(10_000)
    expect(places(all)).toEqual(['turned-back 1 0', 'turned-back 1 0', 'turned-back 1 0'])
    expect(moves(all).map((each) => each.filter((to) => to?.startsWith('turned-back')).length)).toEqual([1, 0, 0])
  })

  it('obeys a command at every replica, wherever it was given', async () => {
    const { all, c, clocks } = await three()
    const paused = c.steer('pause')
    await clocks.pass(100)
    expect(await paused).toBeUndefined()
    expect(places(all)).toEqual(['paused 1 1', 'paused 1 1', 'paused 1 1'])
    expect(c.moves()).toEqual(['paused at step 1 of 2 (1 %)'])
    expect(await c.steer('pause')).toBeUndefined()
    const promoted = all.map((one) => one.steer('promote'))
    await clocks.pass(3000)
    const ends = await Promise.all(promoted)
    expect(ends.filter((end) => end === undefined).length).toBe(1)
    expect(ends.filter((end) => end?.kind === 'moved').length).toBe(2)
    expect(places(all)).toEqual(['running 2 50', 'running 2 50', 'running 2 50'])
  })

  it('refuses a command while the store is away, but aborts here, and elsewhere when it is back', async () => {
    const { all, b, clocks } = await three()
    b.cut.cut = 'requests'
    expect(await b.steer('pause')).toMatchObject({ kind: 'down' })
    expect(await b.steer('promote')).toMatchObject({ kind: 'down' })
    expect(b.place()).toBe('running 1 1')
    expect(await b.steer('abort')).toBeUndefined()
    expect(places(all)).toEqual(['running 1 1', 'aborted 1 0', 'running 1 1'])
    await clocks.pass(20_000)
    b.cut.cut = 'no'
    await clocks.pass(3000)
    expect(places(all)).toEqual(['aborted 1 0', 'aborted 1 0', 'aborted 1 0'])
    expect(b.moves()).toEqual(['aborted at step 1 of 2 (0 %)'])
  })

  it('goes on within five seconds of the death of the replica that decides', async () => {
    const { clocks, b, c, a } = await three()
    a.kill()
    await clocks.pass(5000)
    for (let nth = 0; nth < 12; nth += 1) c.ask(5, { isWrong: true })
    await clocks.pass(6000)
    expect(places([b, c])).toEqual(['turned-back 1 0', 'turned-back 1 0'])
    expect(b.moves().at(-1)).toBe('turned-back at step 1 of 2 (0 %)')
  })

  it('lets a replica that decided follow when it comes back', async () => {
    const { clocks, all, a, b } = await three()
    a.cut.cut = 'answers'
    await clocks.pass(5000)
    const paused = b.steer('pause')
    await clocks.pass(1500)
    expect(await paused).toBeUndefined()
    expect(a.place()).toBe('running 1 1')
    a.cut.cut = 'no'
    await clocks.pass(1000)
    expect(places(all)).toEqual(['paused 1 1', 'paused 1 1', 'paused 1 1'])
  })

  it('goes on where the document ends after all replicas have started again', async () => {
    const { clocks, all, start } = await three({ steps: STEPS, watch: '1h' })
    for (let nth = 0; nth < 60; nth += 1) for (const one of all) one.ask(5)
    await clocks.pass(3000)
    for (let second = 0; second < 60; second += 1) {
      for (const one of all) one.ask(5)
      await clocks.pass(1000)
    }
    for (const one of all) one.kill()
    const [{ heldMs = 0, observed = 0 } = {}] = all[0]?.rollouts.all() ?? []
    expect(heldMs).toBeGreaterThan(50_000)
    await clocks.pass(60_000)
    const again = [await start('d'), await start('e')]
    expect(again.map((one) => one.share())).toEqual([50, 50])
    await clocks.pass(3000)
    expect(places(again)).toEqual(['running 2 50', 'running 2 50'])
    const [{ heldMs: after = 0, observed: seen = 0 } = {}] = again[0]?.rollouts.all() ?? []
    expect(after).toBeGreaterThan(heldMs - 11_000)
    expect(seen).toBeGreaterThanOrEqual(observed)
    expect(moves(again)).toEqual([[], []])
  })

  it('goes on where the file ends after its only process has started again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-rollouts-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const url = `file:${join(folder, 'store.json')}`
    const clocks = manualClocks()
    const given = iamRules({ steps: STEPS })
    const first = await simulateReplica('a', await openStore(url, 'crosswalk'), clocks, given)
    await settle(clocks, () => first.place() === 'running 1 1')
    const promoted = first.steer('promote')
    await settle(clocks, () => first.place() === 'running 2 50')
    await promoted
    await first.fleet.close()
    first.kill()
    const again = await simulateReplica('b', await openStore(url, 'crosswalk'), clocks, given)
    await settle(clocks, () => again.place() === 'running 2 50')
    expect(again.moves()).toEqual([])
    await again.fleet.close()
    again.kill()
  })

  /** Lets time pass until something is so. A file takes real time. */
  async function settle(clocks: ManualClocks, isSo: () => boolean): Promise<void> {
    for (let nth = 0; nth < 2000 && !isSo(); nth += 1) await clocks.pass(20)
    expect(isSo()).toBe(true)
  }
})

describe('steer servers', () => {
  async function replica(memory: ReturnType<typeof createMemory>) {
    const cut = cuttable(memory.open())
    const proxy = await startStage({ v1: NOWHERE, v2: NOWHERE, proxy: { modes: iamRules() }, stores: [cut.store] })
    const get = async () => {
      const answer = await fetch(`${proxy.adminUrl}/rollouts`)
      return { etag: answer.headers.get('etag') ?? '', rollout: ((await answer.json()) as readonly RolloutStatus[])[0] }
    }
    const steer = async (command: string, etag = '*') => {
      const answer = await fetch(`${proxy.adminUrl}/rollouts/iam/${command}`, { method: 'POST', headers: { 'if-match': etag } })
      return { status: answer.status, body: (await answer.json()) as Partial<RolloutStatus> & { readonly message?: string } }
    }
    return { cut, get, steer }
  }

  it('steers a rollout of two servers through either of them, by one entity tag', async () => {
    const memory = createMemory(Date.now)
    const [a, b] = [await replica(memory), await replica(memory)]
    await until(async () => (await b.get()).rollout?.percent === 1)
    const { etag } = await a.get()
    expect((await b.get()).etag).toBe(etag)
    expect(await b.steer('pause', etag)).toMatchObject({ status: 200, body: { phase: 'paused', percent: 1 } })
    expect((await a.get()).rollout).toMatchObject({ phase: 'paused', reason: expect.stringMatching(/^Paused by admin port/) })
    expect(await a.steer('resume', etag)).toMatchObject({ status: 412 })
    b.cut.cut = 'requests'
    expect(await b.steer('resume')).toMatchObject({ status: 503, body: { message: expect.stringMatching(/^The store does not answer/) } })
    expect(await b.steer('abort')).toMatchObject({ status: 200, body: { phase: 'aborted', percent: 0 } })
    expect((await a.get()).rollout?.phase).toBe('paused')
    b.cut.cut = 'no'
    await until(async () => (await a.get()).rollout?.phase === 'aborted')
  })
})
