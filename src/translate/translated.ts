import { type ApiError, invalidArgument, MOST_VIOLATIONS } from '../errors/api-error.ts'
import { asApiError, toV1 } from '../errors/to-v1.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Env, Operation, V1Request } from '../tables/language/operation.ts'
import { spellings } from '../tables/language/query.ts'
import type { Call, OneCall, Outcome } from '../tables/plan/plan.ts'
import type { Send } from './calls.ts'
import { type Answer, answerOf, execute, type PlanLimits } from './execute.ts'

export interface TranslateSettings extends Env {
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

/** A request that is one read, as most are, or begins as one. The same request makes the same, whoever asks. */
export interface OneRead {
  readonly request: V1Request
  readonly one: OneCall
}

/** Undefined for other requests, and for what the tables refuse: running its plan tells why. */
export function oneReadOf(operation: Operation, request: V1Request, settings: TranslateSettings): OneRead | undefined {
  if (!operation.oneCall || operation.method !== 'GET' || settings.limits.callsPerRequest < 1) return undefined
  if (settings.unknownParameters === 'refuse' && unknownParameters(operation, request).length > 0) return undefined
  try {
    const one = operation.oneCall(request, settings)
    return one?.call.method === 'GET' ? { request, one } : undefined
  } catch {
    return undefined
  }
}

/** The same as `translate`, without a plan that runs or a promise. `done` is told the answer, perhaps at once. */
export function translateRead(
  operation: Operation,
  { request, one }: OneRead,
  { readTo, send }: Reading,
  settings: TranslateSettings,
  onError: OnError,
  done: (answer: Answer) => void,
): void {
  const answer = (outcome: Outcome) => {
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
  readTo(one.call, {
    landed: (body) => answer({ ok: true, body }),
    failed: (error) => answer({ ok: false, error: asApiError(error) }),
  })
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
  const names = unknownParameters(operation, request).slice(0, MOST_VIOLATIONS)
  if (names.length > 0) throw invalidArgument(...names.map((field) => ({ field, description: 'is not a parameter of this operation' })))
}
