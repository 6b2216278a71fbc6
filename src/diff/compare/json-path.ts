/** A place in a JSON answer during a walk: a chain from the inside out. A pointer is only built where a difference is found. */
export interface JsonPath {
  readonly up: JsonPath | undefined
  /** The member's name as sent, or the index. */
  readonly at: string
  /** The member's table name, or `*` for an index or a key of a user's map. */
  readonly where: string
  /** Like `at`, but a row of a list is `[its id]`, which does not change when other rows are added or removed. */
  readonly path: string
  readonly depth: number
}

/** The whole answer. Its JSON Pointer is the empty string. */
export const ROOT: JsonPath = { up: undefined, at: '', where: '', path: '', depth: 0 }

/** The API gives no answer that is nested deeper than this. */
const MAX_DEPTH = 100

/** Throws a RangeError for a value that is nested too deeply, before the stack overflows. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`it is nested deeper than ${MAX_DEPTH} levels`)
}

/** Any one index or map key. */
export const ANY = '*'

/** Returns the place one level down. In `path`, only rows keep a closing bracket, because a map key may contain one too. */
export function below(up: JsonPath, at: string, where = at, path = at.replaceAll(']', ')')): JsonPath {
  return { up, at, where, path, depth: up.depth + 1 }
}

/** Returns the segment of a row in `path`. */
export function rowSegment(id: string): string {
  return `[${id}]`
}

/** Returns the JSON Pointer (RFC 6901) of a place in one of its three spellings. */
export function pointer(place: JsonPath, spelling: 'at' | 'where' | 'path'): string {
  const segments: string[] = []
  for (let here: JsonPath | undefined = place; here?.up; here = here.up) segments.unshift(here[spelling])
  return pointerOf(segments)
}

export function pointerOf(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Returns the unescaped segments of a JSON Pointer. */
export function segmentsOf(text: string): readonly string[] {
  return text
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the pointer of the row that contains a `path`; undefined outside of every row. */
export function rowOf(path: string): string | undefined {
  const end = path.lastIndexOf(']')
  return end < 0 ? undefined : path.slice(0, end + 1)
}
