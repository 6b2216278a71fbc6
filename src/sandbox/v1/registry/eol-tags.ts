import { visible } from '../../auth/rights/authorize.ts'
import type { Query } from '../../http/query.ts'
import { callerOf } from '../../http/route.ts'
import { type Filter, filterKey, readUidp, selectRows } from '../../lists/filter.ts'
import { SORTABLE } from '../../lists/order.ts'
import { type Paging, pageOf, readPaging } from '../../lists/paging.ts'
import { invalidField } from '../../status.ts'
import type { Tag } from '../../world/registry-model.ts'
import { parentOf } from '../../world/uid.ts'
import type { World } from '../../world/world.ts'
import { encode } from '../encode.ts'
import { eolTagList } from '../messages/tags.ts'
import type { Operation } from '../operation.ts'
import { longPages, ownPaging } from '../own-paging.ts'
import { eolTagOf } from './eol.ts'
import { tagFilters } from './tag-filters.ts'

/** v1's own paging of this list. Without a size it returns everything; no size is too large (semantics §8). */
function pagingOf(query: Query, world: World, key: string): Paging {
  const own = longPages(ownPaging(query, 'page_size', 'page_token'))
  if (own.integer('page_size') < 0) invalidField('page_size', 'must be non-negative')
  const paging = readPaging(own, world, { sortable: SORTABLE, order: { name: 'uid', descending: false }, filterKey: key })
  return { ...paging, size: own.integer('page_size') || Number.POSITIVE_INFINITY }
}

/** Signatures and the like are stored as tags, but this list never shows them, not even by name. */
const noReferrers: Filter<Tag> = { key: 'no referrers', matches: ({ name }) => !name.startsWith('sha256-') }

const rowOf = (tag: Tag, { store, clock }: World) => {
  const repo = store.repos.get(parentOf(tag.uid))
  return eolTagOf(repo ?? { name: '', activeTags: [] }, tag, clock.now())
}

/** Every tag with its end-of-life data, not only the ended ones (semantics §8). */
export const eolTagOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/eoltags',
  answer: (ask, world) => {
    const uidp = readUidp(ask.query)
    const filters = [...tagFilters(ask.query, 'name'), noReferrers]
    const inReach = visible(world, callerOf(ask), 'tag.list')
    const rows = selectRows(world.store.tags, uidp, filters).filter(({ uid }) => inReach(uid))
    const page = pageOf(world, rows, pagingOf(ask.query, world, filterKey(uidp, filters)), SORTABLE)
    const items = page.rows.map((tag) => rowOf(tag, world))
    return encode({ items, nextPageToken: page.nextPageToken }, eolTagList, world.options.v1Dialect)
  },
}
