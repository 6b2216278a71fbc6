import {
  addressed,
  answered,
  answeredWithout,
  around,
  type Call,
  carried,
  type Entry,
  itself,
  jsonOf,
  organization,
  VERSIONS,
} from './rule.ts'

/** The four actions on a SCIM token, each with its own message. Only the owner sees the token itself. */
const SCIM: readonly (readonly [verb: string, event: string, message: string])[] = [
  ['generateScimToken', 'scim_token.generated', 'GenerateScimTokenResponse'],
  ['regenerateScimToken', 'scim_token.regenerated', 'RegenerateScimTokenResponse'],
  ['revokeScimToken', 'scim_token.revoked', 'RevokeScimTokenResponse'],
  ['setScimEnabled', 'scim_enabled.updated', 'SetScimEnabledResponse'],
]

const scimEntries = SCIM.flatMap(([verb, event, message]) =>
  VERSIONS.map(
    (version): Entry => [
      `POST /iam/${version}/identityProviders/{}:${verb}`,
      {
        event: `iam.identity_providers.${event}.v1`,
        subject: addressed,
        group: around,
        body: answeredWithout('token'),
        bodyType: version === 'v2' ? `iam.v2.${message}` : `iam.${message}`,
      },
    ],
  ),
)

const parentInBody = ({ ask }: Call): string => {
  const { parent, parentId, parent_id } = jsonOf(ask.body)
  return String(parent ?? parentId ?? parent_id ?? '')
}

/** v1 names the new bindings; v2 names the group that holds them (semantics §7.2). */
const bindingsMade = ({ answer }: Call): string => {
  const { role_bindings, roleBindings } = jsonOf(answer.body)
  return ((role_bindings ?? roleBindings ?? []) as readonly { readonly id: string }[]).map(({ id }) => id).join(',')
}

const batchBinding = { event: 'iam.rolebindings.created.batch.v1', body: answered }

const batchUnmapping = {
  event: 'iam.external_group_role_mappings.deleted.batch.v1',
  subject: parentInBody,
  group: organization,
  extensions: (subject: string) => ({ identityprovider: subject }),
}

const terms = { event: 'iam.terms.accepted.v1', subject: addressed, group: itself, body: answered }

const unmappingRequest = 'BatchDeleteExternalGroupRoleMappingsRequest'

/** The rules of calls without a pattern: batches, SCIM tokens, terms and the readme. */
export const singularEntries: readonly Entry[] = [
  ...scimEntries,
  [
    'POST /iam/v2/roleBindings:batchCreate',
    { ...batchBinding, subject: parentInBody, group: itself, bodyType: 'iam.v2.BatchCreateRoleBindingsResponse' },
  ],
  [
    'POST /iam/v1/rolebindings/batch/{}',
    { ...batchBinding, subject: bindingsMade, group: (_subject, call) => addressed(call), bodyType: 'iam.RoleBindingBatch' },
  ],
  [
    'POST /iam/v2/externalGroupRoleMappings:batchDelete',
    { ...batchUnmapping, body: carried('parent', 'names'), bodyType: `iam.v2.${unmappingRequest}` },
  ],
  [
    'POST /iam/v1/externalGroupRoleMappings:batchDelete',
    { ...batchUnmapping, body: carried('parentId', 'parent_id', 'ids'), bodyType: `iam.${unmappingRequest}` },
  ],
  ['POST /iam/v2/terms/{}', { ...terms, bodyType: 'iam.v2.AcceptTermsResponse' }],
  ['POST /iam/v1/terms/{}', { ...terms, bodyType: 'iam.AcceptTermsResponse' }],
  [
    'PATCH /registry/v2/repos/{}/readme',
    { event: 'platform.registry.repo.updated.v1', subject: addressed, group: around, body: answered, bodyType: 'registry.v2.RepoReadme' },
  ],
]
