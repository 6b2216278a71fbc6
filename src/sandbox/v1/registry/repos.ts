import { requireCapability } from '../../auth/rights.ts'
import { type Ask, callerOf, readQuery } from '../../http/route.ts'
import { readUidp, selectRows } from '../../lists.ts'
import { violations } from '../../messages/field-mask.ts'
import { alreadyExists, invalidArgument } from '../../status.ts'
import { readmeMessage, repos } from '../../v2/registry/repos.ts'
import { imageUid } from '../../v2/registry/tags.ts'
import { actOf, BY_NAME, create, createAct, uidParam } from '../../v2/resource.ts'
import type { Image, Repo, Tag } from '../../world/model.ts'
import type { World } from '../../world/store.ts'
import { choice, flag, int64, list, map, message, object, optional, prefixed, readOnly, text, time, uint32 } from '../message.ts'
import { type Decoded, encode, type Operation } from '../operation.ts'
import { answerOf, deleteOperation, listOperation, readBody, replace, replaceOperation, type Written } from '../operations.ts'
import { tag, tagFilters } from './tags.ts'

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

export const archs = message('Archs', [list(text('archs', { from: 'architectures' }))])
export const size = message('Size', [int64('size'), text('arch', { from: 'architecture' })])

/** The image in the path. v1 answers a missing one like an image without any architecture. */
function imageOf(ask: Ask, world: World): Image | undefined {
  const repo = uidParam(ask, 'repo_id')
  requireCapability(world, callerOf(ask), ['repo.list', 'manifest.metadata.list'], repo)
  return world.store.images.get(imageUid(repo, ask.params['digest'] ?? ''))
}

const sizesOf = (ask: Ask, world: World) => imageOf(ask, world)?.sizes ?? {}

const template = (what: string): string => `/registry/v1/repos/{repo_id=**}/digests/{digest}/${what}`

/** The data of an image by its digest (facts §4.3). */
export const imageOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: template('architectures'),
    answer: (ask, world) => encode({ architectures: Object.keys(sizesOf(ask, world)) }, archs, world.options.v1Dialect),
  },
  {
    method: 'GET',
    template: template('size'),
    answer: (ask, world) => {
      const architecture = ask.query.text('arch') || 'amd64'
      const sizes = sizesOf(ask, world)
      const known = Object.hasOwn(sizes, architecture) ? { size: sizes[architecture], architecture } : {}
      return encode(known, size, world.options.v1Dialect)
    },
  },
]

/** v1's readme is a member of its repo. A writer of the repo writes it too, and a body without it clears it (facts §13.6). */
const readmeOf = (body: Decoded): string => String(body['readme'] ?? '')

const written: Written<Repo> = {
  resource: repos,
  path: '/registry/v1/repos',
  message: repo,
  view: (row, { store }) => ({ ...row, readme: store.readmes.get(row.uid)?.content ?? '' }),
  accept: (body) => {
    const found = violations(readmeMessage, { content: readmeOf(body) })
    if (found.length > 0) invalidArgument(found.map(({ description }) => ({ field: 'readme', description })))
    return body
  },
  beside: (uid, body, { store }) => store.readmes.put({ uid, content: readmeOf(body) }),
}

/** Every member that a v1 client writes. A PUT resets the missing ones (facts §13). */
const REPLACED = ['name', 'description', 'catalogTier', 'bundles', 'aliases', 'activeTags', 'sync_config', 'customOverlay']

/** A create replaces an existing repo unless the client requires a new one (facts §4.1). */
const createRepo: Operation = {
  method: 'POST',
  template: `${written.path}/{parent_id=**}`,
  message: repo,
  answer: (ask, world) => {
    const act = createAct(repos, actOf(ask, world), uidParam(ask, 'parent_id'))
    const mustBeNew = ask.query.flag('prevent_existing')
    const body = readBody(written, ask)
    const found = world.store.repos.named(act.parent, String(body['name'] ?? ''))[0]
    if (found && mustBeNew) alreadyExists('registry.Repo', found.name)
    const row = found ? replace(repos, ask, world, found.uid, body, REPLACED) : create(repos, act, body)
    return answerOf(written, row, body, world)
  },
}

/** Repos (facts §4.1). */
export const repoOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true, filters: BY_NAME.filters }),
  createRepo,
  replaceOperation(written, () => REPLACED),
  deleteOperation(written),
]

/** RepoTagsSummary (facts §4.4). */
export const tagsSummary = message('RepoTagsSummary', [
  text('id'),
  int64('tag_count'),
  time('last_updated'),
  object(tag)('latest_tag'),
  text('latest_version'),
])

/** The row with the highest rank. Among equals, which are in uid order, the one with the smallest uid. */
const highest = <R>(rows: readonly R[], rank: (row: R) => number): R | undefined =>
  rows.reduce<R | undefined>((best, row) => (best === undefined || rank(row) > rank(best) ? row : best), undefined)

/** The tag named latest, otherwise the newest tag. */
const latestOf = (rows: readonly Tag[]): Tag | undefined =>
  rows.find(({ name }) => name === 'latest') ?? highest(rows, ({ updateTime }) => Date.parse(updateTime))

const MOVING = new Set(['latest', 'latest-dev'])

/** The longest other name of the image behind `latest`: its most precise version (facts §4.4). */
function versionOf(latest: Tag | undefined, rows: readonly Tag[]): string {
  const others = rows.filter(({ uid, name, digest }) => uid !== latest?.uid && digest === latest?.digest && !MOVING.has(name))
  return highest(others, ({ name }) => name.length)?.name ?? ''
}

