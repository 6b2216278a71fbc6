import { LRUCache } from 'lru-cache'
import { droppedMembers } from '../explain/dropped.ts'
import { createShapes } from '../explain/placeholder.ts'
import { isSecretName, withoutSecrets } from '../migrate/compare/redact.ts'
import { shapeOf } from '../migrate/evidence/standing.ts'
import { unknownParameters } from '../serve/answer.ts'
import type { Env, Operation, V1Request } from '../tables/operation.ts'
import { PAGE_SIZE } from '../tables/pages.ts'
import { differencesOf, type Tables } from '../tables/tables.ts'
import { type Cost, type CostOf, costOf } from './cost.ts'
import { createCounted } from './counted.ts'
import { createRouteRecorded } from './route-recorded.ts'
import type { Replayed } from './summary/replayed.ts'
import { createSummary, type Summary, type SummarySettings } from './summary/summary.ts'
import { createCountedCalls } from './traffic/counted-calls.ts'
import type { Item, RecordedRequest, Traffic } from './traffic/recorded-traffic.ts'

export interface ReplaySettings extends Pick<SummarySettings, 'seenOf'> {
  readonly tables: Tables
  readonly env: Env
  /** Rows that every list is assumed to hold. */
  readonly rows: number
}

/** Maximum costs of different requests that are kept. */
const COSTS = 10_000

/** Computes what recorded traffic would cost and meet today, without sending anything. */
export async function replay(traffic: Traffic, settings: ReplaySettings): Promise<Replayed> {
  const summary = createSummary({ ...settings, differencesOf: differencesOf(settings.tables) })
  const cost = createCostOf(settings)
  const placeOf = createRouteRecorded(settings.tables.mappings)
  const counted = createCounted(settings.tables.mappings, cost, summary)
  const take = (item: Item) => ('operation' in item ? counted.add(item) : addSent(item, placeOf, cost, summary))
  const countedCall = createCountedCalls(settings.tables.mappings)
  for await (const item of traffic.items) take(countedCall(item))
  counted.finish()
  return {
    format: traffic.format,
    unreadable: traffic.unreadable(),
    unreadableLines: traffic.unreadableLines(),
    assumptions: assumptionsOf(settings.rows, traffic.format === 'records'),
    ...summary.result(),
  }
}

function addSent(item: RecordedRequest, placeOf: ReturnType<typeof createRouteRecorded>, cost: CostOf, summary: Summary): void {
  const place = placeOf(item)
  const use = { times: 1, client: item.client, at: item.at }
  if (place.kind === 'native') summary.native(use)
  else if (place.kind === 'unknown')
    summary.unknown(use, { method: item.method, path: place.path, why: place.why, answered: isSuccess(item.status) })
  else if (place.kind === 'refused')
    summary.operation({ ...use, operation: place.operation, cost: { calls: 0, kept: 0, refused: place.error } })
  else summary.operation({ ...use, operation: place.operation, cost: cost(place.operation, place.request), ...dropped(place) })
}

function isSuccess(status: number | undefined): boolean {
  return status !== undefined && status < 400
}

function dropped({ operation, request }: { readonly operation: Operation; readonly request: V1Request }) {
  if (!operation.begin) return {}
  return {
    droppedParameters: unknownParameters(operation, request).map(nameToShow),
    droppedMembers: droppedMembers(operation, request.body).map(shown),
  }
}

/** Hides a name that no table has, because it may be anything, for example a pasted token. */
function nameToShow(name: string): string {
  return /^[A-Za-z][\w.[\]]{0,39}$/.test(name) && !isSecretName(name) && withoutSecrets(name) === name ? name : '(no name)'
}

function shown<T extends { readonly member: string }>(member: T): T {
  const parts = member.member.split('.').map((part) => (part === '' ? part : nameToShow(part)))
  return { ...member, member: parts.join('.') }
}

/** Computes the cost of a request once for all requests of the same shape and with the same numbers (a limit, a page size). */
function createCostOf({ tables, env, rows }: ReplaySettings): CostOf {
  const shapes = createShapes(tables.mappings)
  const known = new LRUCache<string, Cost>({ max: COSTS })
  return (operation, request) => {
    const numbers = [...request.query].filter(([, values]) => values.every((value) => /^\d{1,9}$/.test(value)))
    const key = JSON.stringify([shapeOf(operation, request), numbers])
    const cost = known.get(key) ?? costOf({ operation, request, env, shapeOf: shapes }, rows)
    known.set(key, cost)
    return cost
  }
}

function assumptionsOf(rows: number, ofShapes: boolean): readonly string[] {
  return [
    `Every list holds ${rows} rows and is read in pages of ${PAGE_SIZE}; a request that asks for fewer gets fewer.`,
    'Every v2 call succeeds, and nothing is known from an earlier request.',
    ...(ofShapes ? ['Records keep shapes of requests and no values: an operation costs what its recorded shapes cost on average.'] : []),
  ]
}
