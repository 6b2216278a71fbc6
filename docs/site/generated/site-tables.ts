import { differencesOf, type Tables } from '../../../src/tables/tables.ts'
import type { SectionContext } from '../../../src/tools/guide.ts'

/** What the generated pages are made of. */
export interface SiteTables extends Tables {
  /** Returns the codes of an operation's differences. */
  readonly differencesOf: (operation: string) => readonly string[]
  /** How guides explain a request. */
  readonly guide: SectionContext
}

/** Returns the tables as the pages take them. */
export function asSiteTables(tables: Tables, guide: SectionContext): SiteTables {
  return { ...tables, differencesOf: differencesOf(tables), guide }
}
