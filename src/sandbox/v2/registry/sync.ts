import { isDeepStrictEqual } from 'node:util'
import { hasCapability } from '../../auth/rights/authorize.ts'
import { snakeCase } from '../../http/case.ts'
import { formatTimestamp } from '../../messages/timestamp.ts'
import { PUBLIC_CATALOG_UID } from '../../public-catalog.ts'
import type { FieldViolation } from '../../status.ts'
import type { Repo, SyncConfig } from '../../world/registry-model.ts'
import type { Store } from '../../world/store.ts'
import { isBelow, validUid } from '../../world/uid.ts'
import type { World } from '../../world/world.ts'
import type { Act } from '../resource.ts'

/** A new synced repo expires after two weeks unless staff say otherwise (semantics §3.10). */
const EXPIRES_AFTER_MS = 14 * 24 * 60 * 60 * 1000

const INHERITED = ['catalogTier', 'bundles', 'aliases', 'activeTags'] as const
const SERVICE_SET = ['uniqueTags', 'expirationTime', 'apkoOverlay', 'gracePeriod'] as const

/** The uid a source means: a repo uid, `organization/repo` or `cgr.dev/organization/repo`; undefined when there is no such repo. */
export const resolveSource = (store: Store, source: string): string | undefined => {
  if (validUid(source)) return store.repos.get(source)?.uid
  const [organization = '', name = ''] = source.replace(/^cgr\.dev\//, '').split('/', 2)
  return store.groups.named('', organization).flatMap((group) => store.repos.named(group.uid, name))[0]?.uid
}

const mayPull = ({ world, caller }: Act, source: string): boolean =>
  isBelow(PUBLIC_CATALOG_UID, source) || hasCapability(world, caller, 'repo.list', source)

/** A source must name a repo the caller may pull; saying which of the two failed would tell strangers what exists. */
export const sourceViolations = (row: Repo, previous: Repo | undefined, act: Act): readonly FieldViolation[] => {
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

/** `row` with each of `names` it leaves unset taken from `source`. */
const withDefaults = <T extends object>(row: T, source: T | undefined, names: readonly (keyof T)[]): T => ({
  ...row,
  ...Object.fromEntries(names.filter((name) => isUnset(row[name])).map((name) => [name, source?.[name] ?? row[name]])),
})

/** `row` without what it would inherit. */
const uninherited = (row: Repo): Repo => ({ ...row, catalogTier: 'CATALOG_TIER_UNSPECIFIED', bundles: [], aliases: [], activeTags: [] })

const sourceUid = ({ source }: SyncConfig, { store }: World): string => resolveSource(store, source) ?? source

/** A repo that starts to be synced: source as a uid, inherited members and description from the source, an expiry. */
const startSync = (row: Repo, sync: SyncConfig, world: World, now: Date): Repo => {
  const source = sourceUid(sync, world)
  const expirationTime = sync.expirationTime ?? formatTimestamp(now.getTime() + EXPIRES_AFTER_MS)
  const synced = { ...row, sync_config: { ...sync, source, expirationTime } }
  return withDefaults(synced, world.store.repos.get(source), [...INHERITED, 'description'])
}

/** A repo that stays synced: the members the service sets keep their values where the request left them out. */
const keepSync = (row: Repo, sync: SyncConfig, previous: SyncConfig, world: World): Repo => {
  const source = sourceUid(sync, world)
  const kept = { ...row, sync_config: { ...withDefaults(sync, previous, SERVICE_SET), source } }
  return source === previous.source ? kept : withDefaults(uninherited(kept), world.store.repos.get(source), INHERITED)
}

/** The repo to store for what a request asks at a moment; `previous` is undefined for a create. */
export const settleSync = (row: Repo, previous: Repo | undefined, world: World, now = world.clock.now()): Repo => {
  if (!row.sync_config) return row
  if (previous?.sync_config) return keepSync(row, row.sync_config, previous.sync_config, world)
  // A repo that had a tier of its own takes over the source's; only a create can ask for another one, and is refused below.
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

/** What the repo would be if the request had left everything to the service. */
const baseline = (row: Repo, previous: Repo | undefined, world: World, now: Date): Repo => {
  if (previous?.sync_config || !row.sync_config) return previous ?? row
  const { source, google, amazon, azure } = row.sync_config
  const sync: SyncConfig = { source, google, amazon, azure, uniqueTags: false, apkoOverlay: '', gracePeriod: false }
  return startSync(uninherited(row), sync, world, now)
}

/**
 * What a synced repo inherits, and the sync members the service sets, change only with repo.internal.admin at `scope`; values sent back
 * as they were pass (semantics §3.10).
 */
export const inheritedViolations = (row: Repo, previous: Repo | undefined, act: Act, scope: string): readonly FieldViolation[] => {
  // One moment for both, or an expiry would seem to be asked for whenever the clock ticks between them.
  const now = act.world.clock.now()
  const before = baseline(row, previous, act.world, now)
  if (!before.sync_config || hasCapability(act.world, act.caller, 'repo.internal.admin', scope)) return []
  const after = settleSync(row, previous, act.world, now)
  // Another source brings its own tier, bundles, aliases and active tags along.
  const moves = after.sync_config && previous?.sync_config && after.sync_config.source !== previous.sync_config.source
  return [
    ...(moves ? [] : changed(INHERITED, before, after, '')),
    ...(after.sync_config ? changed(SERVICE_SET, before.sync_config, after.sync_config, 'sync_config.') : []),
  ]
}
