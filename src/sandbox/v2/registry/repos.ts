import { isDeepStrictEqual } from 'node:util'
import { hasCapability, requireCapability } from '../../auth/rights.ts'
import { type Ask, callerOf, ok, type Route } from '../../http/route.ts'
import { among, applyMask, each, maskOf, matching, NAMED, violations } from '../../messages/field-mask.ts'
import {
  choice,
  DATED,
  decode,
  flag,
  formatTimestamp,
  int32,
  listOf,
  mapOf,
  messageType,
  nested,
  outputText,
  render,
  snakeCase,
  text,
  time,
  valuesOf,
} from '../../messages/message.ts'
import { alreadyExists, type FieldViolation, invalidArgument } from '../../status.ts'
import { PUBLIC_CATALOG_UID, type Readme, type Repo, type SyncConfig } from '../../world/model.ts'
import { isBelow, parentOf, type Store, timestamp, validUid, type World } from '../../world/store.ts'
import { type Act, BY_NAME, existing, resourceOf, routesOf, uidParam } from '../resource.ts'

const PACKAGE = 'chainguard.platform.registry.v2.CustomOverlay'

const NAMED_CONTENT = { name: text({ required: true }), content: text({ required: true }) }

/** Refuses keys that the platform sets itself (semantics §3.10). */
const withoutPrefixes =
  (label: string, prefixes: readonly string[]) =>
  (value: Readonly<Record<string, string>>): string | undefined => {
    const reserved = Object.keys(value).find((key) => prefixes.some((prefix) => key.startsWith(prefix)))
    return reserved === undefined ? undefined : `${label} ${JSON.stringify(reserved)} is reserved`
  }

const CONTENTS = messageType(`${PACKAGE}.ImageContents`, {
  packages: listOf(text()),
  runtimeRepositories: listOf(text()),
  runtimeKeyring: listOf(nested(messageType(`${PACKAGE}.ImageContents.RuntimeKeyringEntry`, NAMED_CONTENT))),
})

const ACCOUNTS = messageType(`${PACKAGE}.Accounts`, {
  runAs: text(),
  users: listOf(
    nested({
      name: `${PACKAGE}.Accounts.User`,
      fields: { username: text({ required: true }), uid: int32(), gid: int32(), groupName: text(), shell: text(), homeDir: text() },
    }),
  ),
  groups: listOf(
    nested({
      name: `${PACKAGE}.Accounts.Group`,
      fields: { groupname: text({ required: true }), gid: int32(), members: listOf(text()) },
    }),
  ),
})

const CERTIFICATES = messageType(`${PACKAGE}.Certificates`, {
  additional: listOf(nested(messageType(`${PACKAGE}.Certificates.AdditionalEntry`, NAMED_CONTENT))),
  providers: listOf(text()),
})

/** A customer's additions to an image (semantics §3.10). */
const customOverlayMessage = messageType(PACKAGE, {
  contents: nested(CONTENTS),
  environment: mapOf(text(), { check: withoutPrefixes('variable', ['CHAINGUARD_']) }),
  annotations: mapOf(text(), { check: withoutPrefixes('annotation', ['dev.chainguard.', 'org.opencontainers.']) }),
  accounts: nested(ACCOUNTS),
  certificates: nested(CERTIFICATES),
})

const CATALOG_TIERS = valuesOf('CATALOG_TIER', 'APPLICATION', 'BASE', 'FIPS', 'AI', 'DEVTOOLS', 'COMMERCIAL')

const BUNDLES = ['application', 'base', 'byol', 'ai', 'ai-gpu', 'featured', 'fips', 'commercial', 'emeritoss']

/** The bundle names a repo or a tag may carry (semantics §3.0). */
export const bundles = listOf(text(), { check: each(among('bundle', BUNDLES)) })

/** An alias names a repo path and a tag: `python:latest`, `chainguard/python:3.12`. */
const ALIAS = /^[a-zA-Z0-9_.\-/]*[a-zA-Z0-9_.-]:[a-zA-Z0-9_.-]+$/

/** The members that only the service and its staff set are not output-only: a different value is refused, not ignored. */
const syncConfigMessage = messageType('chainguard.platform.registry.v2.SyncConfig', {
  source: text({ required: true }),
  uniqueTags: flag(),
  expirationTime: time(),
  google: text(),
  amazon: text(),
  azure: text(),
  apkoOverlay: text(),
  gracePeriod: flag(),
})

export const repoMessage = messageType('chainguard.platform.registry.v2.Repo', {
  ...NAMED,
  catalogTier: choice(CATALOG_TIERS),
  bundles,
  aliases: listOf(text(), { check: each(matching('alias', ALIAS)) }),
  activeTags: listOf(text()),
  sync_config: nested(syncConfigMessage),
  customOverlay: nested(customOverlayMessage),
  ...DATED,
})

