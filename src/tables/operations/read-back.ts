import type { Resource } from '../language/resource.ts'

/** Where a write names what it wrote. */
export type Named<Variable extends string = string> =
  /** In this variable of its path. */
  | { readonly param: Variable }
  /** In the id of its answer. */
  | { readonly answer: 'id' }
  /** In the id of each row in this list of its answer. */
  | { readonly rows: string }
  /** In this list of uids in its body, by v2's name. */
  | { readonly body: string }

/**
 * How the effect of a write is read afterwards. The operation that answers with `resource` and `selects` one of them makes the read.
 *
 *     readBack: { resource: binding, named: { answer: 'id' }, shownAs: { group: 'group.id', role: 'role.id' } }
 */
export interface ReadBack<Variable extends string = string> {
  readonly resource: Resource
  readonly named: Named<Variable>
  /** A delete: the resource must not be there. */
  readonly gone?: true
  /**
   * A member of the answer → the dotted path at which the resource shows the same value, or `null` if it does not. Members that are not
   * named here have the same name in both, or are not shown.
   */
  readonly shownAs?: Readonly<Record<string, string | null>>
  /** The member of the answer that names another resource. It is deleted together with that one (semantics §3.2). */
  readonly goesWith?: string
  /** For an answer with a list of texts: each of them must be this member of a row (terms by document, facts §3.10). */
  readonly listed?: { readonly answer: string; readonly row: string }
}

/** Why no read can show the effect of a write: a sentence that ends "cannot be verified: …". */
export interface Unverifiable {
  readonly unverifiable: string
}

/** What a delete takes away beside the resource: what lies below it (semantics §3). */
export type Takes = 'below'

/** True if a read can show the effect of the write. */
export function isReadBack(readBack: ReadBack | Unverifiable): readBack is ReadBack {
  return 'resource' in readBack
}
