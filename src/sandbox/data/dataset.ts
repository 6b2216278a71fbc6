import type { Store } from '../world/store.ts'
import type { Table } from '../world/table.ts'
import type { DemoToken } from '../world/world.ts'

/** Rows by collection. A missing collection is empty. */
export type Rows = { readonly [Name in keyof Store]?: Store[Name] extends Table<infer R> ? readonly R[] : never }

/** The initial content of a sandbox. */
export type Dataset = {
  readonly rows: readonly Rows[]
  /** The fixed bearer tokens and their identities. */
  readonly tokens: ReadonlyMap<string, DemoToken>
  /** The uid of the organization that users see first. */
  readonly organization: string
}

/** Puts rows into the store. Later parts override earlier ones. */
export const fillStore = (store: Store, parts: readonly Rows[]): void => {
  for (const rows of parts) {
    for (const [name, list] of Object.entries(rows)) {
      // `Rows` guarantees that each table gets its own rows; a loop over names cannot express that pairing.
      const table = store[name as keyof Store] as { put: (row: unknown) => void }
      for (const row of list) table.put(row)
    }
  }
}