/** A new synced repo expires after two weeks unless staff set another time (semantics §3.10). */
const EXPIRES_AFTER_MS = 14 * 24 * 60 * 60 * 1000

const INHERITED = ['catalogTier', 'bundles', 'aliases', 'activeTags'] as const
const SERVICE_SET = ['uniqueTags', 'expirationTime', 'apkoOverlay', 'gracePeriod'] as const

/** The uid of a source: a repo uid, `organization/repo` or `cgr.dev/organization/repo`. Undefined for a missing repo. */
const resolveSource = (store: Store, source: string): string | undefined => {
  if (validUid(source)) return store.repos.get(source)?.uid
  const [organization = '', name = ''] = source.replace(/^cgr\.dev\//, '').split('/', 2)
  return store.groups.named('', organization).flatMap((group) => store.repos.named(group.uid, name))[0]?.uid
}

const mayPull = ({ world, caller }: Act, source: string): boolean =>
  isBelow(PUBLIC_CATALOG_UID, source) || hasCapability(world, caller, 'repo.list', source)

/**
 * A source must be a repo that the caller may pull. The error does not tell which of the two failed: that would reveal which repos exist.
 */
const sourceViolations = (row: Repo, previous: Repo | undefined, act: Act): readonly FieldViolation[] => {
  if (!row.sync_config || row.sync_config.source === previous?.sync_config?.source) return []
  const source = resolveSource(act.world.store, row.sync_config.source)
  const fine = source !== undefined && mayPull(act, source)
  return fine ? [] : [{ field: 'sync_config.source', description: 'must name a repo you can pull from' }]
}

const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === '' ||
  value === false ||
  value === 'CATALOG_TIER_UNSPECIFIED' ||
  (Array.isArray(value) && value.length === 0)

/** `row` with each unset member of `names` taken from `source`. */
const withDefaults = <T extends object>(row: T, source: T | undefined, names: readonly (keyof T)[]): T => ({
  ...row,
  ...Object.fromEntries(names.filter((name) => isUnset(row[name])).map((name) => [name, source?.[name] ?? row[name]])),
})

/** `row` without the members that a synced repo inherits. */
const uninherited = (row: Repo): Repo => ({ ...row, catalogTier: 'CATALOG_TIER_UNSPECIFIED', bundles: [], aliases: [], activeTags: [] })

const sourceUid = ({ source }: SyncConfig, { store }: World): string => resolveSource(store, source) ?? source

/** A repo that begins to sync: its source becomes a uid, it inherits members and the description, and it gets an expiry. */
const startSync = (row: Repo, sync: SyncConfig, world: World, now: Date): Repo => {
  const source = sourceUid(sync, world)
  const expirationTime = sync.expirationTime ?? formatTimestamp(now.getTime() + EXPIRES_AFTER_MS)
  const synced = { ...row, sync_config: { ...sync, source, expirationTime } }
  return withDefaults(synced, world.store.repos.get(source), [...INHERITED, 'description'])
}

/** A repo that stays synced: members set by the service keep their values if the request omits them. */
const keepSync = (row: Repo, sync: SyncConfig, previous: SyncConfig, world: World): Repo => {
  const source = sourceUid(sync, world)
  const kept = { ...row, sync_config: { ...withDefaults(sync, previous, SERVICE_SET), source } }
  return source === previous.source ? kept : withDefaults(uninherited(kept), world.store.repos.get(source), INHERITED)
}

/** The repo to store for a request at a moment. `previous` is undefined for a create. */
const settleSync = (row: Repo, previous: Repo | undefined, world: World, now = world.clock.now()): Repo => {
  if (!row.sync_config) return row
  if (previous?.sync_config) return keepSync(row, row.sync_config, previous.sync_config, world)
  // A repo with its own tier takes over the source's. Only a create can ask for another one, which is refused below.
  return startSync(previous ? uninherited(row) : row, row.sync_config, world, now)
}

const changed = <T extends object>(
  names: readonly (keyof T & string)[],
  before: T | undefined,
  after: T,
  prefix: string,
): readonly FieldViolation[] =>
  names
    .filter((name) => !isDeepStrictEqual(before?.[name], after[name]))
    .map((name) => ({ field: prefix + snakeCase(name), description: 'may only be changed by Chainguard' }))

/** The repo as it would be if the request had left everything to the service. */
const baseline = (row: Repo, previous: Repo | undefined, world: World, now: Date): Repo => {
  if (previous?.sync_config || !row.sync_config) return previous ?? row
  const { source, google, amazon, azure } = row.sync_config
  const sync: SyncConfig = { source, google, amazon, azure, uniqueTags: false, apkoOverlay: '', gracePeriod: false }
  return startSync(uninherited(row), sync, world, now)
}

/**
 * Inherited members, and sync members set by the service, change only with repo.internal.admin at `scope`. Values repeated unchanged pass
 * (semantics §3.10).
 */
const inheritedViolations = (row: Repo, previous: Repo | undefined, act: Act, scope: string): readonly FieldViolation[] => {
  // Both use one moment: if the clock ticked in between, the request would seem to ask for an expiry.
  const now = act.world.clock.now()
  const before = baseline(row, previous, act.world, now)
  if (!before.sync_config || hasCapability(act.world, act.caller, 'repo.internal.admin', scope)) return []
  const after = settleSync(row, previous, act.world, now)
  // Another source has its own tier, bundles, aliases and active tags.
  const moves = after.sync_config && previous?.sync_config && after.sync_config.source !== previous.sync_config.source
  return [
    ...(moves ? [] : changed(INHERITED, before, after, '')),
    ...(after.sync_config ? changed(SERVICE_SET, before.sync_config, after.sync_config, 'sync_config.') : []),
  ]
}

const refuseTakenName = (row: Repo, world: World): void => {
  const siblings = world.store.repos.named(parentOf(row.uid), row.name)
  if (siblings.some(({ uid }) => uid !== row.uid)) alreadyExists('registry.Repo', row.name)
}

const check = (row: Repo, previous: Repo | undefined, act: Act, scope: string): readonly FieldViolation[] => {
  refuseTakenName(row, act.world)
  const source = sourceViolations(row, previous, act)
  return source.length > 0 ? source : inheritedViolations(row, previous, act, scope)
}

/** Deletes everything stored for a repo with it (semantics §3.10). */
const removeContents = ({ uid }: Repo, { store }: World): void => {
  for (const tag of store.tags.below(uid)) store.tags.delete(tag.uid)
  for (const image of store.images.values()) if (image.uid.startsWith(`${uid}@`)) store.images.delete(image.uid)
  store.readmes.delete(uid)
}

/** Repos (specification §2, §4; semantics §3.10). */
export const repos = resourceOf('registry.Repo', 'repos', {
  message: repoMessage,
  capabilities: { list: 'repo.list', create: 'repo.create', update: 'repo.update', delete: 'repo.delete' },
  ...BY_NAME,
  checkCreate: (row, act) => check(row, undefined, act, act.parent),
  checkUpdate: (row, act) => check(row, act.previous, act, row.uid),
  prepare: (row, { world }) => settleSync(row, undefined, world),
  revise: (row, { world, previous }) => settleSync(row, previous, world),
  cascade: removeContents,
})

export const repoRoutes = routesOf(repos)

/** Elements that run code, event handlers and script links: the parts of a text that a sanitizer would remove. */
const UNSAFE_HTML = /<\s*(?:\/\s*)?(?:script|iframe|object|embed|style|form)\b|<[^<>]*\son[a-z]+\s*=|javascript:/i

export const readmeMessage = messageType('chainguard.platform.registry.v2.RepoReadme', {
  uid: outputText,
  content: text({ check: (content: string) => (UNSAFE_HTML.test(content) ? 'content must not hold unsafe HTML' : undefined) }),
})

const readmeOf = (world: World, uid: string): Readme => world.store.readmes.get(uid) ?? { uid, content: '' }

const get = (ask: Ask, world: World) => {
  const uid = uidParam(ask)
  requireCapability(world, callerOf(ask), 'repo.list', uid)
  existing(repos, world, uid)
  return ok(render(readmeMessage, readmeOf(world, uid)))
}

const patch = (ask: Ask, world: World) => {
  const uid = uidParam(ask)
  requireCapability(world, callerOf(ask), ['repo.update', 'repo.internal.admin'], uid)
  const mask = maskOf(readmeMessage, ask.query.text('update_mask'), ask.body)
  const input = decode(readmeMessage, ask.body)
  const repo = existing(repos, world, uid)
  if (mask.length === 0) return ok(render(readmeMessage, readmeOf(world, uid)))
  const readme = applyMask(readmeMessage, readmeOf(world, uid), input, mask)
  const found = violations(readmeMessage, readme)
  if (found.length > 0) invalidArgument(found)
  world.store.readmes.put(readme)
  if (world.options.readmeMovesRepo) world.store.repos.put({ ...repo, updateTime: timestamp(world.clock) })
  return ok(render(readmeMessage, readme))
}

const template = '/registry/v2/repos/{uid=**}/readme'

/** The readme, a sub-resource of a repo. Writing it requires a capability that no customer role has (semantics §3.10). */
export const readmeRoutes: readonly Route[] = [
  { method: 'GET', template, handle: get },
  { method: 'PATCH', template, handle: patch },
]
