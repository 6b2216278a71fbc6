import { ok, type Query, type Route } from '../http/route.ts'
import { choice, listOf, type Message, messageType, nested, render, text, time } from '../messages/message.ts'
import { resolvedVulns } from '../scans.ts'
import { invalidField } from '../status.ts'
import {
  type AdvisoryDocument,
  FALSE_POSITIVE_TYPES,
  REFERENCE_TYPES,
  severityMessage,
  type VulnerabilityMetadata,
} from '../world/model.ts'
import type { Store } from '../world/store.ts'
import { pageAnswer } from './resource.ts'

const PACKAGE = 'chainguard.platform.advisory.v2'

const message = <F extends Message['fields']>(name: string, fields: F) => messageType(`${PACKAGE}.${name}`, fields)

const NVD = message('Detection.DetectionTypeNVDAPI', { cpeSearched: text(), cpeFound: text() })
const MANUAL = message('Detection.DetectionTypeManual', {})
const SCAN = message('Detection.DetectionTypeScanV1', {
  scanner: text(),
  subpackageName: text(),
  componentId: text(),
  componentName: text(),
  componentVersion: text(),
  componentType: text(),
  componentLocation: text(),
  artifactVersion: text(),
  scannerVersion: text(),
  grypeDbBuilt: text(),
  grypeDbChecksum: text(),
})

const DETECTION = message('Detection', {
  nvdapi: nested(NVD, { oneof: 'type' }),
  manual: nested(MANUAL, { oneof: 'type' }),
  scanv1: nested(SCAN, { oneof: 'type' }),
})

const FIXED = message('Fixed', { fixedVersion: text(), scannerVersion: text(), grypeDbBuilt: text(), grypeDbChecksum: text() })
const FALSE_POSITIVE = message('FalsePositiveDetermination', { type: choice(FALSE_POSITIVE_TYPES), note: text() })

const noted = (name: string) => nested(message(name, { note: text() }), { oneof: 'data' })

const EVENT = message('DocumentEvent', {
  timestamp: time(),
  truePositiveDetermination: noted('TruePositiveDetermination'),
  falsePositiveDetermination: nested(FALSE_POSITIVE, { oneof: 'data' }),
  fixed: nested(FIXED, { oneof: 'data' }),
  detection: nested(DETECTION, { oneof: 'data' }),
  analysisNotPlanned: noted('AnalysisNotPlanned'),
  fixNotPlanned: noted('FixNotPlanned'),
  pendingUpstreamFix: noted('PendingUpstreamFix'),
})

const ADVISORY = message('DocumentAdvisory', {
  id: text(),
  events: listOf(nested(EVENT)),
  aliases: listOf(text()),
  packageNamespace: text(),
})

/** The published advisories of one package (semantics §3.15). */
export const documentMessage = message('Document', { id: text(), advisories: listOf(nested(ADVISORY)) })

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

const REFERENCE = message('Reference', { type: choice(REFERENCE_TYPES), url: text() })

/** The data of one vulnerability (semantics §3.15). */
export const metadataMessage = message('VulnerabilityMetadata', {
  id: text(),
  summary: text(),
  details: text(),
  references: listOf(nested(REFERENCE)),
  severities: listOf(nested(severityMessage(PACKAGE))),
})

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
    handle: (ask, world) => pageAnswer(ask, world, 'vulnerabilityMetadata', metadataMessage, selectMetadata(world.store, ask.query)),
  },
  {
    method: 'GET',
    template: '/advisory/v2/images/resolvedVulns',
    handle: (ask, world) => ok({ resolvedVulnsReports: resolvedVulns(ask, world, ['start_time', 'end_time']) }),
  },
]
