import { expect, it } from 'vitest'
import { readRollout } from '../../../src/fleet/rollouts/documents.ts'
import { createMemory, type Memory } from '../../../src/fleet/store/memory.ts'
import { planOf, shareOf } from '../../../src/migrate/rollout/plan.ts'
import { iamRules } from '../../modes/rollout/simulated.ts'
import { type ManualClocks, manualClocks } from '../../stage/manual-clocks.ts'
import { seeded } from '../../stage/seeded.ts'
import { type SimulatedReplica, simulateReplica } from './simulated-replica.ts'

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
    replicas[at] = await simulateReplica(`${one.id}${nth}`, memory.open(), clocks, { rules: RULES, version: 1 })
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
  for (const id of ['a', 'b', 'c']) world.replicas.push(await simulateReplica(id, memory.open(), clocks, { rules: RULES, version: 1 }))
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
    expect({ wrong, failures, twice: begun > 1 }, `CROSSWALK_SEED=${seed}, life ${life}`).toEqual({ wrong: [], failures: [], twice: false })
  }
})
