import { type Answer, type Ask, formOf, type Route } from '../http/route.ts'
import { isObject } from '../messages/message.ts'
import { parentOf, rootOf } from '../world/store.ts'

/** A request and its answer. */
export type Call = { readonly ask: Ask; readonly answer: Answer }

const VERSIONS = ['v2', 'v1'] as const

type Version = (typeof VERSIONS)[number]

/** The event that one endpoint of one version announces, made of a successful call (semantics §7.2, §7.3). */
export type Rule = {
  /** The event type without its prefix: `iam.group.created.v1`. */
  readonly event: string
  readonly subject: (call: Call) => string
  /** The group of the event; `/` is above every organization. */
  readonly group: (subject: string, call: Call) => string
  /** The data sent to subscribers; undefined omits the member. */
  readonly body: (call: Call, subject: string) => unknown
  /** The proto name of the body without `chainguard.platform.`. */
  readonly bodyType: string
  /** Attributes beside those of every event. */
  readonly extensions?: (subject: string) => Readonly<Record<string, string>>
}

/** Endpoint → event. The endpoint is `METHOD template` without the names of the variables, which differ between the versions. */
type Entry = readonly [endpoint: string, rule: Rule]

type Json = Readonly<Record<string, unknown>>

/** Returns a JSON object as it is, and an empty one for anything else. */
const jsonOf = (value: unknown): Json => (isObject(value) ? value : {})

/** Subject: the uid in the answer. */
const made: Rule['subject'] = ({ answer }) => String(jsonOf(answer.body)['uid'] ?? jsonOf(answer.body)['id'] ?? '')

/** Subject: the uid in the path. */
const addressed: Rule['subject'] = ({ ask }) => Object.values(ask.params)[0] ?? ''

/** Group: the subject itself. */
const itself: Rule['group'] = (subject) => subject
/** Group: the parent of the subject. */
const around: Rule['group'] = (subject) => parentOf(subject) || '/'
/** Group: the organization of the subject. */
const organization: Rule['group'] = (subject) => rootOf(subject)

/** Body: the answer. */
const answered: Rule['body'] = ({ answer }) => answer.body

const pick = (value: unknown, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(jsonOf(value)).filter(([name]) => names.includes(name)))

/** Body: these members of the answer. */
const onlyAnswered =
  (...names: readonly string[]): Rule['body'] =>
  ({ answer }) =>
    pick(answer.body, names)

/** Body: the answer without its token. */
const withoutToken: Rule['body'] = ({ answer }) => {
  const { token: _token, ...others } = jsonOf(answer.body)
  return others
}

/** Body: the request of a delete, with each version's name for a uid. */
const requested =
  (version: Version): Rule['body'] =>
  (_call, subject) => ({ [version === 'v2' ? 'uid' : 'id']: subject })

/** Body: these members of the request. */
const carried =
  (...names: readonly string[]): Rule['body'] =>
  ({ ask }) =>
    pick(ask.body, names)

/** No body at all. */
const nothing: Rule['body'] = () => undefined

type Verb = 'created' | 'updated' | 'deleted'

const METHODS: Readonly<Record<Verb, Readonly<Record<Version, string>>>> = {
  created: { v2: 'POST', v1: 'POST' },
  updated: { v2: 'PATCH', v1: 'PUT' },
  deleted: { v2: 'DELETE', v1: 'DELETE' },
}

/** A resource whose writes both versions announce alike. */
type Announced = {
  readonly event: string
  readonly path: Readonly<Record<Version, string>>
  /** Package and name of its message: `['iam', 'Group']`. v2 inserts its version after the package. */
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

/** Types: semantics §2.3; subjects and groups: semantics §7.2; omitted members: semantics §7.3. */
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

/** The rules for create, update and delete of every resource, in both versions. */
const resourceEntries: readonly Entry[] = RESOURCES.flatMap((of) =>
  VERSIONS.flatMap((version) => of.verbs.map((verb) => entryOf(of, version, verb))),
)

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
        body: withoutToken,
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
const singularEntries: readonly Entry[] = [
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

const RULES: ReadonlyMap<string, Rule> = new Map([...resourceEntries, ...singularEntries])

/** The rule of a route. Undefined for a route that announces nothing: reads, checks, requests for access, and a caller's own metadata. */
export const ruleOf = ({ method, template }: Pick<Route, 'method' | 'template'>): Rule | undefined =>
  RULES.get(`${method} ${formOf(template)}`)
