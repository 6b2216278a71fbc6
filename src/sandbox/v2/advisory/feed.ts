import type { Query } from '../../http/query.ts'
import { type FieldViolation, invalidArgument, invalidField, malformed } from '../../status.ts'
import type { AdvisoryDocument, VulnerabilityMetadata } from '../../world/advisory-model.ts'
import type { Store } from '../../world/store.ts'

/** The public feed, for both versions of the API: they differ in names alone (facts §7). */

const given = (query: Query, name: string): readonly string[] => query.texts(name).filter((value) => value !== '')

/** The documents of the package `id`, or of all; with `cves` those that speak of one of them. */
export const selectDocuments = (store: Store, query: Query): readonly AdvisoryDocument[] => {
  const id = query.text('id')
  const cves = new Set(given(query, 'cves'))
  const speaksOf = ({ advisories }: AdvisoryDocument) => advisories.some(({ aliases }) => aliases.some((alias) => cves.has(alias)))
  return store.documents.values().filter((row) => (id === '' || row.id === id) && (cves.size === 0 || speaksOf(row)))
}

/** At most so many different ids in one request (semantics §3.15). */
const MAX_IDS = 1000

/** The metadata of `id`, of `ids`, or of every vulnerability; `key` tells one choice from another. */
export const selectMetadata = (store: Store, query: Query): { readonly rows: readonly VulnerabilityMetadata[]; readonly key: string } => {
  const id = query.text('id')
  const ids = new Set(given(query, 'ids'))
  if (ids.size > MAX_IDS) invalidField('ids', `must not hold more than ${MAX_IDS} different ids`)
  const rows = store.vulnerabilityMetadata.values().filter((row) => (id === '' || row.id === id) && (ids.size === 0 || ids.has(row.id)))
  return { rows, key: JSON.stringify([id, [...ids].sort()]) }
}

/**
 * Why a request for resolved vulnerabilities is refused. It always is: the image references it must name are a list of messages, which
 * no query can carry, so over HTTP they are missing (semantics §3.15). `names` are the version's names of the two ends.
 */
export const refuseResolvedVulns = (query: Query, names: readonly [start: string, end: string]): never => {
  const carried = query.pairs.find(([name]) => /^image_?refs\b/i.test(name))
  if (carried) return malformed('parsing field "image_refs": unsupported type of a query parameter')
  const missing = names.filter((name) => query.time(name) === undefined)
  const found: readonly FieldViolation[] = ['image_refs', ...missing].map((field) => ({ field, description: 'is required' }))
  return invalidArgument(found)
}
