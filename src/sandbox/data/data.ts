import { z } from 'zod'
import { builtInRoles, builtInRoleUid } from '../auth/rights.ts'
import { humanUid } from '../auth/tokens.ts'
import {
  choice,
  type Draft,
  decode,
  fill,
  flag,
  listOf,
  type Message,
  mapOf,
  memberOf,
  messageType,
  outputText,
  outputTime,
  text,
} from '../messages/message.ts'
import { documentMessage, metadataMessage } from '../v2/advisory.ts'
import { subscriptionMessage } from '../v2/events.ts'
import { acceptanceMessage, accountAssociationMessage, groupInviteMessage, groupMessage } from '../v2/iam/groups.ts'
import { identityMessage } from '../v2/iam/identities.ts'
import { externalGroupRoleMappingMessage, identityProviderMessage } from '../v2/iam/providers.ts'
import { roleBindingMessage, roleMessage } from '../v2/iam/roles.ts'
import { artifactMessage, artifactVersionMessage } from '../v2/libraries.ts'
import { readmeMessage, repoMessage } from '../v2/registry/repos.ts'
import { imageUid, tagMessage } from '../v2/registry/tags.ts'
import { advisoryMessage } from '../v2/vulnerabilities.ts'
import { type Group, type Identity, PUBLIC_CATALOG_UID, type Role, type RoleBinding, type Row, SOURCE_TYPES } from '../world/model.ts'
import { type DemoToken, groupBy, inRoot, parentOf, type Store, type Table, validUid } from '../world/store.ts'
import { dated, fixtureUid, planImages } from './plans.ts'

/** Rows by collection. A missing collection is empty. */
export type Rows = { readonly [Name in keyof Store]?: Store[Name] extends Table<infer R> ? readonly R[] : never }

/** The initial content of a sandbox. */
export type Dataset = {
  readonly rows: readonly Rows[]
  /** The uid of the organization that users see first. */
  readonly organization: string
}

/** Puts rows into the store. Later parts override earlier ones. */
export const fillStore = (store: Store, parts: readonly Rows[]): void => {
  for (const rows of parts) {
    for (const [name, list] of Object.entries(rows)) {
      // `Rows` guarantees that each table gets its own rows; a loop over names cannot express that pairing.
      const table = store[name as keyof Store] as { put: (row: unknown) => void }
      for (const row of list) table.put(row)
    }
  }
}

/** The issuer of the demo users' sign-ins. It uses the email address as subject. */
const DEMO_ISSUER = 'https://accounts.example.com'

const JOINED = '2026-01-05T08:00:00.000Z'

/** The owners of the fixed tokens, with their built-in roles in their own organizations. */
const USERS = {
  owner: { token: 'demo-owner', email: 'alice@example.com', role: 'owner' },
  editor: { token: 'demo-editor', email: 'bob@example.com', role: 'editor' },
  viewer: { token: 'demo-viewer', email: 'carol@example.com', role: 'viewer' },
  outsider: { token: 'demo-outsider', email: 'eve@acme.dev', role: 'owner' },
  admin: { token: 'demo-admin', email: 'admin@sandbox.dev', role: undefined },
} as const

export type DemoUser = keyof typeof USERS

const EVERYBODY = Object.keys(USERS) as readonly DemoUser[]

/** The users of the organization that users see first. */
export const MEMBERS = ['owner', 'editor', 'viewer'] as const

/** The bearer token of each demo user. */
export const demoTokens = Object.fromEntries(EVERYBODY.map((user) => [user, USERS[user].token])) as Readonly<Record<DemoUser, string>>

/** The root identity of a demo user. */
export const userUid = (user: DemoUser): string => humanUid(DEMO_ISSUER, USERS[user].email)

/** An identity that was made, and seen, at a time. */
export const identityRow = (uid: string, name: string, time: string, members: Partial<Identity>): Identity =>
  fill(identityMessage, { uid, name, lastSeenTime: time, ...dated(time), ...members })

