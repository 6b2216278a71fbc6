import {
  choice,
  elsewhere,
  flag,
  gone,
  jsonName,
  lossy,
  made,
  mayBeWithheld,
  object,
  objects,
  optionalInV1,
  prefixed,
  readOnly,
  refused,
  resource,
  text,
  textMap,
  texts,
  time,
  uint,
} from '../../src/tables/language.ts'

export const catalogTier = prefixed(
  'CatalogTier',
  'CATALOG_TIER_',
  ['UNKNOWN', 'CATALOG_TIER_UNSPECIFIED'],
  [
    ['APPLICATION', 4, 1],
    ['BASE', 5, 2],
    ['FIPS', 6, 3],
    ['AI', 7, 4],
    ['DEVTOOLS', 8, 5],
    ['COMMERCIAL', 9, 6],
  ],
)

/** What v1 says to callers who are not its staff (semantics §3.10). v2 lets nobody write these members. */
const BY_STAFF = 'may only be changed by Chainguard'

/** Mirroring from another repo. Members that the server decides are output only in v2 (facts §4.1). */
const syncConfig = {
  source: text('source'),
  unique_tags: refused(BY_STAFF, flag('uniqueTags')),
  expiration: refused(BY_STAFF, time('expirationTime')),
  google: text('google'),
  amazon: text('amazon'),
  azure: text('azure'),
  sync_apks: gone(flag, 'deprecated in v1, gone in v2'),
  apko_overlay: refused(BY_STAFF, text('apkoOverlay')),
  grace_period: refused(BY_STAFF, flag('gracePeriod')),
}

const customOverlay = {
  contents: object('contents', {
    packages: texts('packages'),
    runtime_repositories: texts('runtimeRepositories'),
    runtime_keyring: objects('runtimeKeyring', { name: text('name'), content: text('content') }),
  }),
  environment: textMap('environment'),
  annotations: textMap('annotations'),
  accounts: object('accounts', {
    groups: objects('groups', { gid: uint('gid'), group_name: text('groupname'), members: texts('members') }),
    users: objects('users', {
      uid: uint('uid'),
      user_name: text('username'),
      gid: lossy('v1 tells an absent gid from 0, v2 does not', optionalInV1(uint('gid'))),
      group_name: text('groupName'),
      shell: text('shell'),
      home_dir: text('homeDir'),
    }),
    run_as: text('runAs'),
  }),
  certificates: object('certificates', {
    additional: objects('additional', { name: text('name'), content: text('content') }),
    providers: texts('providers'),
  }),
}

/** A container repository. Its readme is a separate resource in v2 (`readme.ts`). */
export const repo = resource('repo', {
  v2: '/registry/v2/repos',
  plural: 'repos',
  stamps: ['created_at', 'updated_at', 'group_id'],
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    catalog_tier: choice('catalogTier', catalogTier),
    bundles: texts('bundles'),
    readme: made('content of GET and PATCH /registry/v2/repos/{uid}/readme', mayBeWithheld(elsewhere(text('content')))),
    sync_config: jsonName('sync_config', object('sync_config', syncConfig)),
    custom_overlay: object('customOverlay', customOverlay),
    aliases: texts('aliases'),
    create_time: readOnly(time('createTime')),
    active_tags: texts('activeTags'),
    description: text('description'),
  },
})
