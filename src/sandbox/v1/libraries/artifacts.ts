import type { Query } from '../../http/query.ts'
import { callerOf } from '../../http/route.ts'
import { artifactsIn, countArtifacts, isBuilt, searchArtifacts, searchOf, versionsOf } from '../../v2/libraries/catalog.ts'
import { unscopedPage } from '../../v2/unscoped-list.ts'
import { encode, encodeResource } from '../encode.ts'
import { arrange } from '../list.ts'
import { artifactCount, artifactList, artifactVersion, ecosystem } from '../messages/artifacts.ts'
import type { Operation } from '../operation.ts'
import { ownPaging } from '../own-paging.ts'
import { v1Names } from '../vocabulary.ts'

const path = '/libraries/v1/artifacts'

/** The ecosystems that v1 counts if none is named: those of the catalog (facts §6.1, ASSUMPTIONS.md). */
const SERVED = ['ECOSYSTEM_JAVA', 'ECOSYSTEM_PYTHON']

/** The requested ecosystems by their stored names. v1 does not require one. */
const readEcosystems = (query: Query): readonly string[] => {
  const asked = query.choices('ecosystems', v1Names(ecosystem)).filter((name) => name !== ecosystem.zero)
  return asked.length === 0 ? SERVED : asked.map((name) => ecosystem.toStored.get(name) ?? name)
}

/** One page: this list had pages in v1 already (facts §10.2). Its order is fixed. */
const listArtifacts: Operation = {
  method: 'GET',
  template: path,
  answer: (ask, world) => {
    const ecosystems = readEcosystems(ask.query)
    // Every artifact has built versions, so that only a malformed value makes a difference.
    ask.query.flag('include_upstream')
    const search = searchOf(ask.query)
    const rows = searchArtifacts(artifactsIn(world, callerOf(ask), ecosystems), search, world.store)
    const list = { rows, key: JSON.stringify([ecosystems, search]), order: { name: 'name', descending: false } }
    const {
      rows: items,
      totalCount,
      ...envelope
    } = unscopedPage({ query: ownPaging(ask.query, 'page_size', 'page_token', 'skip') }, world, {
      ...list,
      sortable: { name: ({ name }) => name },
    })
    return encode({ ...envelope, items, totalArtifacts: Number(totalCount) }, artifactList, world.options.v1Dialect)
  },
}

/** Every version of an artifact, sorted as text in descending order, upstream ones only on request. An unknown artifact has none. */
const listVersions: Operation = {
  method: 'GET',
  template: `${path}/{id}/versions`,
  answer: (ask, world) => {
    const upstream = ask.query.flag('include_upstream')
    const rows = versionsOf(world, callerOf(ask), ask.params['id'] ?? '').filter((row) => upstream || isBuilt(row))
    const shown = arrange(rows, ask.query, { name: 'version', descending: true }, { version: ({ version }) => version })
    return { items: shown.map((row) => encodeResource(row, artifactVersion, world.options.v1Dialect)) }
  },
}

const count: Operation = {
  method: 'GET',
  template: `${path}/count`,
  answer: (ask, world) => {
    const counted = countArtifacts(world, callerOf(ask), readEcosystems(ask.query))
    const counts = counted.map(({ ecosystem: name, totalCount }) => ({ ecosystem: name, totalArtifacts: Number(totalCount) }))
    return encode({ counts }, artifactCount, world.options.v1Dialect)
  },
}

/** The operations below `/libraries/v1` that have a v2 counterpart (facts §6). */
export const libraryOperations: readonly Operation[] = [listArtifacts, listVersions, count]