/** The identity of each demo user. */
export const userRows: readonly Identity[] = EVERYBODY.map((user) =>
  identityRow(userUid(user), USERS[user].email, JOINED, { email: USERS[user].email }),
)

/** The identity and the rights of each token. The admin holds every capability everywhere. */
export const tokenRights: ReadonlyMap<string, DemoToken> = new Map(
  EVERYBODY.map((user) => [USERS[user].token, { identityUid: userUid(user), ...(user === 'admin' ? { everything: true as const } : {}) }]),
)

/** The bindings that give `users` their roles at `group`. A user without a role gets no binding. */
export const bindUsers = (group: string, users: readonly DemoUser[]): readonly RoleBinding[] =>
  users.flatMap((user) => {
    const { role } = USERS[user]
    return role === undefined ? [] : [binding(group, userUid(user), builtInRoleUid(role))]
  })

/** A binding at `group`. */
export const binding = (group: string, identityUid: string, roleUid: string): RoleBinding => ({
  uid: fixtureUid(group, `binding ${identityUid} ${roleUid}`),
  createTime: JOINED,
  identityUid,
  roleUid,
})

/** The built-in roles as rows. */
export const builtInRoleRows: readonly Role[] = builtInRoles.map((role) => ({ ...role, ...dated('2023-01-01T00:00:00.000Z') }))

/** An organization with the limits of a customer. */
export const organization = (name: string, members: Partial<Group> = {}): Group => ({
  uid: fixtureUid('', `organization ${name}`),
  name,
  description: '',
  resourceLimits: { clusters: 0, idps: 1, repositories: 500 },
  verified: true,
  kind: 'ORG_KIND_CUSTOMER',
  status: 'ORG_STATUS_READY',
  ...dated(JOINED),
  ...members,
})

/** A folder. Kind and status are those of its organization (semantics §3.1). */
export const folder = (parent: Group, name: string, description = ''): Group => ({
  ...parent,
  uid: fixtureUid(parent.uid, `folder ${name}`),
  name,
  description,
  resourceLimits: {},
  verified: false,
  ...dated('2026-01-06T08:00:00.000Z'),
})

export const exampleCom = organization('example.com', { description: 'The demo organization' })
export const platform = folder(exampleCom, 'platform', 'Build and release')
export const payments = folder(exampleCom, 'payments')
const paymentsStaging = folder(payments, 'payments-staging')
export const acmeDev = organization('acme.dev', { kind: 'ORG_KIND_STARTER' })

/** The description holds a line break, as public samples do: stored data may break a rule for input (semantics §3.0). */
export const publicCatalog = organization('chainguard', {
  uid: PUBLIC_CATALOG_UID,
  description: 'The public catalog.\nEverybody may sync from it.',
  resourceLimits: {},
  verified: false,
  kind: 'ORG_KIND_INFRA',
})

export const demoGroups: readonly Group[] = [
  exampleCom,
  platform,
  payments,
  paymentsStaging,
  folder(exampleCom, 'sandbox', 'Anything goes'),
  acmeDev,
  publicCatalog,
]

/** The API shows images only by repo and digest, so a file names both. */
const imageMessage = messageType('sandbox.Image', {
  uid: outputText,
  repoUid: text({ required: true }),
  digest: text({ required: true }),
  sizes: mapOf(text()),
})

/** The message of rows that have an id instead of a uid in the API. */
const keyed = (message: Message): Message => ({ ...message, fields: { uid: outputText, ...message.fields } })

const fileArtifactMessage: Message = {
  ...artifactMessage,
  fields: { ...artifactMessage.fields, cudaVersions: listOf(text()) },
}

/** A version as v1 alone shows it, with the artifact it belongs to. */
const fileVersionMessage: Message = {
  ...artifactVersionMessage,
  fields: {
    ...artifactVersionMessage.fields,
    artifactUid: text({ required: true }),
    sourceType: choice(SOURCE_TYPES),
    malwareScanned: flag(),
    malwareMalicious: flag(),
    upstreamPublishedDate: outputTime,
  },
}

