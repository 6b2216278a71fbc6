import type { Route } from '../http/route.ts'
import { parentOf } from '../uid.ts'
import {
  addressed,
  answered,
  answeredWithout,
  around,
  type Call,
  carried,
  itself,
  jsonOf,
  made,
  nothing,
  onlyAnswered,
  organization,
  type Rule,
  requested,
  type Version,
} from './rule.ts'

/** Endpoint → event: `METHOD template` with the names of the variables left out, as the two versions call them differently. */
type Entry = readonly [endpoint: string, rule: Rule]

const VERSIONS = ['v2', 'v1'] as const

type Verb = 'created' | 'updated' | 'deleted'

const METHODS: Readonly<Record<Verb, Readonly<Record<Version, string>>>> = {
  created: { v2: 'POST', v1: 'POST' },
  updated: { v2: 'PATCH', v1: 'PUT' },
  deleted: { v2: 'DELETE', v1: 'DELETE' },
}

/** A resource whose writes are announced alike in both versions. */
type Announced = {
  readonly event: string
  readonly path: Readonly<Record<Version, string>>
  /** Package and name of its message: `['iam', 'Group']`. v2 puts its version after the package. */
  readonly message: readonly [package_: string, v2: string, v1?: string]
  readonly verbs: readonly Verb[]
  readonly group: Rule['group']
  readonly subject?: Rule['subject']
  readonly body?: Rule['body']
  readonly removed?: Rule['body']
  readonly extensions?: Rule['extensions']
}

const bodyType = ([package_, v2, v1 = v2]: Announced['message'], version: Version, verb: Verb): string => {
  const name = version === 'v2' ? v2 : v1
  return `${package_}${version === 'v2' ? '.v2' : ''}.${verb === 'deleted' ? `Delete${name}Request` : name}`
}

const entryOf = (of: Announced, version: Version, verb: Verb): Entry => [
  `${METHODS[verb][version]} ${of.path[version]}/{}`,
  {
    event: `${of.event}.${verb}.v1`,
    subject: of.subject ?? (verb === 'deleted' ? addressed : made),
    group: of.group,
    body: verb === 'deleted' ? (of.removed ?? requested(version)) : (of.body ?? answered),
    bodyType: bodyType(of.message, version, verb),
    ...(of.extensions && { extensions: of.extensions }),
  },
]

const ALL: readonly Verb[] = ['created', 'updated', 'deleted']

const iam = (v2: string, v1 = v2) => ({ v2: `/iam/v2/${v2}`, v1: `/iam/v1/${v1}` })
const registry = (name: string) => ({ v2: `/registry/v2/${name}`, v1: `/registry/v1/${name}` })

const groupEvents = { event: 'iam.group', path: iam('groups'), message: ['iam', 'Group'] } as const

/** Types by semantics §2.3, subjects and groups by §7.2, what is kept back by §7.3. */
const RESOURCES: readonly Announced[] = [
  { ...groupEvents, verbs: ['created', 'updated'], group: itself },
  { ...groupEvents, verbs: ['deleted'], group: around },
  { event: 'iam.identity', path: iam('identities'), message: ['iam', 'Identity'], verbs: ALL, group: around },
  { event: 'iam.identity_providers', path: iam('identityProviders'), message: ['iam', 'IdentityProvider'], verbs: ALL, group: around },
  { event: 'iam.roles', path: iam('roles'), message: ['iam', 'Role'], verbs: ALL, group: around },
  { event: 'iam.rolebindings', path: iam('roleBindings', 'rolebindings'), message: ['iam', 'RoleBinding'], verbs: ALL, group: around },
  {
    event: 'iam.group_invite',
    path: iam('groupInvites', 'group_invites'),
    message: ['iam', 'GroupInvite'],
    verbs: ['created', 'deleted'],
    group: around,
    body: onlyAnswered('uid', 'expirationTime', 'id', 'expiration'),
  },
  {
    event: 'iam.account_associations',
    path: iam('accountAssociations', 'account_associations'),
    message: ['iam', 'AccountAssociation', 'AccountAssociations'],
    verbs: ALL,
    group: itself,
    subject: addressed,
    removed: nothing,
  },
  {
    event: 'iam.external_group_role_mappings',
    path: iam('externalGroupRoleMappings'),
    message: ['iam', 'ExternalGroupRoleMapping'],
    verbs: ['created', 'deleted'],
    group: organization,
    extensions: (subject) => ({ identityprovider: parentOf(subject) }),
  },
  { event: 'platform.registry.repo', path: registry('repos'), message: ['registry', 'Repo'], verbs: ALL, group: around },
  { event: 'platform.registry.tag', path: registry('tags'), message: ['registry', 'Tag'], verbs: ALL, group: organization },
  {
    event: 'events.subscription',
    path: { v2: '/events/v2/subscriptions', v1: '/events/v1/subscriptions' },
    message: ['events', 'Subscription'],
    verbs: ['created', 'deleted'],
    group: around,
  },
]

/** The four things done to a SCIM token, each with its own message; the token itself is told to its owner alone. */
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

/** v1 names the bindings it made, v2 the group it made them at (semantics §7.2). */
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

const SINGULAR: readonly Entry[] = [
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

const RULES: ReadonlyMap<string, Rule> = new Map([
  ...RESOURCES.flatMap((of) => VERSIONS.flatMap((version) => of.verbs.map((verb) => entryOf(of, version, verb)))),
  ...scimEntries,
  ...SINGULAR,
])

/** What a route announces; undefined for one that tells nobody: reads, checks, requests for access, and a caller's own metadata. */
export const ruleOf = ({ method, template }: Pick<Route, 'method' | 'template'>): Rule | undefined =>
  RULES.get(`${method} ${template.replace(/\{[^}]*\}/g, '{}')}`)
