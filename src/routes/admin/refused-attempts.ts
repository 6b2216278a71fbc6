import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Logger } from 'pino'
import { createBucket } from '../../serve/bounds.ts'
import { isObject } from '../../tables/json.ts'
import type { ActorOf } from './actor-of.ts'

/** Lines at once, and in each minute from then on. Callers with a token have lines of their own, so that a flood of others hides none. */
const LINES = { most: 20, fillMs: 60_000 }

const LONGEST_REASON = 300

/** Logs what the admin port refused: attempts to change something, and tokens that it does not know. */
export type RefusedAttempts = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => void

/** `now` is a monotonic clock in milliseconds. */
export function createRefusedAttempts(log: Pick<Logger, 'warn'>, actorOf: ActorOf, now: () => number): RefusedAttempts {
  const newLines = () => ({ bucket: createBucket(LINES, now), suppressed: 0 })
  const lines = { known: newLines(), unknown: newLines() }
  return (request, { statusCode: status }, payload) => {
    if (status < 400 || !isTold(request, status)) return
    const by = actorOf(request)
    const line = by.token === undefined ? lines.unknown : lines.known
    if (!line.bucket.take()) {
      line.suppressed += 1
      return
    }
    const { method, routeOptions } = request
    const before = line.suppressed > 0 && { suppressed: line.suppressed }
    line.suppressed = 0
    // The path may be anything, and a token in the wrong place too: only routes are told.
    const members = { what: 'refused', method, route: routeOptions.url ?? 'none', status, by, ...before }
    log.warn(members, `the admin port refused a request: ${reasonIn(payload).slice(0, LONGEST_REASON)}`)
  }
}

function isTold({ method, headers }: FastifyRequest, status: number): boolean {
  return (method !== 'GET' && method !== 'HEAD') || (status === 401 && headers.authorization !== undefined)
}

/** Returns the message of an error's body. */
function reasonIn(payload: unknown): string {
  try {
    const body: unknown = JSON.parse(String(payload))
    return isObject(body) ? String(body.message) : ''
  } catch {
    return ''
  }
}
