import type { Seen } from '../../stage/upstream.ts'

/** What v2 answers. A text is sent as HTML. */
export interface V2Answer {
  readonly status: number
  readonly body: unknown
}

/** What a v1 client got. */
export interface V1Answer {
  readonly status: number
  readonly text: string
  /** Undefined if it is not JSON. */
  readonly json: unknown
}

/** One thing that v1 clients rely on: a request, what v2 answers to it, and whether that thing was kept. */
export interface Probe {
  readonly promise: string
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  /** JSON, as a client writes it. */
  readonly body?: string
  readonly v2: (url: string) => V2Answer
  /** Returns what became of it, or true if it was kept. */
  readonly judge: (answer: V1Answer, seen: readonly Seen[]) => true | string
}

const LIST = '/iam/v1/account_associations'
const ONE = `${LIST}/org`

/** In the order of v1's members. v2 leaves out members that are unset, but for empty lists within a map. */
const ROW = {
  uid: 'org',
  amazon: { account: '123456789012' },
  azure: { tenantId: 't', clientIds: { createTime: 'a key of the user' } },
  name: 'clouds',
  github: { appInstallations: { a: { installations: [] } } },
  createTime: '2025-01-02T03:04:05.678Z',
  updateTime: '2025-01-02T03:04:05.678Z',
}
const ORDER = ['group', 'amazon', 'azure', 'name', 'github', 'created_at', 'updated_at']

/** Another row: a page that begins like the one before is a list that started over. */
const OTHER = { ...ROW, uid: 'other' }

const ok = (body: unknown): V2Answer => ({ status: 200, body })
const page = () => ok({ accountAssociations: [ROW], totalCount: '1' })
const again = (url: string) => url.includes('page_token')

const detail = (name: string, members: object) => ({ '@type': `type.googleapis.com/google.rpc.${name}`, ...members })
const reason = (name: string) => detail('ErrorInfo', { reason: name, domain: 'iam' })
const BROKEN = { code: 13, message: 'broken', details: [reason('INTERNAL')] }
const NOT_FOUND = {
  code: 5,
  message: 'Not found: group "org"',
  details: [reason('NOT_FOUND'), detail('ResourceInfo', { resourceType: 'group', resourceName: 'org' })],
}

// biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer, looked into by the probes
type Any = any

const shown = (value: unknown) => `\`${JSON.stringify(value) ?? 'absent'}\``
const told = (answer: V1Answer) => `${answer.status} with ${answer.json === undefined ? 'HTML' : `\`${answer.text.slice(0, 60)}\``}`
const rowOf = ({ json }: V1Answer): Any => (json as Any)?.items?.[0]
const same = (value: unknown, wanted: unknown) => JSON.stringify(value) === JSON.stringify(wanted) || shown(value)
const isError = ({ json }: V1Answer) => typeof (json as Any)?.code === 'number'

const get = { method: 'GET', path: LIST } as const

/** What v1 clients rely on, and what a rename of a page does to it. */
export const PROBES: readonly Probe[] = [
  {
    ...get,
    promise: 'An empty list in an answer stays a list',
    v2: page,
    judge: (answer) => same(rowOf(answer)?.github?.app_installations?.a?.installations, []),
  },
  {
    ...get,
    promise: 'A member that is unset is in the answer: `""`, `null`',
    v2: page,
    judge: (answer) => same([rowOf(answer)?.description, rowOf(answer)?.google], ['', null]) === true || 'absent',
  },
  {
    ...get,
    promise: "The keys of a user's map are data: a key `createTime` stays",
    v2: page,
    judge: (answer) => same(rowOf(answer)?.azure?.client_ids, { createTime: 'a key of the user' }) === true || 'renamed',
  },
  {
    ...get,
    promise: 'Members stand in the order of v1',
    v2: page,
    judge: (answer) => {
      const names = Object.keys(rowOf(answer) ?? {}).filter((name) => ORDER.includes(name))
      return same(names, ORDER) === true || 'in another order'
    },
  },
  {
    ...get,
    promise: 'A list is whole, although v2 sends pages',
    v2: (url) =>
      ok(
        again(url)
          ? { accountAssociations: [OTHER], totalCount: '2' }
          : { accountAssociations: [ROW], totalCount: '2', nextPageToken: 'x' },
      ),
    judge: ({ json }) => (json as Any)?.items?.length === 2 || `${(json as Any)?.items?.length} of 2 rows`,
  },
  {
    ...get,
    promise: 'A list of which v2 fails to send a part is no shorter list',
    v2: (url) => (again(url) ? { status: 500, body: BROKEN } : ok({ accountAssociations: [ROW], totalCount: '2', nextPageToken: 'x' })),
    judge: (answer) => answer.status >= 500 || `${answer.status} with ${(answer.json as Any)?.items?.length} of 2 rows`,
  },
  {
    ...get,
    path: `${LIST}?group=org`,
    promise: 'Nothing found is 200 with an empty list',
    v2: () => ({ status: 404, body: NOT_FOUND }),
    judge: (answer) => (answer.status === 200 && same(answer.json, { items: [] }) === true) || String(answer.status),
  },
  {
    ...get,
    promise: 'An error page of a balancer becomes an error of v1, and never an empty list',
    v2: () => ({ status: 404, body: '<html>no such host</html>' }),
    judge: (answer) => (isError(answer) && answer.status === 503) || told(answer),
  },
  {
    method: 'PUT',
    path: ONE,
    body: '{"name":"clouds","github":{"app_installations":{"a":{"installations":[{"installation_id":9007199254740993}]}}}}',
    promise: 'A 64-bit number in a body reaches v2 digit by digit',
    v2: () => ok(ROW),
    judge: (_, seen) => {
      const [, digits] = /installationId":"?([^",}]+)/.exec(seen.at(-1)?.body ?? '') ?? []
      return digits === '9007199254740993' || `\`${digits}\``
    },
  },
  {
    method: 'PUT',
    path: ONE,
    body: '{"name":"clouds","github":{"app_installations":{"a":{"installations":[]}}}}',
    promise: 'An empty list in a body reaches v2 as a list',
    v2: () => ok(ROW),
    judge: (_, seen) => {
      const body = seen.at(-1)?.body ?? ''
      return !body.includes('"installations":{}') || '`{}`'
    },
  },
  {
    method: 'PUT',
    path: ONE,
    body: '{"name":"clouds"}',
    promise: 'A PUT resets what its body leaves out',
    v2: () => ok(ROW),
    judge: (_, seen) => {
      const { method, url = '', body = '' } = seen.at(-1) ?? {}
      return (method === 'PATCH' && `${url}${body}`.includes('updateMask')) || `${method} without \`updateMask\``
    },
  },
]
