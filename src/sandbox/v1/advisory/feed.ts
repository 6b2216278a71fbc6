import { resolvedVulns } from '../../scans/resolved-vulns.ts'
import { selectDocuments, selectMetadata } from '../../v2/advisory/feed.ts'
import { unscopedPage } from '../../v2/unscoped-list.ts'
import { encode } from '../encode.ts'
import { arrange } from '../list.ts'
import { document, resolvedVulnsReportList, vulnerabilityMetadataList } from '../messages/feed.ts'
import type { Operation } from '../operation.ts'

/** The advisory feed (facts §7). Documents and metadata need no token. Metadata had pages in v1 already (facts §10.2). */
export const feedOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: '/advisory/v1/documents',
    auth: 'none',
    answer: ({ query }, { store, options }) => ({
      items: arrange(selectDocuments(store, query), query).map((row) => encode(row, document, options.v1Dialect)),
    }),
  },
  {
    method: 'GET',
    template: '/advisory/v1/metadata',
    auth: 'none',
    answer: (ask, world) => {
      const list = { ...selectMetadata(world.store, ask.query), order: { name: 'uid', descending: false } }
      const { rows: items, ...envelope } = unscopedPage(ask, world, list)
      return encode({ ...envelope, items }, vulnerabilityMetadataList, world.options.v1Dialect)
    },
  },
  {
    method: 'GET',
    template: '/advisory/v1/images/resolved_vulns',
    answer: (ask, world) => encode({ items: resolvedVulns(ask, world, ['from', 'to']) }, resolvedVulnsReportList, world.options.v1Dialect),
  },
]
