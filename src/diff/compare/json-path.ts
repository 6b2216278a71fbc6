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
  /** What each side has there; undefined if it has nothing. */
  readonly v1: unknown
  readonly v2: unknown
}

/** Returns the place of two whole answers. Its JSON Pointer is the empty string. */
export function rootOf(v1: unknown, v2: unknown): JsonPath {
  return { up: undefined, at: '', where: '', path: '', depth: 0, v1, v2 }
}

/** The API gives no answer that is nested deeper than this. */
const MAX_DEPTH = 100

/** Throws a RangeError for a value that is nested too deeply, before the stack overflows. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`it is nested deeper than ${MAX_DEPTH} levels`)
}

/** Any one index or map key. */
export const ANY = '*'

/** What both sides have at one place. */
export type Both = Pick<JsonPath, 'v1' | 'v2'>

/** Returns the place one level down. In `path`, only rows keep a closing bracket, because a map key may contain one too. */
export function below(up: JsonPath, { v1, v2 }: Both, at: string, where = at, path = at.replaceAll(']', ')')): JsonPath {
  return { up, at, where, path, depth: up.depth + 1, v1, v2 }
}

/** Returns the segment of a row in `path`. */
export function rowSegment(id: string): string {
  return `[${id}]`
}

/** True for the segment of a row in `path`. */
export function isRowSegment(segment: string): boolean {
  return segment.endsWith(']')
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

/** Returns the id of the innermost row that contains a `path`; undefined outside of every row, and for rows without ids. */
export function rowIdOf(path: string): string | undefined {
  const id = segmentsOf(rowOf(path) ?? '')
    .at(-1)
    ?.slice(1, -1)
  return id?.startsWith('#') ? undefined : id?.replace(/~\d+$/, '')
}

/** Returns the pointer of the row that contains a `path`; undefined outside of every row. */
export function rowOf(path: string): string | undefined {
  const end = path.lastIndexOf(']')
  return end < 0 ? undefined : path.slice(0, end + 1)
}
