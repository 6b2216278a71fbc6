import type { FastifyInstance, FastifyReply } from 'fastify'
import { ApiError } from '../../errors.ts'
import type { PutModes } from '../../fleet/modes.ts'
import type { MigrationReport } from '../../migrate/migration.ts'
import type { Modes, ModesState } from '../../migrate/modes/modes.ts'
import { describeActor } from '../../migrate/records/record.ts'
import { sendError } from '../../serve/http/v1-surface.ts'
import { isObject } from '../../tables/json.ts'
import type { ActorOf } from './actor-of.ts'
import { putShared } from './fleet/put-shared-modes.ts'
import { ifMatch, MALFORMED } from './if-match.ts'

export interface ModesSources {
  readonly modes: Pick<Modes, 'state' | 'change' | 'check' | 'rollouts'>
  readonly report: Pick<MigrationReport, 'openCircuits'>
  /** What is wrong with the rules in force, in sentences. */
  readonly warnings: () => readonly string[]
  readonly actorOf: ActorOf
  /** The fleet, if replicas share the modes. */
  readonly joined?: { readonly modes: PutModes; readonly needsMatch: boolean } | undefined
}

/**
 * Adds `GET` and `PUT /modes`. The entity tag of an answer names the version of the rules in it. A PUT with `If-Match` changes nothing if
 * somebody else changed the rules meanwhile. Replicas that share the modes ask for it, and the answer names those that have the new ones.
 */
export function addModes(app: FastifyInstance, { modes, report, warnings, actorOf, joined }: ModesSources): void {
  const tagNow = () => `"${modes.state().tag}"`
  const answer = (reply: FastifyReply) => {
    const { rules, version, by, at, drift } = modes.state()
    reply.header('etag', tagNow())
    const rollouts = some('rollouts', modes.rollouts())
    const circuits = some('circuits', report.openCircuits())
    const changed = { at: new Date(at).toISOString(), by }
    return { ...rules, ...rollouts, ...circuits, ...some('warnings', warnings()), ...(drift !== undefined && { drift }), version, changed }
  }
  app.get('/modes', async (_, reply) => answer(reply))
  app.put('/modes', async (request, reply) => {
    const condition = ifMatch(request.headers['if-match'], tagNow())
    if (condition === 'malformed') throw MALFORMED
    if (joined) {
      const rules = modes.check(rulesIn(request.body))
      if ('problem' in rules) throw new ApiError('INVALID_ARGUMENT', rules.problem)
      const overtaken = () => {
        reply.header('etag', tagNow())
        return changedBefore(modes.state())
      }
      const obedience = await putShared(request, reply, { ...joined, rules, actorOf, overtaken })
      return obedience ? { ...answer(reply), ...obedience } : reply
    }
    if (condition === 'failed') return sendError(reply.header('etag', tagNow()), changedBefore(modes.state()), 412)
    const problem = modes.change(rulesIn(request.body), actorOf(request))
    if (problem !== undefined) throw new ApiError('INVALID_ARGUMENT', problem)
    return answer(reply)
  })
}

/** google.rpc has no code for 412; the status says it. */
function changedBefore({ version, by, at }: ModesState): ApiError {
  const when = new Date(at).toISOString()
  return new ApiError('FAILED_PRECONDITION', `the modes are at version ${version} since ${when} (${describeActor(by)}); read them again`)
}

/** What answers add to the rules, and a PUT ignores, so that an answer can be changed and sent back. */
const ADDED: ReadonlySet<string> = new Set(['circuits', 'rollouts', 'warnings', 'drift', 'version', 'changed', 'obeyed', 'missing'])

function rulesIn(body: unknown): unknown {
  return isObject(body) ? Object.fromEntries(Object.entries(body).filter(([member]) => !ADDED.has(member))) : body
}

/** Returns the member only if it holds something. */
function some(name: string, value: object): object {
  return Object.keys(value).length > 0 ? { [name]: value } : {}
}