/** The collections of a data file in the order of their checks: parents come first. */
const COLLECTIONS: Readonly<Record<keyof Store, Message>> = {
  groups: groupMessage,
  identities: identityMessage,
  identityProviders: identityProviderMessage,
  roles: roleMessage,
  roleBindings: roleBindingMessage,
  groupInvites: groupInviteMessage,
  accountAssociations: accountAssociationMessage,
  externalGroupRoleMappings: externalGroupRoleMappingMessage,
  termsAcceptances: keyed(acceptanceMessage),
  repos: repoMessage,
  readmes: readmeMessage,
  tags: tagMessage,
  images: imageMessage,
  advisories: advisoryMessage,
  documents: keyed(documentMessage),
  vulnerabilityMetadata: keyed(metadataMessage),
  artifacts: fileArtifactMessage,
  artifactVersions: fileVersionMessage,
  subscriptions: subscriptionMessage,
}

type Name = keyof Store

const names = Object.keys(COLLECTIONS) as readonly Name[]
const shape = z.strictObject(Object.fromEntries(names.map((name) => [name, z.array(z.record(z.string(), z.unknown())).optional()])))

/** Stops the start with a sentence that names the position in the file. */
const fail = (where: string, what: string): never => {
  throw new Error(`data: ${where}: ${what}`)
}

const parse = (content: unknown): Readonly<Record<string, readonly Draft[] | undefined>> => {
  const result = shape.safeParse(content)
  if (result.success) return result.data as Readonly<Record<string, readonly Draft[] | undefined>>
  const [issue] = result.error.issues
  return fail(issue?.path.join('.') || 'top level', `${issue?.message} (collections are ${names.join(', ')})`)
}

/** Restores the row of members that an API answer hydrates, and its key if the API does not show it. */
const OWN_UIDS: Partial<Record<Name, (draft: Draft) => Draft>> = {
  roleBindings: ({ identity, role, group: _group, ...draft }) => ({
    ...draft,
    identityUid: draft['identityUid'] ?? (identity as Draft | undefined)?.['uid'],
    roleUid: draft['roleUid'] ?? (role as Draft | undefined)?.['uid'],
  }),
  groupInvites: ({ role: _role, ttl: _ttl, ...draft }) => draft,
  externalGroupRoleMappings: (draft) => ({ ...draft, identityProviderUid: draft['identityProviderUid'] ?? parentOf(String(draft['uid'])) }),
  termsAcceptances: (draft) => ({ ...draft, uid: `${draft['orgUid']}/${draft['docId']}` }),
  documents: (draft) => ({ ...draft, uid: draft['id'] }),
  vulnerabilityMetadata: (draft) => ({ ...draft, uid: draft['id'] }),
  images: (draft) => ({ ...draft, uid: imageUid(String(draft['repoUid']), String(draft['digest'])) }),
}

const decodeAt = (where: string, message: Message, draft: Draft): Draft => {
  const unknown = Object.keys(draft).find((key) => memberOf(message, key) === undefined)
  if (unknown !== undefined) fail(where, `has no member ${JSON.stringify(unknown)}`)
  try {
    return decode(message, draft)
  } catch (error) {
    return fail(where, (error as Error).message)
  }
}

/** Collections whose rows have no uid, or an id in its place. */
const KEYED: ReadonlySet<Name> = new Set<Name>([
  'termsAcceptances',
  'images',
  'documents',
  'vulnerabilityMetadata',
  'artifacts',
  'artifactVersions',
])

const toRow = (name: Name, where: string, draft: Draft, now: string): Row => {
  const message = COLLECTIONS[name]
  const decoded = decodeAt(where, message, draft)
  const dates = Object.fromEntries(['createTime', 'updateTime'].filter((key) => key in message.fields).map((key) => [key, now]))
  const expiry = name === 'groupInvites' ? { expirationTime: now } : {}
  const own = OWN_UIDS[name]?.(decoded) ?? decoded
  const row = fill(message, { ...dates, ...expiry, ...own }) as unknown as Row
  if (!KEYED.has(name) && !validUid(row.uid)) fail(`${where}.uid`, 'must be 40 hex digits, followed by /16 hex digits for each level below')
  return row
}

