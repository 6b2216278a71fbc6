import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../../../errors.ts'
import type { Obedience, PutEnd, PutModes } from '../../../fleet/modes.ts'
import type { ModeRules } from '../../../migrate/modes/rules.ts'
import { sendError } from '../../../serve/http/v1-surface.ts'
import type { ActorOf } from '../actor-of.ts'
import { ifMatch } from '../if-match.ts'

interface PutShared {
  readonly modes: PutModes
  readonly needsMatch: boolean
  readonly rules: ModeRules
  readonly actorOf: ActorOf
  /** What is answered with 412. */
  readonly overtaken: () => ApiError
}

/**
 * Puts rules in force on all replicas, or with `?scope=replica` on this one alone while the store does not answer. Returns the
 * replicas that have them; undefined if an error was sent.
 */
export async function putShared(request: FastifyRequest, reply: FastifyReply, parts: PutShared): Promise<Obedience | undefined> {
  const { modes, needsMatch, rules, actorOf, overtaken } = parts
  const header = request.headers['if-match']
  const { scope } = request.query as { readonly scope?: unknown }
  if (scope !== undefined && scope !== 'replica') throw new ApiError('INVALID_ARGUMENT', 'scope must be replica, or be left out')
  const isHere = scope === 'replica'
  const refuse = (error: ApiError, status: number) => {
    sendError(reply, error, status)
    return undefined
  }
  if (header === undefined && needsMatch && !isHere) return refuse(UNCONDITIONAL, 428)
  const by = actorOf(request)
  const end: PutEnd = await (isHere ? modes.putHere(rules, by) : modes.put(rules, by, (tag) => ifMatch(header, `"${tag}"`) === 'met'))
  if (end.end === 'put') return { obeyed: end.obeyed, missing: end.missing }
  if (end.end === 'overtaken') return refuse(overtaken(), 412)
  throw end.end === 'up' ? STORE_ANSWERS : NO_STORE
}

/** google.rpc has no code for 428; the status says it. */
const UNCONDITIONAL = new ApiError(
  'FAILED_PRECONDITION',
  'all replicas share the modes: send the etag of GET /modes as If-Match, or If-Match: * to replace whatever is in force',
)

const NO_STORE = new ApiError(
  'UNAVAILABLE',
  'the store does not answer, so the modes of all replicas cannot be changed now; read GET /modes before you try again. ' +
    'PUT /modes?scope=replica changes this replica alone, and proposes its modes to all once the store answers',
)

const STORE_ANSWERS = new ApiError('FAILED_PRECONDITION', 'the store answers: PUT /modes without scope changes all replicas')
