import type { Query } from '../../http/query.ts'
import type { Route } from '../../http/route.ts'
import { equals, type Filter } from '../../lists/filter.ts'
import { flag, type Message, outputText, outputTime, text } from '../../messages/message.ts'
import { matching } from '../../messages/validate.ts'
import type { Tag } from '../../world/registry-model.ts'
import { getRoute, listRoute } from '../reads.ts'
import type { Resource } from '../resource.ts'
import { createRoute, deleteRoute } from '../writes.ts'
import { bundles } from './repo-message.ts'
import { remembering } from './tag-history.ts'

export const tagMessage: Message = {
  name: 'chainguard.platform.registry.v2.Tag',
  fields: {
    uid: outputText,
    name: text({ required: true, check: matching('name', /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/) }),
    digest: text({ required: true, check: matching('digest', /^sha256:[0-9a-f]{64}$/) }),
    updateTime: outputTime,
    deprecated: flag(),
    bundles,
  },
}

/** Tags that a list omits by default (semantics §3.11). */
const HIDDEN: readonly (readonly [parameter: string, pattern: RegExp])[] = [
  ['include_referrers', /^sha256-/],
  ['include_dates', /-20[0-9]{6}$/],
  ['include_epochs', /-r[0-9]+$/],
]

/** A filter by exact name finds a tag of any form (ASSUMPTIONS.md, "Registry"). */
const hiddenFilter = (query: Query): readonly Filter<Tag>[] => {
  const hidden = HIDDEN.filter(([parameter]) => !query.flag(parameter))
  if (query.text('name') !== '' || hidden.length === 0) return []
  const patterns = hidden.map(([, pattern]) => pattern)
  return [
    {
      key: `without ${hidden.map(([parameter]) => parameter)}`,
      matches: ({ name }) => !patterns.some((pattern) => pattern.test(name)),
    },
  ]
}

const updatedSinceFilter = (query: Query): readonly Filter<Tag>[] => {
  const since = query.time('updated_since')
  return since === undefined ? [] : [{ key: `updated_since=${since}`, matches: ({ updateTime }) => Date.parse(updateTime) > since }]
}

/** Tags (specification §2, §4; semantics §3.11). They have no update: creating an existing tag replaces it and keeps its uid. */
export const tags: Resource<Tag> = {
  type: 'registry.Tag',
  message: tagMessage,
  path: '/registry/v2/tags',
  plural: 'tags',
  table: (store) => store.tags,
  capabilities: { list: 'tag.list', create: 'tag.create', delete: 'tag.delete' },
  parent: { type: 'registry.Repo', table: (store) => store.repos },
  sortable: { name: ({ name }) => name, digest: ({ digest }) => digest },
  filters: (query) => [
    ...equals<Tag>(query, 'name', ({ name }) => name),
    ...equals<Tag>(query, 'digest', ({ digest }) => digest),
    ...updatedSinceFilter(query),
    ...hiddenFilter(query),
  ],
  prepare: (row, { world, parent }) => {
    const [previous] = world.store.tags.named(parent, row.name)
    return remembering({ ...row, uid: previous?.uid ?? row.uid }, previous)
  },
}

export const tagRoutes: readonly Route[] = [listRoute(tags), getRoute(tags), createRoute(tags), deleteRoute(tags)]
