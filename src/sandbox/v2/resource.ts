import type { Needed } from '../auth/rights/authorize.ts'
import type { Caller } from '../caller.ts'
import type { Query } from '../http/query.ts'
import type { Filter } from '../lists/filter.ts'
import type { Order, Sortable } from '../lists/order.ts'
import type { Draft, Message } from '../messages/message.ts'
import type { FieldViolation, PreconditionViolation, ResourceType } from '../status.ts'
import type { Row } from '../world/model.ts'
import type { Store } from '../world/store.ts'
import type { Table } from '../world/table.ts'
import type { World } from '../world/world.ts'

/** The context of a hook beside the row. */
export type Act = {
  readonly world: World
  readonly caller: Caller
  readonly query: Query
}

/** A create. `parent` is the path variable and exists. */
export type CreateAct = Act & { readonly parent: string }

/** An update. `previous` is the stored row; `touches` tells whether the mask names a path in either spelling (`oidc.client_secret`). */
export type UpdateAct<R extends Row> = Act & { readonly previous: R; readonly touches: (path: string) => boolean }

/** The answer that a row is rendered for. Some members appear in one of them only. */
export type View = 'get' | 'list' | 'create' | 'update'

/**
 * One v2 resource as data; `reads.ts` and `writes.ts` make its endpoints. Only the first block is required: without hooks a resource has
 * the plain behaviour.
 */
export type Resource<R extends Row> = {
  /** `registry.Repo`: names the resource in errors. */
  readonly type: ResourceType
  readonly message: Message
  /** The collection, e.g. `/registry/v2/repos`. */
  readonly path: string
  /** The member of the list envelope, e.g. `repos`. */
  readonly plural: string
  readonly table: (store: Store) => Table<R>
  readonly capabilities: { readonly list: Needed; readonly create?: Needed; readonly update?: Needed; readonly delete?: Needed }
  /** The parent of new rows. A missing parent is NOT_FOUND of this type. */
  readonly parent: { readonly type: ResourceType; readonly table: (store: Store) => { readonly get: (uid: string) => Row | undefined } }

  /** Columns beside uid, created_at and updated_at. */
  readonly sortable?: Sortable<R>
  /** The default is `uid asc`. */
  readonly order?: Order
  /** The filters of List beside `uidp`. */
  readonly filters?: (query: Query) => readonly Filter<R>[]
  /** Replaces the visibility of a row in List and, with `readable`, in Get. Built-in roles use it. */
  readonly visible?: (act: Act) => (uid: string) => boolean
  /** Replaces the capability check of Get. */
  readonly readable?: (act: Act, uid: string) => void

  /** Violations that involve several fields. Called only if every single field is valid. Throws for anything but INVALID_ARGUMENT. */
  readonly checkCreate?: (row: R, act: CreateAct) => readonly FieldViolation[]
  readonly checkUpdate?: (row: R, act: UpdateAct<R>) => readonly FieldViolation[]
  /** The row to store. The filled draft already has uid, createTime and updateTime. */
  readonly prepare?: (row: R, act: CreateAct) => R
  /** The row to store after an update. */
  readonly revise?: (row: R, act: UpdateAct<R>) => R
  /** Runs after the row is stored. */
  readonly created?: (row: R, act: CreateAct) => void

  /** The reasons that block a delete. If there are any, it is FAILED_PRECONDITION. */
  readonly blockers?: (row: R, world: World) => readonly PreconditionViolation[]
  /** Deletes the dependents of the row. */
  readonly cascade?: (row: R, world: World) => void
  /** A delete of a missing row succeeds (role bindings and account associations, facts §14). */
  readonly deleteIsIdempotent?: true

  /** The members that the table does not hold: hydration. The result is rendered through `message`. */
  readonly view?: (row: R, world: World, view: View) => Draft
}
