import { isSaid } from '../../errors/api-error.ts'
import { isIdentified } from '../compile/is-answer.ts'
import type { JsonObject } from '../json.ts'
import type { Resource } from '../language/resource.ts'
import { uidToldInPath } from '../language/uid.ts'
import { askAll, bodyOf, type Call, type Expected, type Plan } from './plan.ts'

/** Errors of a look-up that a list tolerates: for every row, and for rows that can show a hidden value. */
const GONE = ['NOT_FOUND'] as const
const HIDDEN = ['NOT_FOUND', 'PERMISSION_DENIED'] as const

/** Every resource that rows refer to has a uid. */
const IDENTIFIED: Expected = { isAnswer: isIdentified }

/** Returns the Get of a resource that other rows refer to; rows of one request share the answer. */
export function lookUp(resource: Resource, uid: string): Call {
  const path = `${resource.v2}/${uidToldInPath(uid)}`
  return { method: 'GET', path, query: [], keep: { key: path, scope: 'request' } }
}

/**
 * Makes each look-up once, in parallel, and returns path → resource. Missing resources are left out.
 * With `mayBeHidden`, so are resources that the caller may not see. Every other failure fails the list (facts §10.9).
 */
export function* hydrate(lookUps: readonly Call[], { mayBeHidden = false } = {}): Plan<ReadonlyMap<string, JsonObject>> {
  const calls = [...new Map(lookUps.map((call) => [call.path, call])).values()]
  const found = new Map<string, JsonObject>()
  for (const [at, outcome] of (yield* askAll(calls)).entries()) {
    if (outcome.ok) found.set(calls[at]?.path ?? '', bodyOf(outcome, IDENTIFIED))
    else if (!isSaid(outcome.error, ...(mayBeHidden ? HIDDEN : GONE))) throw outcome.error
  }
  return found
}
