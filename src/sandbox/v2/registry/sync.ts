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

/** A new synced repo expires after two weeks unless staff set another time (semantics §3.10). */
const EXPIRES_AFTER_MS = 14 * 24 * 60 * 60 * 1000

const INHERITED = ['catalogTier', 'bundles', 'aliases', 'activeTags'] as const
const SERVICE_SET = ['uniqueTags', 'expirationTime', 'apkoOverlay', 'gracePeriod'] as const

/** The uid of a source: a repo uid, `organization/repo` or `cgr.dev/organization/repo`. Undefined for a missing repo. */
export const resolveSource = (store: Store, source: string): string | undefined => {
  if (validUid(source)) return store.repos.get(source)?.uid
  const [organization = '', name = ''] = source.replace(/^cgr\.dev\//, '').split('/', 2)
  return store.groups.named('', organization).flatMap((group) => store.repos.named(group.uid, name))[0]?.uid
}

const mayPull = ({ world, caller }: Act, source: string): boolean =>
  isBelow(PUBLIC_CATALOG_UID, source) || hasCapability(world, caller, 'repo.list', source)

/**
 * A source must be a repo that the caller may pull. The error does not tell which of the two failed: that would reveal which repos exist.
 */
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
export const settleSync = (row: Repo, previous: Repo | undefined, world: World, now = world.clock.now()): Repo => {
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
export const inheritedViolations = (row: Repo, previous: Repo | undefined, act: Act, scope: string): readonly FieldViolation[] => {
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
