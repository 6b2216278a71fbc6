import type { Row } from './model.ts'
import { parentOf } from './uid.ts'

/**
 * The index behind `named`: uids by parent and name. It is built on the first search and then kept, so that a sandbox starts quickly.
 * A uid cannot contain a line break, so it can separate the two.
 */
export const createNames = <R extends Row>(rows: ReadonlyMap<string, R>) => {
  let uids: Map<string, Set<string>> | undefined
  const keyOf = (row: R): string => `${parentOf(row.uid)}\n${'name' in row ? row.name : ''}`
  const enter = (index: Map<string, Set<string>>, row: R): void => {
    const key = keyOf(row)
    const found = index.get(key)
    if (found) found.add(row.uid)
    else index.set(key, new Set([row.uid]))
  }
  const read = (): ReadonlyMap<string, ReadonlySet<string>> => {
    if (uids) return uids
    uids = new Map()
    for (const row of rows.values()) enter(uids, row)
    return uids
  }
  return {
    add: (row: R): void => {
      if (uids) enter(uids, row)
    },
    remove: (row: R): void => {
      const key = keyOf(row)
      const found = uids?.get(key)
      found?.delete(row.uid)
      if (found?.size === 0) uids?.delete(key)
    },
    find: (parent: string, name: string) => [...(read().get(`${parent}\n${name}`) ?? [])].sort(),
  }
}
