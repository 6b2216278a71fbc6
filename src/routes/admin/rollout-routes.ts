import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { RolloutsPart } from '../../fleet/rollouts/rollouts.ts'
import type { Modes } from '../../migrate/modes/modes.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { ROLLOUT_COMMANDS } from '../../migrate/rollout/run.ts'
import { sendError } from '../../serve/http/v1-surface.ts'
import { suggestion } from '../../tables/check.ts'
import type { ActorOf } from './actor-of.ts'
import { ifMatch, MALFORMED } from './if-match.ts'

export interface RolloutSources {
  readonly modes: Pick<Modes, 'rollouts' | 'steer' | 'state'>
  readonly actorOf: ActorOf
  /** Gives a command that holds for all replicas of a fleet; undefined without a store. */
  readonly steer?: RolloutsPart['steer'] | undefined
}

/**
 * Adds `GET /rollouts` and `POST /rollouts/NAME/COMMAND`, which needs no body and answers with the new status. The entity tag of an answer
 * changes with the rules and whenever a rollout moves, so that a POST with `If-Match` does not promote what has moved on meanwhile.
 */
export function addRollouts(app: FastifyInstance, { modes, actorOf, steer = alone(modes) }: RolloutSources): void {
  const tagNow = () => {
    const moves = modes.rollouts().map(({ name, phase, step, since }) => [name, phase, step, since])
    const hash = createHash('sha256').update(JSON.stringify([modes.state().tag, moves]))
    return `"${hash.digest('hex').slice(0, 16)}"`
  }
  app.get('/rollouts', async (_, reply) => {
    reply.header('etag', tagNow())
    return modes.rollouts()
  })
  for (const command of ROLLOUT_COMMANDS) {
    app.post<{ readonly Params: { readonly name: string } }>(`/rollouts/:name/${command}`, async (request, reply) => {
      const { name } = request.params
      findRollout(modes.rollouts(), name)
      const condition = ifMatch(request.headers['if-match'], tagNow())
      if (condition === 'malformed') throw MALFORMED
      if (condition === 'failed') return sendError(reply.header('etag', tagNow()), MOVED_ON, 412)
      const problem = await steer(name, command, actorOf(request))
      if (problem?.kind === 'moved')
        return sendError(reply.header('etag', tagNow()), new ApiError('FAILED_PRECONDITION', problem.text), 412)
      if (problem) throw new ApiError(problem.kind === 'down' ? 'UNAVAILABLE' : 'FAILED_PRECONDITION', problem.text)
      reply.header('etag', tagNow())
      return findRollout(modes.rollouts(), name)
    })
  }
  app.all<{ readonly Params: { readonly command: string } }>('/rollouts/:name/:command', async (request, reply) => {
    const { command } = request.params
    if (ROLLOUT_COMMANDS.some((one) => one === command)) return sendError(reply, NOT_POSTED, 405)
    const hint = suggestion(command, ROLLOUT_COMMANDS, `use ${ROLLOUT_COMMANDS.join(', ')}`)
    throw new ApiError('NOT_FOUND', `a rollout knows no command ${JSON.stringify(command)}; ${hint}`)
  })
}

function alone(modes: Pick<Modes, 'steer'>): RolloutsPart['steer'] {
  return async (name, command, by) => {
    const text = modes.steer(name, command, by)
    return text === undefined ? undefined : { kind: 'senseless', text }
  }
}

/** google.rpc has no code for 412; the status says it. */
const MOVED_ON = new ApiError('FAILED_PRECONDITION', 'a rollout or the modes have moved on meanwhile; read GET /rollouts again')

/** Nor has it one for 405. v1's gateway answers with this code. */
const NOT_POSTED = new ApiError('UNIMPLEMENTED', 'a command is sent with POST', { headers: { allow: 'POST' } })

function findRollout(rollouts: readonly RolloutStatus[], name: string): RolloutStatus {
  const found = rollouts.find((one) => one.name === name)
  if (found) return found
  throw new ApiError('NOT_FOUND', `there is no rollout ${JSON.stringify(name)}; ${hintOf(name, rollouts)}`)
}

function hintOf(name: string, rollouts: readonly RolloutStatus[]): string {
  if (rollouts.length === 0) return 'no rule has one'
  const names = rollouts.map((one) => one.name)
  return suggestion(name, names, 'GET /rollouts lists them')
}
