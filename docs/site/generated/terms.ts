import { envOf, flagOf, SETTING_KEYS } from '../../../src/app/config/settings.ts'
import { placeOf } from '../page.ts'
import { sourceOf } from './operation-pages.ts'
import { SETTINGS_PAGE } from './settings-page.ts'
import type { SiteTables } from './site-tables.ts'
import { longEnums, VALUES_PAGE } from './values-page.ts'

/**
 * Returns what a piece of code in the text of any page stands for, such as a setting or the kind of an operation: its place on the site,
 * with an anchor where it is a part of a page.
 */
export function termsOf(tables: SiteTables): ReadonlyMap<string, string> {
  const { mappings, differences } = tables
  const settings = placeOf(SETTINGS_PAGE)
  return new Map([
    ...['direct', 'composed', 'emulated'].map((kind) => [kind, 'docs/glossary.html'] as const),
    ...longEnums(tables).map(({ name }) => [name, `${placeOf(VALUES_PAGE)}#${anchorOf(name)}`] as const),
    ...differences.map(({ code }) => [code, `docs/reference/differences.html#${code}`] as const),
    ...SETTING_KEYS.filter((key) => key.includes('.')).flatMap((key) =>
      [key, envOf(key), `--${flagOf(key)}`].map((name) => [name, `${settings}#${anchorOf(key)}`] as const),
    ),
    ...mappings.flatMap(({ operations }) => operations.map((operation) => [operation.id, placeOf(sourceOf(operation))] as const)),
  ])
}

/** The anchor of a heading that is one name. */
function anchorOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9_-]/g, '')
}
