import type { Request } from '../target.ts'
import { enums, type FieldFact, type MethodFact, messages, methods } from './facts.ts'
import { NotExpressible } from './inexpressible.ts'
import { type Json, readMessage, saysZero } from './protojson.ts'

/** A REST request as the call of a gRPC method. */
export interface Call {
  readonly method: MethodFact
  /** The message as protobufjs takes it. */
  readonly message: Json
  readonly headers: Readonly<Record<string, string>>
}

interface Route {
  readonly method: MethodFact
  readonly pattern: RegExp
  readonly variables: readonly string[]
  /** Characters that are no variable: of two routes that fit, the one with more is meant. */
  readonly literal: number
}

/** `{id=**}` takes slashes, `{id}` and `{id=*}` take none. */
const routes: readonly Route[] = methods.map((method) => {
  const variables = [...method.template.matchAll(/\{([^}=]+)/g)].map(([, name = '']) => name)
  const pattern = method.template.replace(/\{[^}]+\}|[^{]+/g, (part) =>
    part.endsWith('=**}') ? '(.+)' : part.startsWith('{') ? '([^/]+)' : part.replace(/[.*+?^$()|[\]\\]/g, '\\$&'),
  )
  return { method, pattern: new RegExp(`^${pattern}$`), variables, literal: method.template.replaceAll(/\{[^}]+\}/g, '').length }
})

/** Returns the call that says the same as a request; throws why there is none. */
export function callOf({ method: verb, path: target, headers = {}, text }: Request): Call {
  const [path = '', query = ''] = target.split('?')
  const { 'content-type': type, ...others } = headers
  if ('x-http-method-override' in headers || (verb === 'POST' && type?.includes('form'))) throw new NotExpressible('route', 'a form')
  if (/\/(\/|$)/.test(path)) throw new NotExpressible('spelling', target)
  const fitting = routes.filter(({ method, pattern }) => method.verb === verb && pattern.test(path))
  const route = fitting.sort((a, b) => b.literal - a.literal)[0]
  if (!route) throw new NotExpressible('route', `${verb} ${path}`)
  const { input, body } = route.method
  const said = body === undefined ? {} : bodyOf(input, body, text)
  const values = route.pattern.exec(path)?.slice(1) ?? []
  for (const [at, name] of route.variables.entries()) set(without(said, name), input, name, [unescaped(values[at] ?? '')])
  unescaped(query)
  for (const [name, all] of grouped(new URLSearchParams(query))) set(said, input, name, all)
  const message = readMessage(input, said)
  if (verb === 'PATCH' && saysZero(input, message)) throw new NotExpressible('zero', path)
  return { method: route.method, message, headers: others }
}

/** Returns what a body says: a whole message, or one field of it. The digits of long numbers survive as texts. */
function bodyOf(input: string, body: string, text = ''): Record<string, unknown> {
  if (text.trim() === '') return {}
  const json = parsed(text.replaceAll(/([:[,]\s*)(-?\d{16,})(?=\s*[,}\]])/g, '$1"$2"'))
  const said = body === '*' ? json : { [body]: json }
  readMessage(input, said)
  return { ...(said as Json) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NotExpressible('raw', text)
  }
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new NotExpressible('spelling', text)
  }
}

/** Removes a member: a variable of the path replaces what the body says of it. */
function without(said: Record<string, unknown>, name: string): Record<string, unknown> {
  for (const spelling of [name, name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())]) delete said[spelling]
  return said
}

function grouped(query: URLSearchParams): ReadonlyMap<string, readonly string[]> {
  return new Map([...query.keys()].map((name) => [name, query.getAll(name)]))
}

/** Sets a field by its dotted name, from the texts of a path or query. */
function set(into: Record<string, unknown>, message: string, name: string, texts: readonly string[]): void {
  const [first = '', ...rest] = name.split('.')
  const field = messages.get(message)?.find(({ proto, json }) => proto === first || json === first)
  if (!field) throw new NotExpressible('unknown', `${message} ${name}`)
  if (rest.length > 0) {
    into[field.proto] ??= {}
    set(into[field.proto] as Record<string, unknown>, field.type, rest.join('.'), texts)
    return
  }
  if (field.shape === 'map' || messages.has(field.type)) throw new NotExpressible('type', name)
  if (field.shape === 'one' && texts.length > 1) throw new NotExpressible('twice', name)
  if (field.proto in into) throw new NotExpressible('twice', name)
  const values = texts.map((text) => typed(field, text))
  into[field.proto] = field.shape === 'one' ? values[0] : values
}

/** Texts of flags and of enum numbers are not yet protobuf JSON. */
function typed({ type }: FieldFact, text: string): unknown {
  if (type === 'bool' && /^(1|t|true)$/i.test(text)) return true
  if (type === 'bool' && /^(0|f|false)$/i.test(text)) return false
  return enums.has(type) && /^-?\d+$/.test(text) ? Number(text) : text
}
