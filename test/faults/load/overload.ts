import type { ServerResponse } from 'node:http'
import { startUpstream } from '../../stage/upstream.ts'
import type { Fault } from '../fault.ts'
import { serve } from '../process/child.ts'
import { listOf } from '../world.ts'
import { createCallers } from './callers.ts'
import { crowd, SERVED } from './crowd.ts'
import { closedLoop, openLoop, type Pressure, quantile } from './pressure.ts'

const PATH = '/iam/v1/groups'
const BODY = Buffer.from(listOf(20))
const MEASURED = 4000

/** The service behind the proxy: the duration of a call, and the number of parallel calls. */
interface Bottleneck {
  readonly upstreamMs: number
  readonly connections: number
  readonly requestsInFlight: number
}

/** Other work on the machine can spoil one measurement. A service that cannot bear the load spoils all of them. */
const ATTEMPTS = 3

/** Milliseconds that all attempts may take. */
export const ATTEMPTS_MS = 240_000

export async function attempt(expected: string, measure: () => Promise<string>): Promise<string> {
  let seen = ''
  for (let attempts = 0; attempts < ATTEMPTS && seen !== expected; attempts++) seen = await measure()
  return seen
}

/** Measures the capacity with as many clients as are admitted, then with twice as many requests a second. */
async function measure({ upstreamMs, connections, requestsInFlight }: Bottleneck): Promise<string> {
  const answer = (response: ServerResponse) => void response.end(BODY)
  const upstream = await startUpstream((_, response) => (upstreamMs > 0 ? void setTimeout(answer, upstreamMs, response) : answer(response)))
  const child = await serve({ 'upstream-v2': upstream.url, connections, 'requests-in-flight': requestsInFlight })
  const callers = createCallers(child.url, PATH)
  try {
    await closedLoop(callers, requestsInFlight, 1000)
    const peak = await closedLoop(callers, Math.min(requestsInFlight, 2 * connections), MEASURED)
    const health = watchHealth(child.adminUrl)
    const crowd = await openLoop(callers, 2 * peak.goodput, MEASURED)
    return verdict(peak, crowd, await health())
  } finally {
    callers.close()
    await child.stop('SIGTERM')
    await upstream.close()
  }
}

/** Polls the health of the process; returns the slowest answer in milliseconds. */
function watchHealth(adminUrl: string): () => Promise<number> {
  let over = false
  const slowest = (async () => {
    let most = 0
    while (!over) {
      const begun = performance.now()
      const { ok } = await fetch(`${adminUrl}/healthz`)
      most = Math.max(most, ok ? performance.now() - begun : Number.POSITIVE_INFINITY)
    }
    return most
  })()
  return () => {
    over = true
    return slowest
  }
}

/** Reports the figures where the sentence is false; they are printed beside it in any case. */
function verdict(peak: Pressure, crowd: Pressure, slowestHealth: number): string {
  const refused = crowd.outcomes.filter(({ status }) => status === 503)
  const others = crowd.outcomes.filter(({ status }) => status !== 503 && status !== 200)
  const share = crowd.goodput / peak.goodput
  const late = quantile(
    refused.map(({ ms }) => ms),
    0.99,
  )
  const figures = `peak ${peak.goodput.toFixed(0)}/s, asked ${(crowd.asked / (MEASURED / 1000)).toFixed(0)}/s, useful ${crowd.goodput.toFixed(0)}/s (${(
    100 * share
  ).toFixed(0)} %), refused within ${late.toFixed(0)} ms (p99), health within ${slowestHealth.toFixed(0)} ms`
  process.stderr.write(`      ${figures}\n`)
  const holds = [
    share >= 0.8,
    refused.length > 0 && refused.every(({ retryAfter }) => retryAfter),
    late < 250,
    others.length === 0,
    slowestHealth < 1000,
  ]
  return holds.every(Boolean) ? EXPECTED : `${figures}; ${others.length} other answers`
}

const EXPECTED = 'goodput ≥ 80 % of the peak; the excess 503 with Retry-After within 250 ms; health within 1 s'

export const overloadFaults: readonly Fault[] = [
  {
    name: 'twice the capacity of v2 (16 connections, 50 ms a call)',
    expected: EXPECTED,
    full: true,
    patienceMs: ATTEMPTS_MS,
    see: () => attempt(EXPECTED, () => measure({ upstreamMs: 50, connections: 16, requestsInFlight: 64 })),
  },
  { name: 'twice the capacity of the process', expected: SERVED, full: true, patienceMs: ATTEMPTS_MS, see: () => attempt(SERVED, crowd) },
]
