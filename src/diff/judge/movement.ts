import type { Finding } from '../compare/finding.ts'

/** What v1 changed by itself between its own answers to one request. */
export interface Movement {
  /** True if v1 was seen to change just what a finding is about, and not merely something beside it or below it. */
  explains(finding: Finding): boolean
  /** True if v1 was seen to change the value at a `path`. */
  changed(path: string): boolean
}

/**
 * Indexes the changes from each answer of v1 to its next.
 * A changed value explains another value, and no absence. Only a row, member or status that came, went or changed its type explains that.
 * Rows without ids have no names, so that their list is one place.
 */
export function createMovement(changes: readonly Finding[]): Movement {
  const values = new Set<string>()
  const presence = new Set<string>()
  const orders = new Set<string>()
  for (const change of changes) {
    const place = placeOf(change)
    if (change.kind === 'order') orders.add(place)
    else if (change.kind === 'value' || place !== change.path) values.add(place)
    else presence.add(place)
  }
  return {
    explains(finding) {
      const place = placeOf(finding)
      if (presence.size > 0 && upwards(place).some((above) => presence.has(above))) return true
      if (finding.kind === 'order') return orders.has(place) || values.has(place)
      return (finding.kind === 'value' || place !== finding.path) && values.has(place)
    },
    changed: (path) => values.has(path),
  }
}

/** Returns the path of a finding, or of the outermost list without ids that contains it. */
function placeOf({ path }: Finding): string {
  const unnamed = path.indexOf('/[#')
  return unnamed < 0 ? path : path.slice(0, unnamed)
}

/** Returns a path and all its ancestors. */
function upwards(path: string): readonly string[] {
  const paths = [path]
  for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
    paths.push(path.slice(0, end))
    if (end === 0) break
  }
  return paths
}
