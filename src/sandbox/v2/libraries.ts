import { hasCapabilitySomewhere } from '../auth/rights.ts'
import type { Caller } from '../auth/sts.ts'
import { type Ask, callerOf, ok, type Query, type Route } from '../http/route.ts'
import type { Sortable } from '../lists.ts'
import { choice, DATED, int32, int64, messageType, outputText, render, text, valuesOf } from '../messages/message.ts'
import { invalidField, notFound } from '../status.ts'
import type { Artifact, ArtifactVersion } from '../world/model.ts'
import { groupBy, type Store, type World } from '../world/store.ts'
import { pageAnswer } from './resource.ts'

const PACKAGE = 'chainguard.platform.libraries.v2'

/** By number (facts §18). */
const ECOSYSTEMS = valuesOf('ECOSYSTEM', 'JAVA', 'PYTHON')

/** (semantics §3.14) */
export const artifactMessage = messageType(`${PACKAGE}.Artifact`, {
  uid: outputText,
  name: text(),
  description: text(),
  ecosystem: choice(ECOSYSTEMS),
  latestVersion: text(),
  versionCount: int32(),
  ...DATED,
})

export const artifactVersionMessage = messageType(`${PACKAGE}.ArtifactVersion`, {
  uid: outputText,
  name: text(),
  version: text(),
  description: text(),
  ...DATED,
  sizeBytes: int64(),
})

/** The number of artifacts of one ecosystem. */
const countMessage = messageType(`${PACKAGE}.GetArtifactCountResponse.EcosystemCount`, {
  ecosystem: choice(ECOSYSTEMS),
  totalCount: int64(),
})

/** The catalog belongs to no group. A caller who may read artifacts anywhere reads all of it; for others it is empty. */
const mayRead = (world: World, caller: Caller): boolean => hasCapabilitySomewhere(world, caller, 'libraries.artifacts.list')

/** The artifacts of `ecosystems` that are visible to `caller`. */
export const artifactsIn = (world: World, caller: Caller, ecosystems: readonly string[]): readonly Artifact[] =>
  mayRead(world, caller) ? world.store.artifacts.values().filter(({ ecosystem }) => ecosystems.includes(ecosystem)) : []

const versionsByArtifact = ({ artifactVersions }: Store): ReadonlyMap<string, readonly ArtifactVersion[]> =>
  artifactVersions.derived('by artifact', () => groupBy(artifactVersions.values(), ({ artifactUid }) => artifactUid))

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

const byName: Sortable<Artifact> = { name: ({ name }) => name }
const byVersion: Sortable<ArtifactVersion> = { name: ({ name }) => name, version: ({ version }) => version }

/** The requested ecosystems. v2 requires at least one (semantics §3.14). */
const readEcosystems = (query: Query): readonly string[] => {
  const asked = query.choices('ecosystems', ECOSYSTEMS).filter((ecosystem) => ecosystem !== ECOSYSTEMS[0])
  return asked.length > 0 ? asked : invalidField('ecosystems', 'is required')
}

const listArtifacts = (ask: Ask, world: World) => {
  const ecosystems = readEcosystems(ask.query)
  const search = searchOf(ask.query)
  const rows = searchArtifacts(artifactsIn(world, callerOf(ask), ecosystems), search, world.store)
  const key = JSON.stringify([ecosystems, search])
  const list = { rows, key, sortable: byName, order: { name: 'name', descending: false } }
  return pageAnswer(ask, world, 'artifacts', artifactMessage, list)
}

const listVersions = (ask: Ask, world: World) => {
  const uid = ask.params['artifact_id'] ?? ''
  if (!world.store.artifacts.get(uid)) notFound('libraries.Artifact', uid)
  const rows = versionsOf(world, callerOf(ask), uid).filter(isBuilt)
  const list = { rows, key: uid, sortable: byVersion, order: { name: 'version', descending: true } }
  return pageAnswer(ask, world, 'artifactVersions', artifactVersionMessage, list)
}

const count = (ask: Ask, world: World) => {
  const counts = countArtifacts(world, callerOf(ask), readEcosystems(ask.query))
  return ok({ counts: counts.map((row) => render(countMessage, row)) })
}

const path = '/libraries/v2/artifacts'

/** Everything below `/libraries/v2` (semantics §3.14). An artifact id is one segment of the path. */
export const libraryRoutes: readonly Route[] = [
  { method: 'GET', template: path, handle: listArtifacts },
  { method: 'GET', template: `${path}/{artifact_id}/versions`, handle: listVersions },
  { method: 'GET', template: `${path}/count`, handle: count },
]
