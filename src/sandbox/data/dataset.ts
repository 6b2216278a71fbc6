import type { Store } from '../world/store.ts'
import type { Table } from '../world/table.ts'
import type { DemoToken } from '../world/world.ts'

/** Rows by collection; a collection that is left out has none. */
export type Rows = { readonly [Name in keyof Store]?: Store[Name] extends Table<infer R> ? readonly R[] : never }

/** What a sandbox starts with. */
export type Dataset = {
  readonly rows: readonly Rows[]
  /** The fixed bearer tokens and whom they stand for. */
  readonly tokens: ReadonlyMap<string, DemoToken>
  /** The uid of the organization a visitor is shown first. */
  readonly organization: string
}

/** Puts rows into the store, later parts over earlier ones. */
export const fillStore = (store: Store, parts: readonly Rows[]): void => {
  for (const rows of parts) {
    for (const [name, list] of Object.entries(rows)) {
      // The pairing of a table with its own rows is what `Rows` guarantees; a loop over names cannot express it.
      const table = store[name as keyof Store] as { put: (row: unknown) => void }
      for (const row of list) table.put(row)
    }
  }
}
