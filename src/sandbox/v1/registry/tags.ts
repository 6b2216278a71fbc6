import { alreadyExists } from '../../status.ts'
import { remembering } from '../../v2/registry/tag-history.ts'
import { tags } from '../../v2/registry/tags.ts'
import type { Resource } from '../../v2/resource.ts'
import { create } from '../../v2/writes.ts'
import type { Tag } from '../../world/registry-model.ts'
import { parentOf } from '../../world/uid.ts'
import type { World } from '../../world/world.ts'
import { listOperation } from '../list.ts'
import { tag } from '../messages/tags.ts'
import type { Operation } from '../operation.ts'
import { relaxed } from '../relaxed.ts'
import { answerOf, createAct, deleteOperation, readBody, replaceOperation, type Written } from '../writes.ts'
import { tagFilters } from './tag-filters.ts'

function refuseTakenName(row: Tag, { store }: World): void {
  const siblings = store.tags.named(parentOf(row.uid), row.name)
  if (siblings.some(({ uid }) => uid !== row.uid)) alreadyExists('registry.Tag', row.name)
}

/** The service's tags with the abilities of v1 alone: update a tag, rename it, omit its digest (facts §26). */
const v1Tags: Resource<Tag> = {
  ...relaxed(tags, 'digest'),
  capabilities: { ...tags.capabilities, update: 'tag.update' },
  checkUpdate: (row, { world }) => {
    refuseTakenName(row, world)
    return []
  },
  revise: (row, { previous }) => remembering(row, previous),
}

const written: Written<Tag> = { resource: v1Tags, path: '/registry/v1/tags', message: tag }

/** Creating an existing tag moves it. Without a digest its target stays (facts §4.2, semantics §9.4). */
const createTag: Operation = {
  method: 'POST',
  template: `${written.path}/{repo_id=**}`,
  message: tag,
  answer: (ask, world) => {
    const act = createAct(ask, world, v1Tags, 'repo_id')
    const body = readBody(written, ask)
    const found = world.store.tags.named(act.parent, String(body['name'] ?? ''))[0]
    const row = create(v1Tags, act, { ...body, digest: body['digest'] || (found?.digest ?? '') })
    return answerOf(written, row, body, world)
  },
}

/** A PUT replaces flags and bundles. Name and digest keep their values if the body omits them. */
const replaced = (body: Readonly<Record<string, unknown>>): readonly string[] => [
  'deprecated',
  'bundles',
  ...['name', 'digest'].filter((member) => Boolean(body[member])),
]

/** Tags (facts §4.2). */
export const tagOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true, filters: (query) => tagFilters(query, 'name', 'digest', 'updated_since') }),
  createTag,
  replaceOperation(written, replaced),
  deleteOperation(written),
]
