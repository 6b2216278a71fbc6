import type { Api, Query } from '../api.ts'
import * as make from '../fixtures.ts'
import { anything, uid } from '../match.ts'
import * as shape from '../shapes/shapes.ts'

/** Three rows below one parent. */
export interface Rows {
  readonly parent: string
  readonly ids: readonly string[]
  /** The query that limits the list to them. */
  readonly scope: Query
}

/** A list operation in the terms that all lists share (facts §10). */
export interface ListKind {
  readonly operation: string
  readonly path: string
  /** Creates rows named `a`, `b` and `c`, in this order; `ids` have the same order. */
  readonly make: (api: Api) => Promise<Rows>
  /** The parameter that selects one row, if there is one (facts §11), and the member with its value. */
  readonly byId?: 'id' | 'group'
  readonly uidp: boolean
  /** Returns the row named `a`. */
  readonly row: (rows: Rows) => unknown
  readonly named: boolean
  /** A sort field in the order of creation, if there is one. */
  readonly made?: 'created_at' | 'last_updated'
  readonly newestFirst?: true
}

const NAMES = ['a', 'b', 'c']

async function inTurn(create: (name: string) => Promise<{ id: string }>): Promise<string[]> {
  const ids: string[] = []
  for (const name of NAMES) ids.push((await create(name)).id)
  return ids
}

/** Creates rows below a folder of their own. */
const below = (create: (api: Api, parent: string, name: string) => Promise<{ id: string }>) => async (api: Api) => {
  const { id: parent } = await make.folder(api)
  return { parent, ids: await inTurn((name) => create(api, parent, name)), scope: { 'uidp.children_of': parent } }
}

async function inviteRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  const { ids, parent } = await below((_, folder, name) => make.invite(api, folder, viewer, { email: `${name}@example.com` }))(api)
  return { parent, ids, scope: { group: parent } }
}

async function associationRows(api: Api): Promise<Rows> {
  const { id: parent } = await make.folder(api)
  const groups = await inTurn((name) => make.folder(api, name, parent))
  for (const group of groups) await make.association(api, group, { name: api.name() })
  return { parent, ids: groups, scope: { name: api.name() } }
}

async function bindingRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  return below(async (_, parent, name) => {
    const { id } = await make.identity(api, parent, { name })
    return make.binding(api, parent, id, viewer)
  })(api)
}

async function providerRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  const ids = await inTurn((name) => make.provider(api, viewer, { name: api.name(name) }))
  return { parent: api.organization, ids, scope: { 'uidp.ids': ids } }
}

async function mappingRows(api: Api): Promise<Rows> {
  const { id: viewer } = await make.builtIn(api, 'viewer')
  const { id: parent } = await make.provider(api, viewer)
  const ids = await inTurn((name) => make.mapping(api, parent, name, viewer))
  return { parent, ids, scope: { identity_provider_uidp: parent } }
}

async function tagRows(api: Api): Promise<Rows> {
  const { id: group } = await make.folder(api)
  const { id: parent } = await make.repo(api, group)
  return { parent, ids: await inTurn((name) => make.tag(api, parent, { name })), scope: { 'uidp.children_of': parent } }
}

const plain = { byId: 'id', uidp: true, named: true, made: 'created_at' } as const

export const listKinds: readonly ListKind[] = [
  {
    ...plain,
    operation: 'iam.groups.list',
    path: '/iam/v1/groups',
    make: below((api, parent, name) => make.folder(api, name, parent)),
    row: ({ parent }) => shape.group(parent, { name: 'a' }),
  },
  {
    ...plain,
    operation: 'iam.identities.list',
    path: '/iam/v1/identities',
    make: below((api, parent, name) => make.identity(api, parent, { name })),
    row: ({ parent }) => shape.identity(parent, { name: 'a', claim_match: make.shownClaimMatch }),
  },
  {
    ...plain,
    operation: 'iam.roles.list',
    path: '/iam/v1/roles',
    make: below((api, parent, name) => make.role(api, parent, { name })),
    row: ({ parent }) => shape.role(parent, { name: 'a' }),
  },
  {
    ...plain,
    named: false,
    operation: 'iam.role_bindings.list',
    path: '/iam/v1/rolebindings',
    make: bindingRows,
    row: ({ parent }) => shape.listedBinding(parent, { claim_match_issuer: 'https://issuer.example', claim_match_subject: 'robot' }),
  },
  {
    ...plain,
    operation: 'iam.identity_providers.list',
    path: '/iam/v1/identityProviders',
    make: providerRows,
    row: ({ parent }) => shape.provider(parent, uid, { name: anything }),
  },
  {
    uidp: true,
    named: false,
    made: 'created_at',
    operation: 'iam.external_group_role_mappings.list',
    path: '/iam/v1/externalGroupRoleMappings',
    make: mappingRows,
    row: ({ parent }) => shape.mapping(parent, { external_group_id: 'a' }),
  },
  {
    ...plain,
    uidp: false,
    named: false,
    newestFirst: true,
    operation: 'iam.group_invites.list',
    path: '/iam/v1/group_invites',
    make: inviteRows,
    row: ({ parent }) => shape.storedInvite(parent, { email: 'a@example.com' }),
  },
  {
    ...plain,
    byId: 'group',
    uidp: false,
    named: false,
    operation: 'iam.account_associations.list',
    path: '/iam/v1/account_associations',
    make: associationRows,
    row: ({ ids, scope }) => shape.association(ids[0] ?? '', { name: scope['name'], amazon: { account: '123456789012' } }),
  },
  {
    ...plain,
    operation: 'registry.repos.list',
    path: '/registry/v1/repos',
    make: below((api, parent, name) => make.repo(api, parent, { name })),
    row: ({ parent }) => shape.repo(parent, { name: 'a' }),
  },
  {
    ...plain,
    made: 'last_updated',
    operation: 'registry.tags.list',
    path: '/registry/v1/tags',
    make: tagRows,
    row: ({ parent }) => shape.tag(parent, { name: 'a' }),
  },
  {
    byId: 'id',
    uidp: true,
    named: false,
    operation: 'events.subscriptions.list',
    path: '/events/v1/subscriptions',
    make: below((api, parent, name) => make.subscription(api, parent, { sink: `https://localhost:9/${name}` })),
    row: ({ parent }) => shape.subscription(parent, { sink: 'https://localhost:9/a' }),
  },
]