const rowsOf = (name: Name, drafts: readonly Draft[], now: string): readonly Row[] => {
  const seen = new Set<string>()
  return drafts.map((draft, index) => {
    const row = toRow(name, `${name}[${index}]`, draft, now)
    if (seen.has(row.uid)) fail(`${name}[${index}].uid`, `${row.uid} is there twice`)
    seen.add(row.uid)
    return row
  })
}

/** The collection that must hold the parents of a collection's rows. Groups, identities and roles may also be root rows. */
const PARENTS: Partial<Record<Name, Name>> = {
  groups: 'groups',
  identities: 'groups',
  identityProviders: 'groups',
  roles: 'groups',
  roleBindings: 'groups',
  groupInvites: 'groups',
  externalGroupRoleMappings: 'identityProviders',
  repos: 'groups',
  tags: 'repos',
  advisories: 'groups',
  subscriptions: 'groups',
}

const ROOTED: ReadonlySet<Name> = new Set(['groups', 'identities', 'roles'])

const checkParents = (rows: Readonly<Record<Name, readonly Row[]>>): void => {
  for (const [name, parents] of Object.entries(PARENTS) as [Name, Name][]) {
    const known = new Set(rows[parents].map(({ uid }) => uid))
    const orphan = rows[name].findIndex(({ uid }) => !known.has(parentOf(uid)) && !(ROOTED.has(name) && parentOf(uid) === ''))
    if (orphan >= 0)
      fail(`${name}[${orphan}].uid`, `the file has no ${parents} entry for its parent ${JSON.stringify(parentOf(rows[name][orphan]!.uid))}`)
  }
}

/**
 * Reads the rows of a data file: v2-shaped resources with their uids, by collection. A missing member gets its zero value, a missing time
 * the start of the sandbox (`now`, RFC 3339). For a wrong file it throws a sentence that names the position.
 */
const readRows = (content: unknown, now: string): Rows => {
  const given = parse(content)
  const rows = Object.fromEntries(names.map((name) => [name, rowsOf(name, given[name] ?? [], now)])) as Readonly<
    Record<Name, readonly Row[]>
  >
  checkParents(rows)
  return rows as Rows
}

/** The demo users that the file does not bind. Only they get bindings here. */
const unbound = (rows: Rows, users: readonly DemoUser[]): readonly DemoUser[] =>
  users.filter((user) => !rows.roleBindings?.some(({ identityUid }) => identityUid === userUid(user)))

/** Among several organizations, `acme.dev` belongs to the outsider, so that the outsider's token proves isolation with a file too. */
const usersOf = (group: Group, organizations: readonly Group[]): readonly DemoUser[] =>
  group.name === 'acme.dev' && organizations.length > 1 ? ['outsider'] : MEMBERS

/** A file is not expected to list images, which have no v2 form. If it lists none, images are made up for its tags. */
const imagesBehind = (rows: Rows): Rows => {
  const byRepo = groupBy(rows.tags ?? [], ({ uid }) => parentOf(uid))
  return { images: [...byRepo].flatMap(([repo, tags]) => planImages(repo, tags)) }
}

/**
 * The dataset of a file's content. It always contains the built-in roles and the demo users. The demo tokens are bound at every
 * organization of the file.
 */
export const fileDataset = (content: unknown, now: number): Dataset => {
  const rows = readRows(content, new Date(now).toISOString())
  const organizations = (rows.groups ?? []).filter(({ uid }) => inRoot(uid))
  const shown = organizations.find(({ name }) => name === 'example.com') ?? organizations[0]
  if (!shown) throw new Error('data: groups: the file has no organization (a group with a uid of 40 hex digits)')
  const bindings = organizations.flatMap((group) => bindUsers(group.uid, unbound(rows, usersOf(group, organizations))))
  const ground: Rows = { roles: builtInRoleRows, identities: userRows, roleBindings: bindings }
  return { rows: [ground, imagesBehind(rows), rows], organization: shown.uid }
}
