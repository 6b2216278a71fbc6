import { setTimeout as delay } from 'node:timers/promises'
import { type Child, cpuMs } from '../child.ts'
import { startCrosswalk } from '../proxies.ts'
import { type BenchRedis, startRedis } from './bench-redis.ts'

/** What some replicas cost their store. */
export interface StoreCost {
  readonly replicas: number
  /** Comparisons of new pairs that each replica makes in a second. */
  readonly observations: number
  /** Share of one core that the store and each replica used, 0–1. */
  readonly store: number
  readonly replica: number
}

const SECONDS = 10

/** Measures replicas that serve nobody, and replicas that compare so many requests a second, each of a caller of its own. */
export async function measureStore(upstream: string, replicas: number, observations: number): Promise<StoreCost> {
  const redis = await startRedis()
  const cost = await measured(upstream, { replicas, observations, redis })
  await redis.stop()
  return cost
}

/** Returns the share of a core that a process without a store uses while it serves nobody. */
export async function measureAlone(upstream: string): Promise<number> {
  return (await measured(upstream, { replicas: 1, observations: 0 })).replica
}

interface Asked {
  readonly replicas: number
  readonly observations: number
  readonly redis?: BenchRedis
}

async function measured(upstream: string, { replicas, observations, redis }: Asked): Promise<StoreCost> {
  const env = {
    ...(redis && { CROSSWALK_STORE_URL: redis.store }),
    CROSSWALK_UPSTREAM_V1: upstream,
    CROSSWALK_MODE: 'diff-v1',
    CROSSWALK_DIFF_PER_SECOND: '0',
  }
  const children: Child[] = []
  for (let at = 0; at < replicas; at += 1) children.push(await startCrosswalk(upstream, { env }))
  await drip(children, observations, 2)
  const used = () => [redis ? cpuMs(redis.pid) : 0, children.reduce((sum, { pid }) => sum + cpuMs(pid), 0)] as const
  const [store, own] = used()
  const begun = performance.now()
  await drip(children, observations, SECONDS)
  const ms = performance.now() - begun
  const [storeThen, ownThen] = used()
  for (const child of children) await child.stop()
  return { replicas, observations, store: (storeThen - store) / ms, replica: (ownThen - own) / ms / replicas }
}

let callers = 0

/** Sends each replica so many requests a second. */
async function drip(replicas: readonly Child[], perSecond: number, seconds: number): Promise<void> {
  const begun = performance.now()
  for (let tenth = 1; tenth <= seconds * 10; tenth += 1) {
    const asked = replicas.flatMap(({ url }) => Array.from({ length: perSecond / 10 }, () => ask(url)))
    await Promise.all(asked)
    await delay(Math.max(0, begun + tenth * 100 - performance.now()))
  }
}

async function ask(url: string): Promise<void> {
  callers += 1
  const answer = await fetch(`${url}/registry/v1/tags?id=1`, { headers: { authorization: `Bearer caller-${callers}` } })
  await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
}

export function storeTable(costs: readonly StoreCost[]): string {
  const percent = (share: number) => `${(share * 100).toFixed(2)} %`
  const lines = costs.map(({ replicas, observations, store, replica }) => {
    return `| ${replicas} | ${observations} | ${percent(store)} | ${percent(store / replicas)} | ${percent(replica)} |`
  })
  const head =
    '| replicas | new observations/s of each | core of the store | of it, for each replica | core of a replica, with its requests |'
  return [head, '|---|---|---|---|---|', ...lines, ''].join('\n')
}
