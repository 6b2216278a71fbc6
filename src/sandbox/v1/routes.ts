import type { Route } from '../http/route.ts'
import { feedOperations, subscriptionOperations, vulnerabilityOperations } from './advisories.ts'
import { roleBindingOperations, roleOperations } from './iam/access.ts'
import { associationOperations, groupOperations, inviteOperations, termsOperations } from './iam/groups.ts'
import { identityOperations, mappingOperations, providerOperations, scimOperations } from './iam/identities.ts'
import { libraryOperations } from './libraries.ts'
import { type Operation, routeOf } from './operation.ts'
import { eolTagOperation } from './registry/eol.ts'
import { imageConfigOperation, imageOperations, repoOperations, summaryOperations } from './registry/repos.ts'
import { tagHistoryOperation, tagOperations } from './registry/tags.ts'
import { rawVulnReportOperation, vulnCountsOperation, vulnReportOperation } from './registry/vuln-reports.ts'

/** Everything v1 serves below `/iam/v1` (facts §3). */
const iamOperations: readonly Operation[] = [
  ...groupOperations,
  ...identityOperations,
  ...roleOperations,
  ...roleBindingOperations,
  ...inviteOperations,
  ...providerOperations,
  ...scimOperations,
  ...associationOperations,
  ...mappingOperations,
  ...termsOperations,
]

/** The operations below `/registry/v1` that have a v2 counterpart (facts §4). */
const registryOperations: readonly Operation[] = [
  ...repoOperations,
  ...tagOperations,
  ...imageOperations,
  ...summaryOperations,
  eolTagOperation,
]

/** The operations there that v1 alone serves and real clients use. They serve to try out passing through to a v1 service (facts §22). */
const v1OnlyOperations: readonly Operation[] = [
  vulnCountsOperation,
  rawVulnReportOperation,
  vulnReportOperation,
  tagHistoryOperation,
  imageConfigOperation,
]

/** The connectivity check (facts §9). */
const ping: Operation = { method: 'GET', template: '/ping/v1/ping', auth: 'none', answer: () => ({ response: 'pong' }) }

/**
 * Genuine v1 over the same store as v2, written from the facts about v1. Of the operations without a v2 counterpart, it serves those that
 * clients use most; the paths of the others are unknown.
 */
export const v1Routes: readonly Route[] = [
  ...iamOperations,
  ...registryOperations,
  ...v1OnlyOperations,
  ...vulnerabilityOperations,
  ...libraryOperations,
  ...feedOperations,
  ...subscriptionOperations,
  ping,
].map(routeOf)
