import { failure, items, type Transcript, transcript } from './transcript.ts'

/** A list by the id of a missing resource, where the operator wants errors (`errors.notFound`). */
const missing = (operation: string, request: string, call: string): Transcript =>
  transcript(operation, 'an id that names nothing is an error when the operator says so')
    .sent(request)
    .under({ notFound: 'error' })
    .asks(call, 'NOT_FOUND')
    .refuses('NOT_FOUND')

export const missingById: readonly Transcript[] = [
  missing('iam.groups.list', 'GET /iam/v1/groups?id=org', 'GET /iam/v2/groups/org'),
  missing('iam.role_bindings.list', 'GET /iam/v1/rolebindings?id=org/b', 'GET /iam/v2/roleBindings/org/b'),
  missing('iam.account_associations.list', 'GET /iam/v1/account_associations?group=org', 'GET /iam/v2/accountAssociations/org'),
  missing('registry.repos.list', 'GET /registry/v1/repos?id=org/r', 'GET /registry/v2/repos/org/r'),
  missing('registry.tags.list', 'GET /registry/v1/tags?id=org/r/t&name=x', 'GET /registry/v2/tags/org/r/t'),
  missing('vulnerabilities.advisories.list', 'GET /vulnerabilities/v1/advisories?id=org/a', 'GET /vulnerabilities/v2/advisories/org/a'),
  {
    ...missing('registry.tags.list', 'GET /registry/v1/tags?id=org/r/t', 'GET /registry/v2/tags/org/r/t'),
    title: 'and so is one that v2 takes for no uid',
    calls: [{ call: 'GET /registry/v2/tags/org/r/t', answer: 'INVALID_ARGUMENT' }],
    reply: failure('NOT_FOUND', 'Not found: tag "org/r/t"'),
  },
  {
    ...missing('registry.tags.list', 'GET /registry/v1/tags?id=/', ''),
    title: 'or that none can be',
    calls: [],
    reply: failure('NOT_FOUND', 'Not found: tag "/"'),
  },
  {
    ...missing('registry.tags.list', 'GET /registry/v1/tags?id=org/r/t', 'GET /registry/v2/tags/org/r/t'),
    title: 'what the caller may not see is no more than not listed',
    calls: [{ call: 'GET /registry/v2/tags/org/r/t', answer: 'PERMISSION_DENIED' }],
    status: 200,
    reply: items(),
  },
]

/** A request with a value of the wrong type. It is refused with v1's names, and v2 is not asked. */
const refused = (operation: string, request: string, body: unknown, field: string, description: string): Transcript =>
  transcript(operation, `${field} ${description}`).sent(request, body).finds([field, description])

const TIME = 'must be an RFC 3339 timestamp'
const DURATION = 'must be a duration in seconds such as "3600s"'
const SCIM = 'POST /iam/v1/identityProviders/org/idp'

export const refusals: readonly Transcript[] = [
  refused('iam.identity_providers.generate_scim_token', `${SCIM}:generateScimToken`, { expire_time: 'soon' }, 'expire_time', TIME),
  refused('iam.identity_providers.regenerate_scim_token', `${SCIM}:regenerateScimToken`, { expireTime: 'soon' }, 'expire_time', TIME),
  refused('iam.group_invites.create', 'POST /iam/v1/group_invites/org', { ttl: '1h' }, 'ttl', DURATION),
  transcript('registry.tags.list', 'updated_since is a time')
    .sent('GET /registry/v1/tags?updated_since=yesterday')
    .refuses('INVALID_ARGUMENT', 'parsing field "updated_since": "yesterday" is not an RFC 3339 time'),
]

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
    transcript(operation, 'every scope at once, in either spelling')
      .sent(`GET ${[`${v1}?${SPOKEN}`, filter?.[0]].filter(Boolean).join('&')}`)
      .asks(`GET ${[`${v2}?${SENT}`, filter?.[1], always, 'page_size=200'].filter(Boolean).join('&')}`, { [pluralOf(v2)]: [] })
      .answers(empty[0], empty[1]),
    transcript(operation, 'a flag that is none')
      .sent(`GET ${v1}?uidp.in_root=perhaps`)
      .refuses('INVALID_ARGUMENT', 'parsing field "in_root": strconv.ParseBool: parsing "perhaps": invalid syntax'),
  ],
)
