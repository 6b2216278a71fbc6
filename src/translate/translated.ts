import { type ApiError, invalidArgument } from '../errors/api-error.ts'
import { asApiError, toV1 } from '../errors/to-v1.ts'
import type { JsonObject } from '../mapping/json.ts'
import type { Env, Operation, V1Request } from '../mapping/operation.ts'
import type { Call, OneCall, Outcome } from '../mapping/plan.ts'
import { spellings } from '../mapping/query.ts'
import type { Send } from './calls.ts'
import { type Answer, answerOf, execute, type PlanLimits } from './execute.ts'

export interface TranslateSettings extends Env {
  readonly notFound: 'empty' | 'error'
  readonly unknownParameters: 'drop' | 'refuse'
  readonly limits: PlanLimits
}

/** What the log and the metrics want to know of an error; never sent. */
export type OnError = (error: ApiError) => void

/** Answers one v1 request from v2: runs the operation's plan and puts every error into v1's manners. Never throws. */
export function translate(
  operation: Operation,
  request: V1Request,
  send: Send,
  settings: TranslateSettings,
  onError: OnError,
): Promise<Answer> {
  const refuse = (thrown: unknown) => refusal(operation, settings, onError, thrown)
  try {
    if (!operation.plan) throw new Error(`operation ${operation.id} has no plan`)
    if (settings.unknownParameters === 'refuse') refuseUnknown(operation, request)
    return execute(operation.plan(request, settings), send, settings.limits).catch(refuse)
  } catch (thrown) {
    return Promise.resolve(refuse(thrown))
  }
}

/** Two ways to make calls. */
export interface Reading {
  readonly readTo: ReadTo
  /** For a request that turns out to be more than one. */
  readonly send: () => Send
}

/** Makes a read; tells one of the two what came of it. */
export type ReadTo = (call: Call, landing: { landed(body: JsonObject): void; failed(error: Error): void }) => void

/**
 * The same for a request that is one read, as most are, without a plan that runs or a promise. False: it is not, and nothing was done.
 * `done` is told the answer, perhaps at once.
 */
export function translateRead(
  operation: Operation,
  request: V1Request,
  { readTo, send }: Reading,
  settings: TranslateSettings,
  onError: OnError,
  done: (answer: Answer) => void,
): boolean {
  if (!operation.oneCall || operation.method !== 'GET' || settings.limits.callsPerRequest < 1) return false
  const answer = (one: OneCall, outcome: Outcome) => {
    let given: Answer
    try {
      const reply = one.reply(outcome)
      if (!reply) return void translate(operation, request, beginning(outcome, send()), settings, onError).then(done)
      given = answerOf(reply, settings.limits)
    } catch (thrown) {
      given = refusal(operation, settings, onError, thrown)
    }
    done(given)
  }
  try {
    if (settings.unknownParameters === 'refuse') refuseUnknown(operation, request)
    const one = operation.oneCall(request, settings)
    if (one?.call.method !== 'GET') return false
    readTo(one.call, {
      landed: (body) => answer(one, { ok: true, body }),
      failed: (error) => answer(one, { ok: false, error: asApiError(error) }),
    })
  } catch (thrown) {
    done(refusal(operation, settings, onError, thrown))
  }
  return true
}

/** Calls of a plan whose first one has been made. */
function beginning(first: Outcome, send: Send): Send {
  let made = false
  return (call) => {
    if (made) return send(call)
    made = true
    return first.ok ? Promise.resolve(first.body) : Promise.reject(first.error)
  }
}

function refusal(operation: Operation, settings: TranslateSettings, onError: OnError, thrown: unknown): Answer {
  const error = asApiError(thrown)
  onError(error)
  const { missing, empty, fieldName } = operation
  return toV1(error, { missing, empty: empty(settings.dialect), fieldName }, settings.notFound)
}

const NONE: readonly string[] = []

const known = new WeakMap<Operation, ReadonlySet<string>>()

/** The query parameters of a request that its operation does not know: v1 ignored them, and so they are dropped (design §3). */
export function unknownParameters(operation: Operation, { query }: Pick<V1Request, 'query'>): readonly string[] {
  let names = known.get(operation)
  if (!names) {
    names = new Set([...Object.keys(operation.params), ...operation.ownParams].flatMap(spellings))
    known.set(operation, names)
  }
  if (query.size === 0) return NONE
  return [...query.keys()].filter((name) => !names.has(name))
}

function refuseUnknown(operation: Operation, request: V1Request): void {
  const names = unknownParameters(operation, request)
  if (names.length > 0) throw invalidArgument(...names.map((field) => ({ field, description: 'is not a parameter of this operation' })))
}
