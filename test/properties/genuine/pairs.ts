import {
  advisoriesList,
  advisory,
  advisoryEvent,
  advisoryEventList,
  document,
  subscription,
  vulnerabilityMetadataList,
} from '../../../src/sandbox/v1/advisories.ts'
import * as access from '../../../src/sandbox/v1/iam/access.ts'
import { eligibility, group } from '../../../src/sandbox/v1/iam/access.ts'
import { accountAssociation, checkAnswer, checkRequest } from '../../../src/sandbox/v1/iam/groups.ts'
import { identity, identityMetadata, identityProvider, scimMessages } from '../../../src/sandbox/v1/iam/identities.ts'
import { artifactCount, artifactList, artifactVersion } from '../../../src/sandbox/v1/libraries.ts'
import * as genuine from '../../../src/sandbox/v1/message.ts'
import { repo, repoCount } from '../../../src/sandbox/v1/registry/repos.ts'
import { archs, eolTag, eolTagList, size, tag, tagsSummary } from '../../../src/sandbox/v1/registry/tags.ts'
import type { Message } from '../../../src/tables/resource.ts'
import { operations } from '../messages.ts'
import * as view from './views.ts'

/** A table and the message of the genuine v1 that shows the same data. */
export interface Pair extends view.View {
  readonly table: Message
  readonly genuine: genuine.V1Message
}

type Part = 'request' | 'answer' | 'envelope'
type Row = readonly [operation: string, part: Part, message: genuine.V1Message, view?: view.View]

/** Returns a genuine list message without its rows, and the message of the rows. */
const envelopeOf = (list: genuine.V1Message): genuine.V1Message => ({
  ...list,
  members: list.members.filter(({ name }) => name !== 'items'),
})
const rowOf = ({ members }: genuine.V1Message): genuine.V1Message => {
  const rows = members.find(({ name }) => name === 'items')?.type
  if (rows?.kind !== 'message') throw new Error('the list has no rows')
  return rows.message
}

/** Adds members to a message that only v1 knows. They are shown, but never set behind a proxy. */
const neverSet = (message: genuine.V1Message, ...names: readonly string[]): genuine.V1Message => ({
  ...message,
  members: message.members.map((member) => (names.includes(member.name) ? { ...member, flow: 'in' as const } : member)),
})

const event = neverSet(advisoryEvent, 'component_location_changed')
const advisoryWithoutMoves: genuine.V1Message = {
  ...advisory,
  members: advisory.members.map((member) => (member.name === 'events' ? genuine.list(genuine.object(event)('events')) : member)),
}

const scim = (verb: keyof typeof scimMessages, operation: string): readonly Row[] => [
  [operation, 'request', scimMessages[verb].request],
  [operation, 'answer', scimMessages[verb].answer],
]

const ROWS: readonly Row[] = [
  ['iam.groups.list', 'answer', group],
  ['iam.groups.lookup', 'answer', genuine.message('lookup', [genuine.object(group)('group')])],
  ['iam.groups.check_eligibility', 'answer', eligibility],
  ['iam.identities.list', 'answer', identity],
  ['iam.identities.lookup', 'answer', identity],
  ['iam.identity_metadata.update', 'request', identityMetadata, view.metadata],
  ['iam.roles.list', 'answer', access.role],
  ['iam.role_bindings.list', 'answer', access.hydratedBinding, view.hydratedBinding],
  ['iam.role_bindings.create', 'answer', access.roleBinding, view.writtenBinding],
  ['iam.role_bindings.create', 'request', access.roleBinding],
  ['iam.identity_providers.list', 'answer', identityProvider],
  ...scim('generateScimToken', 'iam.identity_providers.generate_scim_token'),
  ...scim('regenerateScimToken', 'iam.identity_providers.regenerate_scim_token'),
  ...scim('setScimEnabled', 'iam.identity_providers.set_scim_enabled'),
  ['iam.identity_providers.revoke_scim_token', 'answer', scimMessages.revokeScimToken.answer],
  ['iam.account_associations.list', 'answer', accountAssociation],
  ['iam.account_associations.check', 'request', checkRequest],
  ['iam.account_associations.check', 'answer', checkAnswer],
  ['iam.group_invites.list', 'answer', access.storedInvite],
  ['iam.group_invites.create', 'request', access.inviteRequest],
  ['iam.group_invites.create', 'answer', access.invite],
  ['iam.external_group_role_mappings.list', 'answer', access.externalGroupRoleMapping],
  ['iam.external_group_role_mappings.batch_delete', 'request', access.batchDeleteRequest],
  ['iam.external_group_role_mappings.batch_delete', 'answer', access.batchDeleteAnswer],
  ['iam.terms.list', 'answer', access.termsStatus],
  ['iam.terms.accept', 'request', access.acceptedTerms],
  ['iam.terms.accept', 'answer', access.acceptedTerms],
  ['registry.repos.list', 'answer', repo, view.repo],
  ['registry.tags.list', 'answer', tag],
  ['registry.images.architectures', 'answer', archs],
  ['registry.images.size', 'answer', size],
  ['registry.repo_tags_summary.get', 'answer', tagsSummary],
  ['registry.repo_count_by_source.get', 'answer', repoCount],
  [
    'registry.eol_tags.list',
    'answer',
    neverSet(eolTag, 'main_package_name', 'main_package_version', 'grace_status', 'grace_period_expiry_date'),
    view.eolTag,
  ],
  ['registry.eol_tags.list', 'envelope', envelopeOf(eolTagList)],
  ['vulnerabilities.advisories.list', 'answer', advisoryWithoutMoves],
  ['vulnerabilities.advisories.list', 'envelope', envelopeOf(advisoriesList), view.advisories],
  ['vulnerabilities.advisory_events.list', 'answer', event],
  ['vulnerabilities.advisory_events.list', 'envelope', envelopeOf(advisoryEventList), view.advisoryEvents],
  ['libraries.artifacts.list', 'answer', rowOf(artifactList)],
  ['libraries.artifacts.list', 'envelope', envelopeOf(artifactList), view.total],
  [
    'libraries.artifacts.list_versions',
    'answer',
    neverSet(artifactVersion, 'source_type', 'malware_scanned', 'malware_malicious', 'upstream_published_date'),
  ],
  ['libraries.artifacts.count', 'answer', artifactCount, view.totals],
  ['advisory.documents.list', 'answer', document],
  ['advisory.vulnerability_metadata.list', 'answer', rowOf(vulnerabilityMetadataList)],
  ['advisory.vulnerability_metadata.list', 'envelope', envelopeOf(vulnerabilityMetadataList)],
  ['events.subscriptions.list', 'answer', subscription],
]

/** Tables without a genuine message, and why. */
export const UNPAIRED: readonly (readonly [operation: string, part: Part, because: string])[] = [
  ['iam.role_bindings.create_batch', 'request', 'the genuine body is a bare list'],
  ['iam.role_bindings.create_batch', 'answer', 'the genuine answer is built row by row'],
  ['advisory.resolved_vulns.list', 'answer', 'no service can answer it over HTTP (facts §7)'],
  ['ping.ping.ping', 'answer', 'one word'],
]

/** The genuine v1 was written from the facts and does not use the tables. Where both agree, neither has agreed with itself. */
export const pairs: readonly Pair[] = ROWS.map(([id, part, message, more]) => ({ table: tableOf(id, part), genuine: message, ...more }))

export function tableOf(id: string, part: Part): Message {
  const table = operations.find((operation) => operation.id === id)?.[part]
  if (!table) throw new Error(`${id} has no ${part}`)
  return table
}
