import { requireCapability } from '../../auth/rights.ts'
import { callerOf, type Query, readQuery } from '../../http/route.ts'
import type { Filter } from '../../lists.ts'
import { snakeCase } from '../../messages/message.ts'
import { pointsOf, remembering } from '../../scans.ts'
import { alreadyExists } from '../../status.ts'
import { tags } from '../../v2/registry/tags.ts'
import { actOf, create, createAct, type Resource, uidParam } from '../../v2/resource.ts'
import type { Tag, TagPoint } from '../../world/model.ts'
import { parentOf, type World } from '../../world/store.ts'
import { flag, list, message, object, readOnly, text, time } from '../message.ts'
import { encode, type Operation } from '../operation.ts'
import { answerOf, deleteOperation, listOperation, readBody, relaxed, replaceOperation, type Written } from '../operations.ts'

/** Tag (facts §4.2): a child of its repo. */
export const tag = message(
  'Tag',
  [
    readOnly(text('id', { from: 'uid' })),
    text('name'),
    text('digest'),
    readOnly(time('last_updated', { from: 'updateTime' })),
    flag('deprecated'),
    list(text('bundles')),
  ],
  ['updated_at'],
)

const tagHistory = message('TagHistory', [time('update_timestamp', { from: 'updateTime' }), text('digest')])

const tagHistoryList = message('TagHistoryList', [list(object(tagHistory)('items'))])

/** v1 omits what a parameter excludes; the service's own filters omit what no parameter includes (facts §4.2). */
const inverted = [
  ['exclude_referrers', 'include_referrers'],
  ['exclude_dates', 'include_dates'],
  ['exclude_epochs', 'include_epochs'],
] as const

/** The filters of a read of tags that accepts the parameters `known` beside the three exclusions. v1 ignores all others. */
export function tagFilters(query: Query, ...known: readonly ('name' | 'digest' | 'updated_since')[]): readonly Filter<Tag>[] {
  const names: readonly string[] = known
  const same = query.pairs.filter(([key]) => names.includes(snakeCase(key)))
  const included = inverted.map(([exclude, include]) => [include, String(!query.flag(exclude))] as const)
  return tags.filters?.(readQuery([...same, ...included])) ?? []
}

/** The most rows returned; the newest ones are kept (semantics §9.2). */
const MAX_ROWS = 1_000

/** True if a time lies between the query's `start` and `end`, both inclusive. A missing one does not bound. */
const between = (query: Query): ((point: TagPoint) => boolean) => {
  const start = query.time('start') ?? Number.NEGATIVE_INFINITY
  const end = query.time('end') ?? Number.POSITIVE_INFINITY
  return ({ updateTime }) => Date.parse(updateTime) >= start && Date.parse(updateTime) <= end
}

/** The targets of a tag and their times, oldest first. A missing tag has none. v2 does not offer this (facts §22). */
export const tagHistoryOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/tags/{parent_id=**}/history',
  answer: (ask, world) => {
    const uid = uidParam(ask, 'parent_id')
    requireCapability(world, callerOf(ask), 'tag.list', uid)
    const tag = world.store.tags.get(uid)
    const items = (tag ? pointsOf(tag) : []).filter(between(ask.query)).slice(-MAX_ROWS)
    return encode({ items }, tagHistoryList, world.options.v1Dialect)
  },
}

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
    const act = createAct(v1Tags, actOf(ask, world), uidParam(ask, 'repo_id'))
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
