import type { Agent } from 'undici'
import { systemReason } from '../../errors/system-reason.ts'
import type { Service } from '../health.ts'
import { textOf } from '../utf8.ts'
import { type Exchange, exchange, type RawAnswer } from './exchange.ts'
import { waitFor } from './flights/passenger.ts'

/** Milliseconds after which a ping counts as unanswered. Probes usually wait for one second. */
const PATIENCE = 800

/** The maximum size of the answer in bytes. */
const ANSWER_BYTES = 4096

/** These headers show in v2's log where the pings come from. */
const HEADERS = ['accept', 'application/json', 'user-agent', 'crosswalk']

/** Pings the service: returns undefined, or the reason why it is not there. Only a 2xx in the ping's own form counts as the service. */
export async function ping(pool: Agent, version: Service, base: string): Promise<string | undefined> {
  const { origin, pathname } = new URL(base)
  const path = `${pathname.replace(/\/$/, '')}/ping/${version}/ping`
  const request: Exchange = { origin, path, method: 'GET', headers: HEADERS, answerBytes: ANSWER_BYTES }
  try {
    const answer = await waitFor<RawAnswer>(AbortSignal.timeout(PATIENCE), (landing) => exchange(pool, request, landing))
    return complaint(version, answer)
  } catch (error) {
    return `the ${version} service does not answer its ping: ${reasonOf(error as Error)}`
  }
}

/** A load balancer's page and another service's 200 are no answer. */
function complaint(version: Service, { status, pieces }: RawAnswer): string | undefined {
  if (status < 200 || status > 299) return `the ${version} service answers its ping with HTTP ${status}`
  if (isPong(textOf(pieces))) return undefined
  return `what answers the ping of the ${version} service with HTTP ${status} is not that service: {"response": …} in JSON is expected`
}

/** True for `{response: string}` (facts §9). */
function isPong(text: string): boolean {
  try {
    return typeof (JSON.parse(text) as { response?: unknown } | null)?.response === 'string'
  } catch {
    return false
  }
}

/** Returns the connection's error. */
function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  return cause.name === 'TimeoutError' ? `nothing came within ${PATIENCE} ms` : systemReason(cause)
}
