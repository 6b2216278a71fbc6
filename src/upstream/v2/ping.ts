import type { Agent } from 'undici'
import { systemReason } from '../../errors.ts'
import type { Probe } from '../../tables/tables.ts'
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

/**
 * Pings the service: returns undefined, or the reason why it is not there. Only a 2xx in the probe's own form counts as the service.
 * Without a probe, every answer below 500 does.
 */
export async function ping(pool: Agent, version: Service, base: string, probe?: Probe): Promise<string | undefined> {
  const { origin, pathname } = new URL(base)
  const path = `${pathname.replace(/\/$/, '')}${probe?.path ?? '/'}`
  const request: Exchange = { origin, path, method: 'GET', headers: HEADERS, answerBytes: ANSWER_BYTES }
  try {
    const answer = await waitFor<RawAnswer>(AbortSignal.timeout(PATIENCE), (landing) => exchange(pool, request, landing))
    return complaint(version, answer, probe)
  } catch (error) {
    return `the ${version} service does not answer its ping: ${reasonOf(error as Error)}`
  }
}

/** A load balancer's page and another service's 200 are no answer. */
function complaint(version: Service, { status, pieces }: RawAnswer, probe: Probe | undefined): string | undefined {
  if (probe ? status < 200 || status > 299 : status >= 500) return `the ${version} service answers its ping with HTTP ${status}`
  if (!probe || probe.isAnswer(textOf(pieces))) return undefined
  return `what answers the ping of the ${version} service with HTTP ${status} is not that service: ${probe.expected} is expected`
}

/** Returns the connection's error. */
function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  return cause.name === 'TimeoutError' ? `nothing came within ${PATIENCE} ms` : systemReason(cause)
}
