import { asParam, type Params } from '../language/param.ts'
import type { Message } from '../language/resource.ts'

/**
 * Translates field names of v2 errors to v1's and keeps list indices.
 * It searches the path variables of the route, then the fields of the request, of the answer, and the filters.
 */
export function v1FieldName(
  params: Params,
  request: Message | undefined,
  answer: Message,
  variables: readonly string[] = [],
): (v2Path: string) => string {
  const inPath = new Map([...variables].reverse().flatMap((name) => [...SCOPES, name.replace(/_id$/, '_uid')].map((v2) => [v2, name])))
  const filters = new Map(Object.entries(params).map(([name, row]) => [asParam(row).v2, name]))
  const nameOf = (v2Path: string) => request?.v1Names.get(v2Path) ?? answer.v1Names.get(v2Path)
  return (v2Path) => {
    if (v2Path.length > LONGEST) return v2Path
    const variable = inPath.get(v2Path)
    if (variable !== undefined) return variable
    const name = nameOf(withoutIndices(v2Path))
    return name === undefined ? (filters.get(v2Path) ?? v2Path) : withIndices(name, v2Path, nameOf)
  }
}

/** The maximum length of a path that is looked up. A path may contain a key of a user's map, which may be as long as a body. */
const LONGEST = 1000

/** v2's names for the path variable of a resource and of a create, whatever v1 called it (facts §12.1). */
const SCOPES = ['uid', 'parent']

const INDEX = /\[[^\]]*(?:\]|$)/g

function withoutIndices(path: string): string {
  return path.replace(INDEX, '')
}

/**
 * Puts the indices of a v2 path behind the same members of the v1 name.
 * It goes from the last to the first, so that each prefix stays valid.
 */
function withIndices(v1Name: string, v2Path: string, nameOf: (v2Path: string) => string | undefined): string {
  return [...v2Path.matchAll(INDEX)].reverse().reduce((name, index) => {
    const before = nameOf(withoutIndices(v2Path.slice(0, index.index)))
    return before !== undefined && name.startsWith(before) ? before + index[0] + name.slice(before.length) : name
  }, v1Name)
}
