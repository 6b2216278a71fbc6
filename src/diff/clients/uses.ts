import { type Operation, withV1Values } from '../../tables/operation.ts'
import { anonymousPath } from '../redact/anonymous-path.ts'

/** The unit of traffic: an operation, a value of one that only v1 knows, or a path that v1 answers and no table has. */
export type Use = Pick<Operation, 'id' | 'kind' | 'because' | 'instead' | 'readBack'>

const UNKNOWN = 'unknown'

/** Finds a use by its id. Undefined for an id of other tables. Operations may be added to the list later. */
export function createUseOf(operations: readonly Operation[]): (id: string) => Use | undefined {
  const known = new Map<string, Use>()
  let count = 0
  const find = (id: string) => {
    for (const use of operations.length > count ? withV1Values(operations.slice(count)) : []) known.set(use.id, use)
    count = operations.length
    return known.get(id)
  }
  const isUnknown = (id: string) => id === UNKNOWN || id.startsWith(`${UNKNOWN} `)
  return (id) => find(id) ?? (isUnknown(id) ? { id, kind: 'v1-only', because: 'v1 answers it, and no table knows it' } : undefined)
}

/** Maximum names of unknown paths that are told apart, and the maximum length of a name. */
const MOST = 100
const LONGEST = 200

/** Names a request that no table has by its method and its path without ids. Beyond `MOST` names, all others share one. */
export function createUnknownUses(): (method: string, path: string) => string {
  const names = new Set<string>()
  return (method, path) => {
    const name = `${UNKNOWN} ${method} ${anonymousPath(path).slice(0, LONGEST)}`
    if (names.size < MOST) names.add(name)
    return names.has(name) ? name : UNKNOWN
  }
}
