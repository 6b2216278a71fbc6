import { isSaid } from '../../errors/api-error.ts'
import { isIdentified } from '../compile/is-answer.ts'
import type { JsonObject } from '../json.ts'
import type { Resource } from '../language/resource.ts'
import { uidToldInPath } from '../language/uid.ts'
import { askAll, bodyOf, type Call, type Expected, type Plan } from './plan.ts'

/** A resource that rows refer to. Equal paths name the same one. */
export interface Reference {
  readonly resource: Resource
  readonly uid: string
  /** The path of its Get. */
  readonly path: string
}

/** The resources that were found, by the paths of their Gets. */
export type FoundResources = ReadonlyMap<string, JsonObject>

/** Errors of a Get that a list tolerates: for every row, and for rows that can show a hidden value. */
const GONE = ['NOT_FOUND'] as const
const HIDDEN = ['NOT_FOUND', 'PERMISSION_DENIED'] as const

/** Every resource that rows refer to has a uid. */
const IDENTIFIED: Expected = { isAnswer: isIdentified }

/** Names a resource that other rows refer to. Throws INTERNAL if no path can hold the uid, which v2 told. */
export function lookUp(resource: Resource, uid: string): Reference {
  return { resource, uid, path: `${resource.v2}/${uidToldInPath(uid)}` }
}

/** Leaves out what is named twice. */
export function distinct(lookUps: readonly Reference[]): readonly Reference[] {
  return [...new Map(lookUps.map((one) => [one.path, one])).values()]
}

/**
 * Gets each resource once, in parallel, and returns path → resource. Missing resources are left out.
 * With `mayBeHidden`, so are resources that the caller may not see. Every other failure fails the list (facts §10.9).
 */
export function* hydrate(lookUps: readonly Reference[], { mayBeHidden = false } = {}): Plan<FoundResources> {
  const wanted = distinct(lookUps)
  const found = new Map<string, JsonObject>()
  for (const [at, outcome] of (yield* askAll(wanted.map(getCall))).entries()) {
    if (outcome.ok) found.set(wanted[at]?.path ?? '', bodyOf(outcome, IDENTIFIED))
    else if (!isSaid(outcome.error, ...(mayBeHidden ? HIDDEN : GONE))) throw outcome.error
  }
  return found
}

/** Rows of one request share the answer. */
function getCall({ path }: Reference): Call {
  return { method: 'GET', path, query: [], keep: { key: path, scope: 'request' } }
}
