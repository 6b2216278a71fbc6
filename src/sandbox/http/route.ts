import type { Caller } from '../caller.ts'
import type { World } from '../world/world.ts'
import type { Query } from './query.ts'

/** One parsed request. */
export type Ask = {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  /** The decoded variables of the template: `{uid=**}` → `params.uid`, which may be empty and may contain slashes. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  /** The JSON body; `{}` without a body. */
  readonly body: unknown
  /** Set for every route with `auth: 'required'`. */
  readonly caller: Caller | undefined
  /** The Authorization header as sent. The token exchange reads it. */
  readonly authorization: string | undefined
}

/** A reply. Without `body` it has zero bytes. `status` defaults to 200. */
export type Answer = {
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** One endpoint. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Literals, `{name}` (one segment), `{name=**}` (zero or more segments) and an optional `:verb` at the end. */
  readonly template: string
  /** `required`: a request without a valid token gets 401 before `handle` runs. */
  readonly auth: 'required' | 'none'
  /** A form-encoded POST body is read into `query` (the token exchange, semantics §2.6). */
  readonly form?: true
  readonly handle: (ask: Ask, world: World) => Answer | Promise<Answer>
}

/** The caller of a route with `auth: 'required'`. */
export const callerOf = (ask: Ask): Caller => {
  if (!ask.caller) throw new Error(`${ask.method} ${ask.path} was handled without a caller; give its route auth: 'required'`)
  return ask.caller
}

/** 200 with a JSON body. */
export const ok = (body: unknown): Answer => ({ body })

/** 200 with zero bytes: a successful v2 delete (specification §7 rule 4). */
export const emptyAnswer: Answer = {}
