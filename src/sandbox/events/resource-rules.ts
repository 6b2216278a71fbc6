import { parentOf } from '../world/uid.ts'
import {
  addressed,
  answered,
  around,
  type Entry,
  itself,
  made,
  nothing,
  onlyAnswered,
  organization,
  type Rule,
  requested,
  VERSIONS,
  type Version,
} from './rule.ts'

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
export const resourceEntries: readonly Entry[] = RESOURCES.flatMap((of) =>
  VERSIONS.flatMap((version) => of.verbs.map((verb) => entryOf(of, version, verb))),
)
