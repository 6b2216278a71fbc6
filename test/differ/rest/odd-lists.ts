import { mappings } from '../../../mappings/index.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { isRead } from '../../../src/serve/sides.ts'
import type { Operation } from '../../../src/tables/operation.ts'
import { uidsOf } from '../reads/uids.ts'

/** A list with a window and an order, right or wrong. */
export interface OddList {
  readonly operation: Operation
  /** v1 path and query. */
  readonly path: string
}

const NUMBERS = ['0', '1', '3', '500', '-1', '2147483647', '2147483648', 'abc', '']

/** Windows in each spelling, alone and mixed; and the page tokens and skips of the lists that v1 paged by token. */
const WINDOWS: readonly string[] = [
  ...['limit', 'offset', 'page', 'page_size', 'per_page', 'skip'].flatMap((name) => NUMBERS.map((number) => `${name}=${number}`)),
  ...['limit=3&offset=1', 'offset=48&limit=5', 'page=2&page_size=3', 'page_number=2&per_page=3', 'page=3&pageSize=1', 'perPage=2'],
  ...['page=2&offset=1', 'limit=2&page_size=5', 'offset=0&page=2', 'limit=2&limit=3', 'skip=1&limit=2', 'skip=2&page_size=3'],
  ...['page_token=', 'page_token=&limit=2'],
]

const COLUMNS = ['id', 'uid', 'name', 'created_at', 'create_time', 'updated_at', 'last_updated', 'createTime', 'colour', '']

/** Orders by columns that all lists, some or none have; those of the list of advisories; and orders beside windows. */
const ORDERS: readonly string[] = [
  ...COLUMNS.flatMap((column) => ['', '%20desc', '%20ASC', '%20sideways'].map((way) => `order_by=${column}${way}`)),
  ...['ID_DESC', 'CREATED_AT_ASC', 'ORDER_BY_UNSPECIFIED', '3', '99'].map((name) => `order_by=${name}`),
  ...['orderBy=name', 'order_by=id&order_by=name', 'order_by=name%20desc&limit=2', 'order_by=id%20desc&page=2&page_size=2'],
  ...['order_by=colour&limit=abc', 'order_by=colour&page_size=-1', 'order_by=id&offset=-1'],
]

/** Every served list with each of these windows and orders. Tags are those of one repo, so that no answer is too large to be compared. */
export async function oddLists(sandbox: Sandbox): Promise<readonly OddList[]> {
  const { repo, advisory } = await uidsOf(sandbox)
  const variables: Readonly<Record<string, string>> = {
    'iam.terms.list': sandbox.organization,
    'libraries.artifacts.list_versions': 'python:requests',
    'vulnerabilities.advisory_events.list': advisory,
  }
  const ofRepo = `uidp.children_of=${repo}`
  const scopes: Readonly<Record<string, string>> = { 'registry.tags.list': ofRepo, 'registry.eol_tags.list': ofRepo }
  const served = mappings.flatMap(({ operations }) => operations).filter((one) => one.begin && one.rows && isRead(one))
  return served.flatMap((operation) => {
    const path = operation.template.replace(/\{[^}]+\}/, variables[operation.id] ?? '')
    const scope = scopes[operation.id] ?? ''
    return ['', ...WINDOWS, ...ORDERS].map((odd) => ({ operation, path: `${path}?${[scope, odd].filter(Boolean).join('&')}` }))
  })
}
