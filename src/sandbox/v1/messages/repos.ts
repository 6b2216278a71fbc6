import { choice, flag, int64, list, map, message, object, optional, readOnly, text, time, uint32 } from '../message.ts'
import { prefixed } from '../vocabulary.ts'

const catalogTier = prefixed('CatalogTier', 'CATALOG_TIER_', 4, 'APPLICATION', 'BASE', 'FIPS', 'AI', 'DEVTOOLS', 'COMMERCIAL')

const syncConfig = message('SyncConfig', [
  text('source'),
  flag('unique_tags'),
  time('expiration', { from: 'expirationTime' }),
  text('google'),
  text('amazon'),
  text('azure'),
  // Deprecated in v1 and gone from the store: always false.
  readOnly(flag('sync_apks')),
  text('apko_overlay'),
  flag('grace_period'),
])

const named = [text('name'), text('content')]

const contents = message('ImageContents', [
  list(text('packages')),
  list(text('runtime_repositories')),
  list(object(message('ImageContents.RuntimeKeyringEntry', named))('runtime_keyring')),
])

const accountGroup = message('ApkoConfig.Accounts.Group', [uint32('gid'), text('group_name', { from: 'groupname' }), list(text('members'))])

const accountUser = message('ApkoConfig.Accounts.User', [
  uint32('uid'),
  text('user_name', { from: 'username' }),
  optional(uint32('gid')),
  text('group_name'),
  text('shell'),
  text('home_dir'),
])

const accounts = message('ApkoConfig.Accounts', [list(object(accountGroup)('groups')), list(object(accountUser)('users')), text('run_as')])

const certificates = message('CustomOverlay.Certificates', [
  list(object(message('CustomOverlay.Certificates.AdditionalEntry', named))('additional')),
  list(text('providers')),
])

const customOverlay = message('CustomOverlay', [
  object(contents)('contents'),
  map(text('environment')),
  map(text('annotations')),
  object(accounts)('accounts'),
  object(certificates)('certificates'),
])

/** Repo (facts §4.1): the readme is inline in v1, and `sync_config` keeps its snake_case JSON name. */
export const repo = message(
  'Repo',
  [
    readOnly(text('id', { from: 'uid' })),
    text('name'),
    choice(catalogTier)('catalog_tier'),
    list(text('bundles')),
    text('readme'),
    object(syncConfig)('sync_config', { json: 'sync_config' }),
    object(customOverlay)('custom_overlay'),
    list(text('aliases')),
    readOnly(time('create_time')),
    list(text('active_tags')),
    text('description'),
  ],
  ['created_at', 'updated_at', 'group_id'],
)

export const repoCount = message('RepoCount', [int64('count')])
