import { ok, type Route } from '../../http/route.ts'
import { render } from '../../messages/render.ts'
import { resolvedVulns } from '../../scans/resolved-vulns.ts'
import { unscopedPage } from '../unscoped-list.ts'
import { documentMessage } from './document-message.ts'
import { selectDocuments, selectMetadata } from './feed.ts'
import { metadataMessage } from './metadata-message.ts'

/** Everything below `/advisory/v2` (semantics §3.15). Documents and metadata are public and need no token. */
export const advisoryFeedRoutes: readonly Route[] = [
  {
    method: 'GET',
    template: '/advisory/v2/documents',
    auth: 'none',
    handle: ({ query }, { store }) => ok({ documents: selectDocuments(store, query).map((row) => render(documentMessage, row)) }),
  },
  {
    method: 'GET',
    template: '/advisory/v2/metadata',
    auth: 'none',
    handle: (ask, world) => {
      const list = { ...selectMetadata(world.store, ask.query), order: { name: 'uid', descending: false } }
      const { rows, ...envelope } = unscopedPage(ask, world, list)
      return ok({ vulnerabilityMetadata: rows.map((row) => render(metadataMessage, row)), ...envelope })
    },
  },
  {
    method: 'GET',
    template: '/advisory/v2/images/resolvedVulns',
    auth: 'required',
    handle: (ask, world) => ok({ resolvedVulnsReports: resolvedVulns(ask, world, ['start_time', 'end_time']) }),
  },
]
