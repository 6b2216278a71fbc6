import { requireCapability } from '../../auth/rights.ts'
import { type Ask, callerOf, ok, type Query, type Route } from '../../http/route.ts'
import { equals, type Filter } from '../../lists.ts'
import { matching } from '../../messages/field-mask.ts'
import { flag, messageType, outputText, outputTime, text } from '../../messages/message.ts'
import { remembering } from '../../scans.ts'
import { notFound } from '../../status.ts'
import type { Image, Tag } from '../../world/model.ts'
import type { World } from '../../world/store.ts'
import { existing, resourceOf, routesOf, uidParam } from '../resource.ts'
import { bundles, readmeRoutes, repoRoutes, repos } from './repos.ts'

/** The row key of a digest in a repo. */
export const imageUid = (repo: string, digest: string): string => `${repo}@${digest}`

const imageOf = (ask: Ask, world: World): Image => {
  const repo = uidParam(ask, 'repo_uid')
  requireCapability(world, callerOf(ask), ['repo.list', 'manifest.metadata.list'], repo)
  existing(repos, world, repo)
  const digest = ask.params['digest'] ?? ''
  return world.store.images.get(imageUid(repo, digest)) ?? notFound('registry.Image', digest)
}

const architectures = (ask: Ask, world: World) => ok({ architectures: Object.keys(imageOf(ask, world).sizes) })

const size = (ask: Ask, world: World) => {
  const image = imageOf(ask, world)
  const architecture = ask.query.text('architecture') || 'amd64'
  const bytes = Object.hasOwn(image.sizes, architecture) ? image.sizes[architecture] : undefined
  return ok({ size: bytes ?? notFound('registry.Image', `${image.digest} ${architecture}`), architecture })
}

const template = (what: string): string => `/registry/v2/repos/{repo_uid=**}/digests/{digest}/${what}`

/** The data of an image by its digest (semantics §3.12). */
const imageRoutes: readonly Route[] = [
  { method: 'GET', template: template('architectures'), handle: architectures },
  { method: 'GET', template: template('size'), handle: size },
]

export const tagMessage = messageType('chainguard.platform.registry.v2.Tag', {
  uid: outputText,
  name: text({ required: true, check: matching('name', /^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,127}$/) }),
  digest: text({ required: true, check: matching('digest', /^sha256:[0-9a-f]{64}$/) }),
  updateTime: outputTime,
  deprecated: flag(),
  bundles,
})

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
export const tags = resourceOf('registry.Tag', 'tags', {
  message: tagMessage,
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
})

const tagRoutes = routesOf(tags)

/** Everything below `/registry/v2`. */
export const registryRoutes: readonly Route[] = [...repoRoutes, ...readmeRoutes, ...tagRoutes, ...imageRoutes]
