import type { Query } from '../../http/query.ts'
import { invalidField } from '../../status.ts'
import type { AdvisoryDocument, VulnerabilityMetadata } from '../../world/advisory-model.ts'
import type { Store } from '../../world/store.ts'

/** The public feed for both versions of the API, which differ only in names (facts §7). */

const given = (query: Query, name: string): readonly string[] => query.texts(name).filter((value) => value !== '')

/** The documents of the package `id`, or all. With `cves`, those that mention one of them. */
export const selectDocuments = (store: Store, query: Query): readonly AdvisoryDocument[] => {
  const id = query.text('id')
  const cves = new Set(given(query, 'cves'))
  const speaksOf = ({ advisories }: AdvisoryDocument) => advisories.some(({ aliases }) => aliases.some((alias) => cves.has(alias)))
  return store.documents.values().filter((row) => (id === '' || row.id === id) && (cves.size === 0 || speaksOf(row)))
}

/** The most different ids in one request (semantics §3.15). */
const MAX_IDS = 1000

/** The metadata of `id`, of `ids`, or of every vulnerability. `key` identifies the choice. */
export const selectMetadata = (store: Store, query: Query): { readonly rows: readonly VulnerabilityMetadata[]; readonly key: string } => {
  const id = query.text('id')
  const ids = new Set(given(query, 'ids'))
  if (ids.size > MAX_IDS) invalidField('ids', `must not hold more than ${MAX_IDS} different ids`)
  const rows = store.vulnerabilityMetadata.values().filter((row) => (id === '' || row.id === id) && (ids.size === 0 || ids.has(row.id)))
  return { rows, key: JSON.stringify([id, [...ids].sort()]) }
}
