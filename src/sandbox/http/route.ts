import type { Caller } from '../auth/sts.ts'
import { parseTimestamp, snakeCase } from '../messages/message.ts'
import { gatewayError, malformed } from '../status.ts'
import { groupBy, type World } from '../world/store.ts'

/** The query parameters of a request. */
export type Query = Readonly<ReturnType<typeof readQuery>>

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** The last part of a dotted name: the gateway's name of a field in an error. */
const fieldName = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

const fail = (name: string, reason: string): never => malformed(`parsing field ${JSON.stringify(fieldName(name))}: ${reason}`)

const parseFlag = (name: string, value: string): boolean =>
  TRUE.has(value) || (FALSE.has(value) ? false : fail(name, `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`))

const parseInteger = (name: string, value: string): number => {
  if (!/^[+-]?[0-9]+$/.test(value)) return fail(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  const number = Number(value)
  return number === (number | 0) ? number : fail(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`)
}

const parseChoice = (name: string, value: string, values: readonly string[]): string => {
  const chosen = /^[0-9]+$/.test(value) ? values[Number(value)] : values.find((known) => known === value)
  return chosen ?? fail(name, `${JSON.stringify(value)} is not a valid value`)
}

/** Names and values of a query string or a form, in order. */
export type Pairs = readonly (readonly [name: string, value: string])[]

/**
 * Reads the pairs of a query string or a form-encoded body. Every reader takes the snake_case name and accepts camelCase too, dotted names
 * included (facts §16.2). A malformed value or a repeated singular parameter is 400 code 3 in the gateway's words (semantics §4.1).
 */
export const readQuery = (pairs: Pairs) => {
  const given = groupBy(pairs, ([key]) => snakeCase(key))
  /** Every value of a repeated parameter, in order; `[]` when absent. */
  const texts = (name: string): readonly string[] => (given.get(name) ?? []).map(([, value]) => value)
  const single = (name: string): string | undefined => {
    const [first, ...others] = texts(name)
    if (others.length > 0) malformed(`too many values for field ${JSON.stringify(fieldName(name))}: ${[first, ...others].join(', ')}`)
    return first
  }
  const parsed = <T>(name: string, absent: T, parse: (value: string) => T): T => {
    const value = single(name)
    return value === undefined ? absent : parse(value)
  }
  const timeOf = (name: string, value: string) => parseTimestamp(value) ?? fail(name, `${JSON.stringify(value)} is not an RFC 3339 time`)
  return {
    /** Every pair as received, in order, for the journal. */
    pairs,
    texts,
    /** The value; `''` when absent. */
    text: (name: string) => single(name) ?? '',
    /** 1, t, T, true, TRUE, True and their opposites; false when absent. */
    flag: (name: string) => parsed(name, false, (value) => parseFlag(name, value)),
    /** A 32-bit integer; 0 when absent. */
    integer: (name: string) => parsed(name, 0, (value) => parseInteger(name, value)),
    /** An RFC 3339 time as milliseconds since the epoch; undefined when absent. */
    time: (name: string) => parsed<number | undefined>(name, undefined, (value) => timeOf(name, value)),
    /** Every value of a repeated enum parameter, each by name or by number; `[]` when absent. */
    choices: (name: string, allowed: readonly string[]): readonly string[] => texts(name).map((value) => parseChoice(name, value, allowed)),
    /** One of `allowed`, by name or by number (its index); the first when absent. */
    choice: (name: string, allowed: readonly string[]) => parsed(name, allowed[0] ?? '', (value) => parseChoice(name, value, allowed)),
  }
}

/** A JSON string or a number. Everything after the first quote is optional, so that no text makes the search start over. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.?)*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/gs

/** Integers with this many digits may exceed 2^53, where `JSON.parse` rounds. As texts they keep their value (facts §16.5). */
const LONG = /^-?\d{16,}$/

/**
 * Parses a body: `{}` if it is empty, otherwise JSON with any content type (facts §12.5). Malformed JSON is 400 code 3. Integers too large
 * for a number become texts.
 */
export const parseBody = (text: string): unknown => {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text.replace(STRING_OR_NUMBER, (token) => (LONG.test(token) ? `"${token}"` : token)))
  } catch (error) {
    return malformed(`proto: syntax error: ${(error as Error).message}`)
  }
}

/** True if a Content-Type names a form. */
export const isForm = (contentType: string | undefined): boolean => /^\s*application\/x-www-form-urlencoded\b/i.test(contentType ?? '')

/** True if a body labelled as a form is JSON, as curl sends it without a Content-Type (facts §12.5). */
export const looksLikeJson = (text: string): boolean => /^\s*[[{]/.test(text)

/** The pairs of a query string or a form. */
export const pairsOf = (text: string): Pairs => [...new URLSearchParams(text)]

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
  /** Set for every route but those with `auth: 'none'`. */
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
  /** Without it, a request that has no valid token gets 401 before `handle` runs. */
  readonly auth?: 'none' | undefined
  /** A form-encoded POST body is read into `query` (the token exchange, semantics §2.6). */
  readonly form?: true
  readonly handle: (ask: Ask, world: World) => Answer | Promise<Answer>
}

/** The caller of a route that needs a token. */
export const callerOf = (ask: Ask): Caller => {
  if (!ask.caller) throw new Error(`${ask.method} ${ask.path} was handled without a caller; its route must not have auth: 'none'`)
  return ask.caller
}

/** 200 with a JSON body. */
export const ok = (body: unknown): Answer => ({ body })

/** 200 with zero bytes: a successful v2 delete (specification §7 rule 4). */
export const emptyAnswer: Answer = {}

type Part = { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'one' | 'many'; readonly name: string }
type Compiled = { readonly route: Route; readonly parts: readonly Part[]; readonly verb: string; readonly weight: number }
type Params = Record<string, string>

/** A route and the values of its template's variables. */
export type Match = { readonly route: Route; readonly params: Readonly<Params> }

/** Finds routes; see `createRouter`. */
export type Router = ReturnType<typeof createRouter>

const parsePart = (text: string): Part => {
  if (!text.startsWith('{')) return { kind: 'literal', text }
  const [name = '', pattern] = text.slice(1, -1).split('=', 2)
  return { kind: pattern === '**' ? 'many' : 'one', name }
}

const compile = (route: Route): Compiled => {
  const [, stem = '', verb = ''] = /^(.*?)(?::([A-Za-z]+))?$/.exec(route.template) ?? []
  const parts = stem.slice(1).split('/').map(parsePart)
  const literals = parts.filter(({ kind }) => kind === 'literal').length
  // A verb outweighs any number of variables. Among equals, the template with fewer variables is the more literal one.
  return { route, parts, verb, weight: (literals + (verb ? 1 : 0)) * 100 - parts.length }
}

const matchParts = (parts: readonly Part[], segments: readonly string[], params: Params): Params | undefined => {
  const [part, ...rest] = parts
  if (!part) return segments.length === 0 ? params : undefined
  if (part.kind === 'many') {
    for (let taken = segments.length; taken >= 0; taken--) {
      const found = matchParts(rest, segments.slice(taken), { ...params, [part.name]: segments.slice(0, taken).join('/') })
      if (found) return found
    }
    return undefined
  }
  const [segment, ...others] = segments
  if (segment === undefined || (part.kind === 'literal' ? part.text !== segment : segment === '')) return undefined
  return matchParts(rest, others, part.kind === 'literal' ? params : { ...params, [part.name]: segment })
}

const stripVerb = (path: string, verb: string): string | undefined =>
  verb === '' ? path : path.endsWith(`:${verb}`) ? path.slice(0, -verb.length - 1) : undefined

const matchRoute = ({ parts, verb }: Compiled, path: string): Params | undefined => {
  const stem = stripVerb(path, verb)
  // A trailing slash is an empty variable: `POST /iam/v2/groups/` creates without a parent (semantics §2.1).
  return stem === undefined ? undefined : matchParts(parts, stem.replace(/^\//, '').replace(/\/$/, '').split('/'), {})
}

/** The template without the names of its variables. */
export const formOf = (template: string): string => template.replace(/\{[^{}]*\}/g, '{}')

const variablesOf = ({ parts }: Compiled): readonly string[] => parts.flatMap((part) => (part.kind === 'literal' ? [] : [part.name]))

/**
 * A router over decoded paths. `%2F` equals `/`, `**` spans slashes and may match nothing, the most literal template wins (semantics §2.3,
 * facts §12).
 */
export const createRouter = (routes: readonly Route[]) => {
  const compiled = routes.map(compile).sort((left, right) => right.weight - left.weight)
  /** The most literal route of the method, if there is one. */
  const find = (method: string, path: string): Match | undefined => {
    for (const candidate of compiled) {
      const params = candidate.route.method === method ? matchRoute(candidate, path) : undefined
      if (params) return { route: candidate.route, params }
    }
    return undefined
  }
  /** The same. Without one: 404 `Not Found` or 501 `Method Not Allowed` in the gateway's form. */
  const match = (method: string, path: string): Match => {
    const found = find(method, path)
    if (found) return found
    return compiled.some((candidate) => matchRoute(candidate, path))
      ? gatewayError('UNIMPLEMENTED', 'Method Not Allowed')
      : gatewayError('NOT_FOUND', 'Not Found')
  }
  /** The route of a template, whatever that calls its variables; the values stand in their order. */
  const named = (method: string, template: string, values: readonly string[]): Match | undefined => {
    const found = compiled.find(({ route }) => route.method === method && formOf(route.template) === formOf(template))
    return found && { route: found.route, params: Object.fromEntries(variablesOf(found).map((name, at) => [name, values[at] ?? ''])) }
  }
  return { match, find, named }
}
