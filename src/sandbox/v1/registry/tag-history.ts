import { requireCapability } from '../../auth/rights/authorize.ts'
import type { Query } from '../../http/query.ts'
import { callerOf } from '../../http/route.ts'
import { uidParam } from '../../v2/reads.ts'
import { pointsOf } from '../../v2/registry/tag-history.ts'
import type { TagPoint } from '../../world/registry-model.ts'
import { encode } from '../encode.ts'
import { tagHistoryList } from '../messages/tag-history.ts'
import type { Operation } from '../operation.ts'

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
