import { ApiError, invalidArgument } from '../errors.ts'
import type { V1Request } from './operation.ts'

/** The spelling of v1 names in answers (design §3): snake_case as in the specification, or the published JSON names. */
export type Dialect = 'specification' | 'published'

export const DIALECTS: readonly Dialect[] = ['specification', 'published']

/** `group_id` → `groupId`, the JSON name that protobuf derives; dots separate path members. It converts tables, never data. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `claimMatch.issuerPattern` → `claim_match.issuer_pattern`: the spelling of a field mask path in a query (facts §13.3). */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Returns the uid one level up; undefined for a root resource. A uid is its parent's uid, a slash, and a suffix (facts §17). */
export function parentUid(uid: string): string | undefined {
  const slash = uid.lastIndexOf('/')
  return slash < 0 ? undefined : uid.slice(0, slash)
}

/** True if `uid` is anywhere below `ancestor`. */
export function isBelow(uid: string, ancestor: string): boolean {
  return uid.startsWith(`${ancestor}/`)
}

/**
 * Writes a uid at the end of a v2 path: slashes stay, everything else is percent-encoded.
 * A uid that a server could read as another path or a method is INVALID_ARGUMENT; the error names `field`.
 */
export function uidInPath(uid: string, field: string): string {
  if (METHOD.test(uid)) throw noUid(uid, field)
  return encoded(uid, field)
}

/** Checks a uid from a request likewise, for any other place than a path. */
export function uidSent(uid: string, field: string): string {
  if (!isUid(uid)) throw noUid(uid, field)
  return uid
}

/** Writes a uid from an answer of v2 there. */
export function uidToldInPath(uid: string): string {
  return encoded(told(uid), '')
}

/** Checks a uid from an answer of v2 before it is requested. If no path can hold it, that is INTERNAL, not the client's fault. */
export function told(uid: string): string {
  if (!isUid(uid)) throw new ApiError('INTERNAL', 'the v2 service sent a uid that no path can hold', { cause: JSON.stringify(uid) })
  return uid
}

/** The same within a path, where a colon is only text: digests hold one (facts §12.2). */
function pieceInPath(piece: string, field: string): string {
  return encoded(piece, field).replaceAll('%3A', ':')
}

/** True if no server could read it as another path or, at the end of one, as a method. */
export function isUid(uid: string): boolean {
  return !METHOD.test(uid) && isPiece(uid)
}

/**
 * Custom methods, and v2's paths below a uid: `PATCH …/repos/{id}/readme` does not replace the repo.
 * Encoding would hide neither, because the gateway matches the decoded path (facts §12.2). v2 may know more methods than the tables.
 */
const METHOD = /:[A-Za-z]\w*$|\/(?:architectures|readme|size|versions)$/

function encoded(text: string, field: string): string {
  if (PLAIN.test(text)) return text
  if (!isPiece(text)) throw noUid(text, field)
  return text.split('/').map(encodeURIComponent).join('/')
}

/** The error that v2 would give. */
function noUid(text: string, field: string): ApiError {
  return invalidArgument({ field, description: `${JSON.stringify(text)} is not a valid uid` })
}

function isPiece(text: string): boolean {
  if (PLAIN.test(text)) return true
  return !NO_SEGMENT.test(text) && !hasControl(text)
}

/** A segment that is empty, or names the folder or the one above it. */
const NO_SEGMENT = /(?:^|\/)\.{0,2}(?:\/|$)/

/** The form of every v2 uid. Anything else is checked segment by segment. */
const PLAIN = /^[0-9A-Za-z]+(?:\/[0-9A-Za-z]+)*$/

function hasControl(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x20 || code === 0x7f || (code >= 0xd800 && code <= 0xdfff)) return true
  }
  return false
}

/**
 * Fills a v2 path template with the request's variables. An empty `{name}` is INVALID_ARGUMENT.
 * An empty `{name=**}` also removes its slash (facts §12.4: a root group has no parent).
 * A variable that v1's route takes as one segment is any id, not a uid: `user:alice` of another API names no method.
 */
export function fillPath(template: string, variables: V1Request['params'], route = template): string {
  return template.replace(/\/\{([^{}=]+)(=\*\*)?\}/g, (variable, name: string, mayBeEmpty: string | undefined, at: number) => {
    const value = variables[name] ?? ''
    if (value === '' && mayBeEmpty) return ''
    const isEnd = at + variable.length === template.length
    if (!isEnd) return `/${pieceInPath(value, name)}`
    return `/${route.includes(`{${name}}`) ? encoded(value, name) : uidInPath(value, name)}`
  })
}

/** Returns the names of a template's variables, in order. */
export function variablesOf(route: string): readonly string[] {
  return [...route.matchAll(/\{([^=}]+)/g)].map(([, name = '']) => name)
}

/** Returns the name of a template's only variable. */
export function onlyVariable(route: string): string {
  const [name] = variablesOf(route)
  if (!name) throw new Error(`route "${route}" has no path variable`)
  return name
}

/** A v2 path that the variables of a route can fill. For any other path it is a sentence, which the compiler shows as the required type. */
export type Fillable<Path extends string, Route extends string> = string extends Route
  ? Path
  : [Strangers<Path, Route>] extends [never]
    ? Path
    : `{${Strangers<Path, Route>}} is not a variable of ${Route}`

/** The variables of a route; any text if the compiler does not know the whole route. */
export type VariableOf<Route extends string> = Record<never, never> extends Record<Route, true> ? string : VariablesIn<Route>

/** The variables of a path that its route lacks. */
type Strangers<Path extends string, Route extends string> = Exclude<VariablesIn<Path>, VariablesIn<Route>>

/** `'/x/{id=**}/y/{name}'` → `'id' | 'name'`. */
type VariablesIn<Route extends string> = Route extends `${string}{${infer Variable}}${infer Rest}`
  ? NameOf<Variable> | VariablesIn<Rest>
  : never

type NameOf<Variable extends string> = Variable extends `${infer Name}=${string}` ? Name : Variable
