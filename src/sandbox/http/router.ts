import { gatewayError } from '../status.ts'
import type { Route } from './route.ts'

type Part = { readonly kind: 'literal'; readonly text: string } | { readonly kind: 'one' | 'many'; readonly name: string }
type Compiled = { readonly route: Route; readonly parts: readonly Part[]; readonly verb: string; readonly weight: number }
type Params = Record<string, string>

/** A route and the values of its template's variables. */
export type Match = { readonly route: Route; readonly params: Readonly<Params> }

/** Finds routes; see `createRouter`. */
export type Router = {
  /** The most literal route of the method. Without one: 404 `Not Found` or 501 `Method Not Allowed` in the gateway's form. */
  readonly match: (method: string, path: string) => Match
  /** The same without failing. */
  readonly find: (method: string, path: string) => Match | undefined
  /** The route of a template, whatever that calls its variables; the values stand in their order. */
  readonly named: (method: string, template: string, values: readonly string[]) => Match | undefined
}

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
const formOf = (template: string): string => template.replace(/\{[^{}]*\}/g, '{}')

const variablesOf = ({ parts }: Compiled): readonly string[] => parts.flatMap((part) => (part.kind === 'literal' ? [] : [part.name]))

/**
 * A router over decoded paths. `%2F` equals `/`, `**` spans slashes and may match nothing, the most literal template wins (semantics §2.3,
 * facts §12).
 */
export const createRouter = (routes: readonly Route[]): Router => {
  const compiled = routes.map(compile).sort((left, right) => right.weight - left.weight)
  const find = (method: string, path: string): Match | undefined => {
    for (const candidate of compiled) {
      const params = candidate.route.method === method ? matchRoute(candidate, path) : undefined
      if (params) return { route: candidate.route, params }
    }
    return undefined
  }
  const match = (method: string, path: string): Match => {
    const found = find(method, path)
    if (found) return found
    return compiled.some((candidate) => matchRoute(candidate, path))
      ? gatewayError('UNIMPLEMENTED', 'Method Not Allowed')
      : gatewayError('NOT_FOUND', 'Not Found')
  }
  const named = (method: string, template: string, values: readonly string[]): Match | undefined => {
    const found = compiled.find(({ route }) => route.method === method && formOf(route.template) === formOf(template))
    return found && { route: found.route, params: Object.fromEntries(variablesOf(found).map((name, at) => [name, values[at] ?? ''])) }
  }
  return { match, find, named }
}
