import type { Row } from './model.ts'
import { createNames } from './name-index.ts'
import { parentOf } from './uid.ts'

/** One collection: rows by uid, with the sort orders and indexes that the API needs. Rows are never changed in place: `put` a new one. */
export type Table<R extends Row> = {
  readonly get: (uid: string) => R | undefined
  readonly put: (row: R) => void
  /** Removes a row; false when there was none. */
  readonly delete: (uid: string) => boolean
  readonly size: () => number
  /** The number of writes. Equal numbers mean that nothing changed in between. */
  readonly revision: () => number
  /** Every row, uid ascending (bytewise). */
  readonly values: () => readonly R[]
  /** The rows strictly below `ancestor`, at any depth, uid ascending. */
  readonly below: (ancestor: string) => readonly R[]
  /** The rows whose parent is `parent`, uid ascending; `''` gives the root rows. */
  readonly children: (parent: string) => readonly R[]
  /** The children of `parent` called `name`. An index makes this cheap with 100,000 siblings. */
  readonly named: (parent: string, name: string) => readonly R[]
  /** `make()`, remembered under `key` until the next `put` or `delete`. So a page of a long list need not filter the list again. */
  readonly derived: <T>(key: string, make: () => T) => T
}

/** Walking several lists at once needs a few results. More would only hold memory. */
const DERIVED_LIMIT = 32

const lowerBound = (uids: readonly string[], wanted: string): number => {
  let low = 0
  let high = uids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (uids[middle]! < wanted) low = middle + 1
    else high = middle
  }
  return low
}

/** The order of uids. It is built on the first read and then kept by insertion, so that loading many rows does not sort repeatedly. */
const createOrder = (rows: ReadonlyMap<string, unknown>) => {
  let uids: string[] | undefined
  const read = (): readonly string[] => {
    uids ??= [...rows.keys()].sort()
    return uids
  }
  return {
    read,
    added: (uid: string) => uids?.splice(lowerBound(uids, uid), 0, uid),
    removed: (uid: string) => uids?.splice(lowerBound(uids, uid), 1),
  }
}

const createMemo = () => {
  const kept = new Map<string, unknown>()
  let writes = 0
  return {
    clear: () => {
      writes += 1
      kept.clear()
    },
    revision: () => writes,
    derived: <T>(key: string, make: () => T): T => {
      if (!kept.has(key)) {
        if (kept.size >= DERIVED_LIMIT) kept.clear()
        kept.set(key, make())
      }
      return kept.get(key) as T
    },
  }
}

/** The state that the parts of a table share. */
const createParts = <R extends Row>() => {
  const rows = new Map<string, R>()
  return { rows, order: createOrder(rows), names: createNames(rows), memo: createMemo() }
}

type Parts<R extends Row> = ReturnType<typeof createParts<R>>

const createWrites = <R extends Row>({ rows, order, names, memo }: Parts<R>): Pick<Table<R>, 'put' | 'delete'> => ({
  put: (row) => {
    const previous = rows.get(row.uid)
    if (previous) names.remove(previous)
    else order.added(row.uid)
    rows.set(row.uid, row)
    names.add(row)
    memo.clear()
  },
  delete: (uid) => {
    const previous = rows.get(uid)
    if (!previous) return false
    names.remove(previous)
    order.removed(uid)
    rows.delete(uid)
    memo.clear()
    return true
  },
})

/** An empty table. */
export const createTable = <R extends Row>(): Table<R> => {
  const parts = createParts<R>()
  const { rows, order, names, memo } = parts
  const take = (uids: readonly string[]): readonly R[] => uids.map((uid) => rows.get(uid)!)
  const values = (): readonly R[] => memo.derived('\nvalues', () => take(order.read()))
  const below = (ancestor: string): readonly R[] => {
    // '0' follows '/' in ASCII, so everything below an ancestor is one run of the sorted uids.
    const uids = order.read()
    return take(uids.slice(lowerBound(uids, `${ancestor}/`), lowerBound(uids, `${ancestor}0`)))
  }
  return {
    ...createWrites(parts),
    get: (uid) => rows.get(uid),
    size: () => rows.size,
    revision: memo.revision,
    values,
    below,
    children: (parent) => (parent === '' ? values() : below(parent)).filter((row) => parentOf(row.uid) === parent),
    named: (parent, name) => take(names.find(parent, name)),
    derived: memo.derived,
  }
}
