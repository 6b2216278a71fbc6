import { hasCapabilitySomewhere } from '../../auth/rights/authorize.ts'
import type { Caller } from '../../caller.ts'
import type { Query } from '../../http/query.ts'
import type { Artifact, ArtifactVersion } from '../../world/library-model.ts'
import type { Store } from '../../world/store.ts'
import type { World } from '../../world/world.ts'

/** The catalog belongs to no group. A caller who may read artifacts anywhere reads all of it; for others it is empty. */
const mayRead = (world: World, caller: Caller): boolean => hasCapabilitySomewhere(world, caller, 'libraries.artifacts.list')

/** The artifacts of `ecosystems` that are visible to `caller`. */
export const artifactsIn = (world: World, caller: Caller, ecosystems: readonly string[]): readonly Artifact[] =>
  mayRead(world, caller) ? world.store.artifacts.values().filter(({ ecosystem }) => ecosystems.includes(ecosystem)) : []

const versionsByArtifact = ({ artifactVersions }: Store): ReadonlyMap<string, readonly ArtifactVersion[]> =>
  artifactVersions.derived('by artifact', () => {
    const found = new Map<string, ArtifactVersion[]>()
    for (const row of artifactVersions.values()) found.set(row.artifactUid, [...(found.get(row.artifactUid) ?? []), row])
    return found
  })

/** Every version of an artifact visible to `caller`, upstream ones included, uid ascending. */
export const versionsOf = (world: World, caller: Caller, artifact: string): readonly ArtifactVersion[] =>
  mayRead(world, caller) ? (versionsByArtifact(world.store).get(artifact) ?? []) : []

/** True if the version was built here. v2 shows no other (facts §6.1). */
export const isBuilt = ({ sourceType }: ArtifactVersion): boolean => sourceType !== 'SOURCE_TYPE_UPSTREAM_REGISTRY'

const isRemediated = (store: Store, uid: string): boolean =>
  (versionsByArtifact(store).get(uid) ?? []).some(({ sourceType }) => sourceType === 'SOURCE_TYPE_INTERNAL_REMEDIATED')

/** The parameters of a list of artifacts beside its ecosystems, the same in both versions of the API (facts §6). */
export const searchOf = (query: Query) => ({
  query: query.text('query').toLowerCase(),
  cudaVersion: query.text('cuda_version'),
  remediated: query.flag('remediated'),
})

/** The artifacts that a search finds. Unset parts do not narrow it. */
export const searchArtifacts = (rows: readonly Artifact[], search: ReturnType<typeof searchOf>, store: Store): readonly Artifact[] =>
  rows.filter(
    ({ uid, name, cudaVersions = [] }) =>
      name.toLowerCase().includes(search.query) &&
      (search.cudaVersion === '' || cudaVersions.includes(search.cudaVersion)) &&
      (!search.remediated || isRemediated(store, uid)),
  )

/** The number of artifacts in each of `ecosystems`, without duplicates, in the order of the request. */
export const countArtifacts = (world: World, caller: Caller, ecosystems: readonly string[]) =>
  [...new Set(ecosystems)].map((ecosystem) => ({ ecosystem, totalCount: String(artifactsIn(world, caller, [ecosystem]).length) }))