function summaryOf(uid: string, rows: readonly Tag[]) {
  const latestTag = latestOf(rows)
  return {
    id: uid,
    tagCount: rows.length,
    lastUpdated: highest(rows, ({ updateTime }) => Date.parse(updateTime))?.updateTime,
    latestTag,
    latestVersion: versionOf(latestTag, rows),
  }
}

/** Two summaries of repos for a console (facts §4.4). */
export const summaryOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: '/registry/v1/repotagssummary/{repo_id=**}',
    answer: (ask, world) => {
      const uid = uidParam(ask, 'repo_id')
      requireCapability(world, callerOf(ask), 'tag.list', uid)
      const childrenOf = readUidp(readQuery([['uidp.children_of', uid]]))
      const rows = selectRows(world.store.tags, childrenOf, tagFilters(ask.query))
      return encode(summaryOf(uid, rows), tagsSummary, world.options.v1Dialect)
    },
  },
  {
    method: 'GET',
    template: '/registry/v1/repocountbysource/{id=**}',
    answer: (ask, world) => {
      const uid = uidParam(ask, 'id')
      requireCapability(world, callerOf(ask), 'repo.list', uid)
      // Counts every repo of every organization, not only visible ones.
      const count = world.store.repos.values().filter(({ sync_config }) => sync_config?.source === uid).length
      return encode({ count }, repoCount, world.options.v1Dialect)
    },
  },
]

const exposedPort = message('ImageConfig.ExposedPort', [])
const volume = message('ImageConfig.Volume', [])

/** ImageConfig (facts §22): the start configuration of a container of the image. */
const imageConfig = message('ImageConfig', [
  text('user'),
  map(object(exposedPort)('exposed_ports')),
  list(text('env')),
  list(text('entrypoint')),
  list(text('cmd')),
  map(object(volume)('volumes')),
  text('working_dir'),
  map(text('labels')),
  text('stop_signal'),
])

/** The start configuration of the images of a repo, by repo name. The store does not hold it and v2 has no such data (facts §22). */

type StartConfig = {
  readonly entrypoint: readonly string[]
  readonly cmd?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly env?: readonly string[]
  readonly workingDir?: string
  readonly stopSignal?: string
}

const START_CONFIGS: Readonly<Record<string, StartConfig>> = {
  apko: { entrypoint: ['/usr/bin/apko'], cmd: ['--help'] },
  busybox: { entrypoint: ['/bin/sh', '-l'] },
  go: { entrypoint: ['/usr/bin/go'], cmd: ['help'], env: ['GOPATH=/go', 'GOTOOLCHAIN=local'], workingDir: '/go' },
  jdk: { entrypoint: ['/usr/bin/jshell'], env: ['JAVA_HOME=/usr/lib/jvm/default-jvm'] },
  nginx: {
    entrypoint: ['/usr/sbin/nginx'],
    cmd: ['-c', '/etc/nginx/nginx.conf', '-e', '/dev/stderr', '-g', 'daemon off;'],
    ports: ['8080/tcp'],
    stopSignal: 'SIGQUIT',
  },
  node: { entrypoint: ['/usr/bin/node'], env: ['NODE_ENV=production'], workingDir: '/app' },
  php: { entrypoint: ['/usr/bin/php'], cmd: ['--help'] },
  postgres: {
    entrypoint: ['/usr/bin/docker-entrypoint.sh'],
    cmd: ['postgres'],
    ports: ['5432/tcp'],
    volumes: ['/var/lib/postgresql/data'],
  },
  python: { entrypoint: ['/usr/bin/python3'], env: ['PYTHONDONTWRITEBYTECODE=1'] },
  redis: { entrypoint: ['/usr/bin/redis-server'], ports: ['6379/tcp'], volumes: ['/data'], workingDir: '/data' },
  ruby: { entrypoint: ['/usr/bin/ruby'], workingDir: '/work' },
  static: { entrypoint: [] },
}

const NON_ROOT = '65532'
const PATH = 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Keys without values: the contract's form of a set. */
const keys = (names: readonly string[] = []) => Object.fromEntries(names.map((name) => [name, {}]))

const pairs = (values: Readonly<Record<string, string>> = {}): readonly string[] =>
  Object.entries(values).map(([name, value]) => `${name}=${value}`)

/** The configuration of an image: that of its repo's images, with the additions of the organization (`custom_overlay`). */
const configOf = ({ name, customOverlay }: Repo, { digest }: Image) => {
  const start = START_CONFIGS[name] ?? { entrypoint: [] }
  return {
    user: customOverlay?.accounts?.runAs || NON_ROOT,
    exposedPorts: keys(start.ports),
    env: [PATH, 'SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt', ...(start.env ?? []), ...pairs(customOverlay?.environment)],
    entrypoint: start.entrypoint,
    cmd: start.cmd ?? [],
    volumes: keys(start.volumes),
    workingDir: start.workingDir ?? '',
    labels: {
      'org.opencontainers.image.title': name,
      'org.opencontainers.image.version': digest.slice(7, 19),
      ...customOverlay?.annotations,
    },
    stopSignal: start.stopSignal ?? '',
  }
}

/** The start configuration of a container. A missing image or architecture has an empty one. */
export const imageConfigOperation: Operation = {
  method: 'GET',
  template: template('imageconfig'),
  answer: (ask, world) => {
    const image = imageOf(ask, world)
    const repo = world.store.repos.get(uidParam(ask, 'repo_id'))
    const known = image !== undefined && Object.hasOwn(image.sizes, ask.query.text('arch') || 'amd64')
    return encode(repo && known ? configOf(repo, image) : {}, imageConfig, world.options.v1Dialect)
  },
}
