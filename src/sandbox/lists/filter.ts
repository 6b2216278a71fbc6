import type { Query } from '../http/query.ts'
import type { Row } from '../world/model.ts'
import type { Table } from '../world/table.ts'
import { inRoot, isAtOrBelow, isBelow, parentOf } from '../world/uid.ts'

/** A condition on the rows of a list. Equal keys mean equal conditions; page tokens and remembered results are bound to the key. */
export type Filter<R> = { readonly key: string; readonly matches: (row: R) => boolean }

/** The scoping parameters of a list (semantics §1). Unset members do not narrow it. */
export type Uidp = {
  readonly ancestorsOf: string
  readonly descendantsOf: string
  readonly childrenOf: string
  readonly inRoot: boolean
  readonly ids: readonly string[]
}

/** Reads `uidp.*` from the query. An empty value is no filter. */
export const readUidp = (query: Query): Uidp => ({
  ancestorsOf: query.text('uidp.ancestors_of'),
  descendantsOf: query.text('uidp.descendants_of'),
  childrenOf: query.text('uidp.children_of'),
  inRoot: query.flag('uidp.in_root'),
  ids: query.texts('uidp.ids').filter((uid) => uid !== ''),
})

/**
 * True if a uid passes. `descendants_of` means strictly below, `children_of` the direct parent, `ancestors_of` the chain from that uid to
 * its root, both included. Several members must all hold.
 */
export const matchesUidp = (uidp: Uidp, uid: string): boolean =>
  (uidp.ancestorsOf === '' || isAtOrBelow(uid, uidp.ancestorsOf)) &&
  (uidp.descendantsOf === '' || isBelow(uidp.descendantsOf, uid)) &&
  (uidp.childrenOf === '' || parentOf(uid) === uidp.childrenOf) &&
  (!uidp.inRoot || inRoot(uid)) &&
  (uidp.ids.length === 0 || uidp.ids.includes(uid))

/** The uid at or above every row that passes `uidp`, if there is one. A caller who may see that uid may see all the rows. */
export const scopeOf = (uidp: Uidp): string => uidp.childrenOf || uidp.descendantsOf

/** The rows of `table` that pass `uidp` and every filter, uid ascending. The result is remembered until the table changes. */
export const selectRows = <R extends Row>(table: Table<R>, uidp: Uidp, filters: readonly Filter<R>[]): readonly R[] =>
  table.derived(`rows ${filterKey(uidp, filters)}`, () => {
    const scope = scopeOf(uidp)
    const candidates = scope === '' ? table.values() : table.below(scope)
    return candidates.filter((row) => matchesUidp(uidp, row.uid) && filters.every(({ matches }) => matches(row)))
  })

/** One string for all conditions of a list, independent of the order of the parameters. */
export const filterKey = <R>(uidp: Uidp, filters: readonly Filter<R>[]): string =>
  JSON.stringify([uidp.ancestorsOf, uidp.descendantsOf, uidp.childrenOf, uidp.inRoot, uidp.ids, filters.map(({ key }) => key)])

/** A filter for rows whose string member equals the parameter of that snake_case name. An absent or empty parameter is no filter. */
export const equals = <R>(query: Query, name: string, read: (row: R) => string | undefined): readonly Filter<R>[] => {
  const wanted = query.text(name)
  return wanted === '' ? [] : [{ key: `${name}=${wanted}`, matches: (row) => read(row) === wanted }]
}
