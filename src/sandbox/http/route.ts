import type { Caller } from '../caller.ts'
import type { World } from '../world/world.ts'
import type { Query } from './query.ts'

/** One request, read. */
export type Ask = {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  /** The template's variables, decoded: `{uid=**}` → `params.uid`, which may be empty and may hold slashes. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Query
  /** The JSON body; `{}` when the request had none. */
  readonly body: unknown
  /** Set for every route with `auth: 'required'`. */
  readonly caller: Caller | undefined
  /** The Authorization header as sent, for the token exchange. */
  readonly authorization: string | undefined
}

/** A reply. Without `body` the answer has zero bytes; `status` is 200 unless given. */
export type Answer = {
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** One endpoint. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Literals, `{name}` (one segment), `{name=**}` (any number of segments, none included) and a `:verb` at the end. */
  readonly template: string
  /** `required`: without a valid token the answer is 401 before `handle` runs. */
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
