import { type ApiError, asApiError, type ErrorForm, invalidArgument, MOST_VIOLATIONS, toV1 } from '../errors.ts'
import type { Env, Operation, V1Request } from '../tables/operation.ts'
import { spellings } from '../tables/query.ts'
import type { Turn } from '../tables/turn.ts'
import { type Answer, type AnswerLimits, answer } from './answer.ts'
import { createCalls } from './calls.ts'
import type { Send } from './send-call.ts'

export interface TranslateSettings extends Env {
  readonly unknownParameters: 'drop' | 'refuse'
  readonly limits: AnswerLimits
  /** How the API writes errors; as a gRPC gateway unless it is given. */
  readonly errors?: ErrorForm | undefined
}

/** Returns the first turn of a request. Throws the ApiError with which the tables refuse it. */
export function begin(operation: Operation, request: V1Request, settings: TranslateSettings): Turn {
  if (!operation.begin) throw new Error(`operation ${operation.id} has no plan`)
  if (settings.unknownParameters === 'refuse') refuseUnknown(operation, request)
  return operation.begin(request, settings)
}

/** Answers one v1 request from v2: runs its operation, and turns every error into v1's form. Never rejects. */
export function translated(operation: Operation, request: V1Request, send: Send, settings: TranslateSettings): Promise<Answer> {
  const first = () => begin(operation, request, settings)
  return new Promise((done) => {
    const failed = (thrown: unknown) => done(refusal(operation, settings, asApiError(thrown)))
    answer(first, createCalls(send, settings.limits), settings.limits, { done, failed })
  })
}

/** The answer to a request that ends with an error, in v1's form. */
export function refusal(
  { missing, empty, fieldName }: Operation,
  { dialect, notFound, errors }: TranslateSettings,
  error: ApiError,
): Answer {
  return toV1(error, { missing, empty: empty(dialect), fieldName }, notFound, errors)
}

const NONE: readonly string[] = []

const known = new WeakMap<Operation, ReadonlySet<string>>()

/** Returns the query parameters that the operation does not know. v1 ignored them, so Crosswalk drops them (design §3). */
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
