import type { Query } from '../../http/query.ts'
import { type Ask, callerOf, ok, type Route } from '../../http/route.ts'
import type { Sortable } from '../../lists/order.ts'
import { render } from '../../messages/render.ts'
import { invalidField, notFound } from '../../status.ts'
import type { Artifact, ArtifactVersion } from '../../world/library-model.ts'
import type { World } from '../../world/world.ts'
import { unscopedPage } from '../unscoped-list.ts'
import { artifactMessage, artifactVersionMessage, countMessage, ECOSYSTEMS } from './artifact-message.ts'
import { artifactsIn, countArtifacts, isBuilt, searchArtifacts, searchOf, versionsOf } from './catalog.ts'

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
  const { rows: page, ...envelope } = unscopedPage(ask, world, list)
  return ok({ artifacts: page.map((row) => render(artifactMessage, row)), ...envelope })
}

const listVersions = (ask: Ask, world: World) => {
  const uid = ask.params['artifact_id'] ?? ''
  if (!world.store.artifacts.get(uid)) notFound('libraries.Artifact', uid)
  const rows = versionsOf(world, callerOf(ask), uid).filter(isBuilt)
  const list = { rows, key: uid, sortable: byVersion, order: { name: 'version', descending: true } }
  const { rows: page, ...envelope } = unscopedPage(ask, world, list)
  return ok({ artifactVersions: page.map((row) => render(artifactVersionMessage, row)), ...envelope })
}

const count = (ask: Ask, world: World) => {
  const counts = countArtifacts(world, callerOf(ask), readEcosystems(ask.query))
  return ok({ counts: counts.map((row) => render(countMessage, row)) })
}

const path = '/libraries/v2/artifacts'

/** Everything below `/libraries/v2` (semantics §3.14). An artifact id is one segment of the path. */
export const libraryRoutes: readonly Route[] = [
  { method: 'GET', template: path, auth: 'required', handle: listArtifacts },
  { method: 'GET', template: `${path}/{artifact_id}/versions`, auth: 'required', handle: listVersions },
  { method: 'GET', template: `${path}/count`, auth: 'required', handle: count },
]
