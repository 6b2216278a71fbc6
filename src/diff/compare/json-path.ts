/**
 * A place in a JSON answer while it is walked, as a chain from the inside out: text is made of it only where something differs.
 */
export interface Place {
  readonly up: Place | undefined
  /** Exact: the member's name as sent, or the index. */
  readonly at: string
  /** The member's table name, or `*` for an index and for the key of a user's map. */
  readonly where: string
  /** As `at`, but a row of a list is `[its id]`, which stays the same when other rows come and go. */
  readonly path: string
  readonly depth: number
}

/** The whole answer; its JSON Pointer is the empty string. */
export const ROOT: Place = { up: undefined, at: '', where: '', path: '', depth: 0 }

/** Deeper answers than this are no answers of the API. */
const MAX_DEPTH = 100

/** Refuses with a RangeError, before the stack does, what lies too deep in an answer. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`it is nested deeper than ${MAX_DEPTH} levels`)
}

/** Any one index or map key. */
export const ANY = '*'

/** One step down. `path` keeps its closing brackets for rows: a map key may hold one too. */
export function below(up: Place, at: string, where = at, path = at.replaceAll(']', ')')): Place {
  return { up, at, where, path, depth: up.depth + 1 }
}

/** A row's segment in `path`. */
export function rowSegment(id: string): string {
  return `[${id}]`
}

/** JSON Pointer (RFC 6901) of a place in one of its three spellings. */
export function pointer(place: Place, spelling: 'at' | 'where' | 'path'): string {
  const segments: string[] = []
  for (let here: Place | undefined = place; here?.up; here = here.up) segments.unshift(here[spelling])
  return pointerOf(segments)
}

export function pointerOf(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** The segments of a JSON Pointer, unescaped. */
export function segmentsOf(text: string): readonly string[] {
  return text
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The pointer of the row that a `path` lies in; undefined outside of every row. */
export function rowOf(path: string): string | undefined {
  const end = path.lastIndexOf(']')
  return end < 0 ? undefined : path.slice(0, end + 1)
}
