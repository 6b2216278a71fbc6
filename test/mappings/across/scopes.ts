import { failure, items, type Transcript } from '../transcript.ts'

/** A list with the uidp filters: the further query that v2 gets, and the answer if nothing is found. */
interface Scoped {
  readonly operation: string
  readonly v1: string
  readonly v2: string
  /** A further filter, as `v1=v2` query. */
  readonly filter?: readonly [v1: string, v2: string]
  /** The query that v2 always gets. */
  readonly always?: string
  readonly empty?: readonly [specification: unknown, published: unknown]
}

const KINDS = 'include_referrers=true&include_dates=true&include_epochs=true'

const LISTS: readonly Scoped[] = [
  { operation: 'iam.groups.list', v1: '/iam/v1/groups', v2: '/iam/v2/groups', filter: ['name=n', 'name=n'] },
  { operation: 'iam.identities.list', v1: '/iam/v1/identities', v2: '/iam/v2/identities' },
  { operation: 'iam.roles.list', v1: '/iam/v1/roles', v2: '/iam/v2/roles', filter: ['name=n', 'name=n'] },
  { operation: 'iam.role_bindings.list', v1: '/iam/v1/rolebindings', v2: '/iam/v2/roleBindings' },
  {
    operation: 'iam.identity_providers.list',
    v1: '/iam/v1/identityProviders',
    v2: '/iam/v2/identityProviders',
    filter: ['name=n', 'name=n'],
  },
  {
    operation: 'iam.external_group_role_mappings.list',
    v1: '/iam/v1/externalGroupRoleMappings',
    v2: '/iam/v2/externalGroupRoleMappings',
    filter: ['identityProviderUidp=p', 'identity_provider_uid=p'],
  },
  { operation: 'events.subscriptions.list', v1: '/events/v1/subscriptions', v2: '/events/v2/subscriptions' },
  { operation: 'registry.repos.list', v1: '/registry/v1/repos', v2: '/registry/v2/repos', filter: ['name=n', 'name=n'] },
  { operation: 'registry.tags.list', v1: '/registry/v1/tags', v2: '/registry/v2/tags', filter: ['name=n', 'name=n'], always: KINDS },
  {
    operation: 'registry.eol_tags.list',
    v1: '/registry/v1/eoltags',
    v2: '/registry/v2/tags',
    filter: ['name=n', 'name=n'],
    always: 'include_dates=true&include_epochs=true&include_referrers=false',
    empty: [
      { items: [], next_page_token: '' },
      { items: [], nextPageToken: '' },
    ],
  },
]

/** Both spellings in one request, as in real scripts; a truth value in any form; ids any number of times (facts §10.4). */
const SPOKEN = 'uidp.ancestorsOf=a&uidp.descendants_of=b&uidp.childrenOf=c&uidp.in_root=T&uidp.ids=d&uidp.ids=e'
const SENT = 'uidp.ancestors_of=a&uidp.descendants_of=b&uidp.children_of=c&uidp.in_root=true&uidp.ids=d&uidp.ids=e'

/** v2 names the rows like their collection. */
const pluralOf = (v2: string) => v2.split('/').at(-1) ?? ''

export const scopes: readonly Transcript[] = LISTS.flatMap(
  ({ operation, v1, v2, filter, always, empty = [items(), items()] }): Transcript[] => [
    {
      title: 'every scope at once, in either spelling',
      operation,
      request: `GET ${[`${v1}?${SPOKEN}`, filter?.[0]].filter(Boolean).join('&')}`,
      calls: [
        {
          call: `GET ${[`${v2}?${SENT}`, filter?.[1], always, 'page_size=200'].filter(Boolean).join('&')}`,
          answer: { [pluralOf(v2)]: [] },
        },
      ],
      reply: empty[0],
      published: empty[1],
    },
    {
      title: 'a flag that is none',
      operation,
      request: `GET ${v1}?uidp.in_root=perhaps`,
      calls: [],
      status: 400,
      reply: failure('INVALID_ARGUMENT', 'parsing field "in_root": strconv.ParseBool: parsing "perhaps": invalid syntax'),
    },
  ],
)
