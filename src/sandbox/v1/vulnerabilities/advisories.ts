import { requireCapability, visible } from '../../auth/rights/authorize.ts'
import { type Query, readQuery } from '../../http/query.ts'
import { callerOf } from '../../http/route.ts'
import { equals, filterKey, readUidp, scopeOf, selectRows } from '../../lists/filter.ts'
import { SORTABLE, sortRows } from '../../lists/order.ts'
import { pageOf, readPaging } from '../../lists/paging.ts'
import { uidParam } from '../../v2/reads.ts'
import { advisories } from '../../v2/vulnerabilities/advisories.ts'
import { advisoryFilters } from '../../v2/vulnerabilities/advisory-filters.ts'
import type { Advisory, AdvisoryEvent } from '../../world/advisory-model.ts'
import type { Store } from '../../world/store.ts'
import { parentOf } from '../../world/uid.ts'
import { encode } from '../encode.ts'
import { advisoriesList } from '../messages/advisories.ts'
import { advisoryEventList } from '../messages/advisory-events.ts'
import type { Operation } from '../operation.ts'
import { longPages, ownPaging } from '../own-paging.ts'
import { readWindow } from '../window.ts'
import { orderOf, readV1Wish } from './advisory-query.ts'

const path = '/vulnerabilities/v1/advisories'

const sortable = { ...SORTABLE, ...advisories.sortable }

/** The query without `skip`, which this list lacks, and with its order, which is an enum. */
const pagedQuery = (query: Query): Query => {
  const order = orderOf(query)
  const paged = longPages(ownPaging(query, 'page_size', 'page_token'))
  return order === '' ? paged : readQuery([...paged.pairs, ['order_by', order]])
}

/** One page of the visible advisories. */
const listAdvisories: Operation = {
  method: 'GET',
  template: path,
  answer: (ask, world) => {
    const uidp = readUidp(ask.query)
    const filters = [...equals<Advisory>(ask.query, 'id', ({ uid }) => uid), ...advisoryFilters(readV1Wish(ask.query))]
    const key = filterKey(uidp, filters)
    const paging = readPaging(pagedQuery(ask.query), world, { sortable, order: { name: 'uid', descending: false }, filterKey: key })
    const inReach = visible(world, callerOf(ask), 'advisories.list')
    const rows = selectRows(world.store.advisories, uidp, filters).filter(({ uid }) => inReach(uid))
    const { rows: page, ...envelope } = pageOf(world, sortRows(rows, paging.order, sortable), paging, sortable)
    const [first] = page
    // The group of the list: that of its first row, or the requested one (facts §5.1).
    const id = first ? parentOf(first.uid) : scopeOf(uidp)
    return encode({ ...envelope, id, items: page }, advisoriesList, world.options.v1Dialect)
  },
}

/** The advisory of `uid` with its events, or with the one event that `uid` names. */
const eventsAt = ({ advisories: table }: Store, uid: string): { readonly of: string; readonly items: readonly AdvisoryEvent[] } => {
  const named = table.get(uid)
  const found = named ?? table.get(parentOf(uid))
  const items = found?.deleteTime === undefined ? (found?.events ?? []) : []
  return { of: found?.uid ?? uid, items: named ? items : items.filter((event) => event.uid === uid) }
}

/** The events of an advisory, all or a window of them. A missing advisory has none (facts §5.2, specification §9.5). */
const listEvents: Operation = {
  method: 'GET',
  template: `${path}/{parent_id=**}/events`,
  answer: (ask, world) => {
    const uid = uidParam(ask, 'parent_id')
    requireCapability(world, callerOf(ask), 'advisories.list', uid)
    const { of, items } = eventsAt(world.store, uid)
    const { from, to } = readWindow(ask.query)
    const shown = items.slice(from, to)
    return encode(items.length === 0 ? {} : { parentId: parentOf(of), items: shown }, advisoryEventList, world.options.v1Dialect)
  },
}

/** The operations below `/vulnerabilities/v1` that have a v2 counterpart (facts §5). */
export const vulnerabilityOperations: readonly Operation[] = [listAdvisories, listEvents]
