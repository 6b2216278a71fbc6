import { beforeAll, describe, expect, it } from 'vitest'
import { sampleSeed } from '../programs/faults/fuzz/hunt.ts'
import { isFull } from '../sample.ts'
import { type Stage, startStage } from '../stage/stage.ts'
import type { Handler } from '../stage/upstream.ts'
import { type Call, type Client, callOf, connectClient, grpcClient } from './rpc/call.ts'
import { NotExpressible } from './rpc/protojson.ts'
import type { Answer } from './target.ts'

/**
 * A v2 whose answers are wrong. Each fault is a small script of answers.
 * No answer may be a success that v2 did not say.
 */

/** What v2 says to one call: a body, or a status with its body. */
type Said = object | readonly [status: number, body: object]

/** Answers a call by its path and query, and by how often v2 was asked before. */
type V2 = (path: string, query: URLSearchParams, nth: number) => Said

const uid = (nth: number) => nth.toString(16).padStart(40, '0')

const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => ({ uid: uid(from + at), name: `n${from + at}`, description: '', capabilities: [] }))

const roles = (list: readonly object[], more: object = {}) => ({ roles: list, skipped: 0, ...more })

/** Pages by token: the first, and then as the token says. */
const byToken =
  (...pages: readonly object[]): V2 =>
  (_, query) =>
    pages[Number(query.get('page_token') ?? 0)] ?? roles([])

let v2: V2
let proxy: Stage<null, Handler>
let clients: readonly Client[]
let turn = sampleSeed

beforeAll(async () => {
  proxy = await startStage({
    v1: null,
    v2: (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://v2')
      const said = v2(pathname, searchParams, proxy.v2.seen.length - 1)
      const [status, body] = Array.isArray(said) ? said : [200, said]
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    },
    proxy: { 'upstream.v2Grpc': 'rest', 'log.level': 'silent' },
  })
  clients = [grpcClient(proxy.url), connectClient(proxy.url)]
})

/** The same as a call; undefined where no message says it. */
function expressed(method: string, path: string): Call | undefined {
  try {
    return callOf({ method, path })
  } catch (thrown) {
    if (thrown instanceof NotExpressible) return undefined
    throw thrown
  }
}

/** A half of these in turns from the seed on; all of them with CROSSWALK_SAMPLE=full. `npm run fuzz -- wrong-v2` tries far more. */
const sampled = <T>(all: readonly T[]): readonly T[] => {
  turn += 1
  return isFull ? all : all.filter((_, at) => (at + turn) % 2 === 0)
}

/** Makes a request, a GET unless it begins with another method, over REST, and over gRPC or Connect where a message can say it. */
async function ask(request: string, wrong: V2): Promise<readonly Answer[]> {
  const [path = '', method = 'GET'] = request.split(' ').reverse()
  const answers: Answer[] = []
  const call = expressed(method, path)
  v2 = wrong
  proxy.v2.seen.length = 0
  const response = await fetch(proxy.url + path, { method, headers: { authorization: 'Bearer t' } })
  answers.push({ status: response.status, type: '', body: await response.json() })
  for (const client of call ? sampled(clients) : []) {
    proxy.v2.seen.length = 0
    answers.push(await client.call(call as Call, 't'))
  }
  return answers
}

const statuses = async (request: string, wrong: V2) => [...new Set((await ask(request, wrong)).map(({ status }) => status))]

const twoHundred = rows(0, 200)
const listed = { totalCount: '250', nextPageToken: '1' }

describe('a list that is not as v2 says is an error', () => {
  it.each<[string, string, V2]>([
    ['an empty last page of a longer list', '/iam/v1/roles', byToken(roles(twoHundred, listed), roles([], { totalCount: '250' }))],
    ['a short last page', '/iam/v1/roles', byToken(roles(twoHundred, listed), roles(rows(200, 210), { totalCount: '450' }))],
    ['a short last page without a count', '/iam/v1/roles', byToken(roles(twoHundred, listed), roles(rows(200, 210)))],
    ['one page of a longer list', '/iam/v1/roles', () => roles(rows(0, 2), { totalCount: '5' })],
    ['one page of a longer list, by name', '/iam/v1/roles?order_by=name', () => roles(rows(0, 2), { totalCount: '5' })],
    ['more rows than v2 counts', '/iam/v1/roles', () => roles(rows(0, 3), { totalCount: '2' })],
    ['a short page of a window', '/iam/v1/roles?limit=4', () => roles(rows(0, 2), { totalCount: '5' })],
    [
      'rows behind the end that were never shown',
      '/iam/v1/roles?order_by=name',
      (_, query) => (query.has('skip') ? roles(rows(2, 5), { totalCount: '5', skipped: 2 }) : roles(rows(0, 2), { totalCount: '5' })),
    ],
    [
      'a page in the middle that lost rows, with its last rows again behind the end',
      '/iam/v1/roles?order_by=name',
      (_, query) => {
        const skip = Number(query.get('skip') ?? 0)
        if (skip > 0) return roles(rows(skip, 450), { totalCount: '450', skipped: skip })
        return byToken(
          roles(twoHundred, { totalCount: '450', nextPageToken: '1' }),
          roles(rows(200, 300), { totalCount: '450', nextPageToken: '2' }),
          roles(rows(400, 450), { totalCount: '450' }),
        )('', query, 0)
      },
    ],
    [
      'fewer rows behind the end than v2 counts',
      '/iam/v1/roles?order_by=name',
      (_, query) => {
        if (query.has('skip')) return roles(rows(208, 210), { totalCount: '225', skipped: 210 })
        return byToken(roles(twoHundred, { totalCount: '210', nextPageToken: '1' }), roles(rows(200, 210), { totalCount: '225' }))(
          '',
          query,
          0,
        )
      },
    ],
    ['a row twice in a list without pages', '/advisory/v1/documents', () => ({ documents: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] })],
    ['a token in snake case', '/iam/v1/roles', () => roles(rows(0, 2), { next_page_token: '1' })],
    ['a count in snake case', '/iam/v1/roles', () => roles(rows(0, 2), { total_count: '4' })],
    [
      'a page that repeats, by name',
      '/iam/v1/roles?order_by=name',
      byToken(
        roles(rows(0, 200), { nextPageToken: '1' }),
        roles(rows(200, 400), { nextPageToken: '2' }),
        roles(rows(200, 400), { nextPageToken: '3' }),
        roles(rows(600, 601)),
      ),
    ],
    ['a row twice on one page', '/iam/v1/roles', () => roles([...rows(0, 3), ...rows(1, 2)], { totalCount: '4' })],
    ['a row twice on one page, by name', '/iam/v1/roles?order_by=name', () => roles([...rows(0, 3), ...rows(1, 2)])],
    ['a row twice on a page of tags', '/registry/v1/tags', () => ({ tags: [{ uid: 'a/b' }, { uid: 'a/c' }, { uid: 'a/b' }], skipped: 0 })],
    ['more rows than were asked for', '/iam/v1/roles?limit=10', () => roles(twoHundred, { totalCount: '200' })],
    ['more rows than a page holds', '/iam/v1/roles', () => roles(rows(0, 201), { totalCount: '201' })],
    ['more rows than were asked for behind a cursor', '/iam/v1/roles?limit=205', byToken(roles(twoHundred, listed), roles(rows(200, 250)))],
  ])('%s', async (_, path, wrong) => {
    expect((await statuses(path, wrong)).filter((status) => status < 400)).toEqual([])
  })
})

describe('a list that changes while it is read is shown', () => {
  it('when a row is added before its end', async () => {
    const moving: V2 = (_, query) =>
      query.has('skip')
        ? roles(rows(209, 210), { totalCount: '211', skipped: 210 })
        : byToken(roles(twoHundred, { totalCount: '210', nextPageToken: '1' }), roles(rows(200, 210), { totalCount: '211' }))('', query, 0)
    const answers = await ask('/iam/v1/roles', moving)
    expect(answers.map(({ body }) => body.items.length)).toEqual(answers.map(() => 210))
  })

  it('when a row is added after it is counted', async () => {
    const moving: V2 = (_, _query, at) => roles(rows(0, 3), { totalCount: at === 0 ? '2' : '3' })
    const answers = await ask('/iam/v1/roles', moving)
    expect(answers.map(({ body }) => body.items.length)).toEqual(answers.map(() => 3))
  })

  it('when a row is deleted while it is counted', async () => {
    const moving: V2 = (_, query) =>
      query.has('skip') ? roles([], { totalCount: '2', skipped: 2 }) : roles(rows(0, 2), { totalCount: '3' })
    const answers = await ask('/iam/v1/roles', moving)
    expect(answers.map(({ body }) => body.items.length)).toEqual(answers.map(() => 2))
  })
})

describe('a v2 that does not skip is an error', () => {
  it.each([
    '/iam/v1/roles?limit=10&offset=500',
    '/iam/v1/roles?limit=300&offset=500',
    '/iam/v1/roles?page=3&page_size=10',
    '/iam/v1/roles?page_number=3&per_page=10&order_by=name',
    '/registry/v1/tags?limit=10&offset=500',
    '/libraries/v1/artifacts?skip=5&ecosystems=JAVA',
  ])('%s', async (path) => {
    const kept: V2 = (at) => ({
      [at.includes('artifacts') ? 'artifacts' : at.includes('tags') ? 'tags' : 'roles']: rows(0, 10),
      totalCount: '1000',
      skipped: 0,
    })
    expect(await statuses(path, kept)).toEqual([500])
  })
})

const missing = (resourceName: string): Said => [
  404,
  {
    code: 5,
    message: 'Not found',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'NOT_FOUND', domain: 'x' },
      { '@type': 'type.googleapis.com/google.rpc.ResourceInfo', resourceType: 'Repo', resourceName },
    ],
  },
]
const notFound = missing(uid(1))

/** Answers calls in order; the last answer is that of all further calls. */
const inOrder =
  (...answers: readonly Said[]): V2 =>
  (_, __, nth) =>
    answers[Math.min(nth, answers.length - 1)] ?? {}

describe('a NOT_FOUND after a part was shown is an error', () => {
  const page = (plural: string, token: string) => ({ [plural]: rows(Number(token) * 200, Number(token) * 200 + 200), nextPageToken: token })
  it.each<[string, Said[]]>([
    ['/iam/v1/roles', [page('roles', '1'), notFound]],
    ['/iam/v1/roles', [page('roles', '1'), page('roles', '2'), notFound]],
    ['/iam/v1/roles?limit=300', [page('roles', '1'), notFound]],
    ['/iam/v1/groups', [page('groups', '1'), notFound]],
    ['/iam/v1/identities', [page('identities', '1'), notFound]],
    ['/registry/v1/repos', [page('repos', '1'), notFound]],
    ['/registry/v1/tags', [page('tags', '1'), notFound]],
    ['/registry/v1/eoltags', [page('tags', '1'), notFound]],
    [`/registry/v1/repotagssummary/${uid(1)}`, [page('tags', '1'), page('tags', '2'), notFound]],
    [`/registry/v1/repocountbysource/${uid(1)}`, [page('repos', '1'), notFound]],
    ['/events/v1/subscriptions', [page('subscriptions', '1'), notFound]],
  ])('%s %#', async (path, answers) => {
    const said = await statuses(path, inOrder(...answers))
    expect(said.filter((status) => status < 400 || status === 404)).toEqual([])
  })

  it('but as the first answer it is nothing', async () => {
    const said = await ask(`/iam/v1/roles?uidp.children_of=${uid(1)}`, () => notFound)
    expect(said.map(({ body }) => body)).toEqual(said.map(() => ({ items: [] })))
  })
})

describe('a NOT_FOUND that does not name what was asked for is an outage', () => {
  const saying = (...details: readonly object[]) => [404, { code: 5, message: 'Not found', details }] as const
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'NOT_FOUND', domain: 'x' }
  const of = (resource: object) => saying(info, { '@type': 'type.googleapis.com/google.rpc.ResourceInfo', ...resource })
  const named = { resourceType: 'iam.example.com/Role', resourceName: uid(1) }
  const requests = [
    'GET /iam/v1/roles',
    `GET /iam/v1/roles?uidp.children_of=${uid(1)}`,
    `GET /iam/v1/roles?id=${uid(1)}`,
    `GET /registry/v1/repotagssummary/${uid(1)}`,
    `DELETE /iam/v1/roles/${uid(1)}`,
    `PUT /iam/v1/roles/${uid(1)}`,
    `POST /iam/v1/roles/${uid(1)}`,
  ]
  it.each<[string, ReturnType<typeof saying>]>([
    ['without details', saying()],
    ['without a ResourceInfo', saying(info)],
    ['without an ErrorInfo', saying({ '@type': 'type.googleapis.com/google.rpc.ResourceInfo', ...named })],
    ['with an empty ResourceInfo', of({})],
    ['without a type', of({ resourceName: uid(1) })],
    ['with a name that is none', of({ ...named, resourceName: 5 })],
    ['of another name', of({ ...named, resourceName: uid(2) })],
    ['of a part of the name', of({ ...named, resourceName: uid(1).slice(1) })],
    ['of the route', of({ resourceType: 'gateway/Route', resourceName: '/iam/v2/roles' })],
    ['of the collection', of({ resourceType: 'gateway/Route', resourceName: 'roles' })],
  ])('%s', async (_, said) => {
    for (const request of sampled(requests)) {
      // A write over gRPC is UNKNOWN, so that no client repeats it.
      const outages = request.startsWith('GET ') ? [503] : [503, 500]
      const others = (await statuses(request, () => said)).filter((status) => !outages.includes(status))
      expect([request, others]).toEqual([request, []])
    }
  })
})

describe('a member of a wrong type is no value', () => {
  const role = { uid: uid(1), name: 'a', createTime: '2024-02-29T00:00:00Z' }
  const tag = { uid: `${uid(1)}/${uid(2)}`, name: 'a', digest: 'd', updateTime: '2024-01-01T00:00:00Z' }
  const paths = ['/iam/v1/roles', '/iam/v1/roles?limit=5', '/iam/v1/roles?order_by=name', `/iam/v1/roles?id=${uid(1)}`]
  const wrongRoles = [
    { name: 5 },
    { name: {} },
    { name: ['x'] },
    { name: true },
    { capabilities: 'CAP_REPO_LIST' },
    { capabilities: [5.5, 'CAP_REPO_LIST'] },
    { capabilities: {} },
  ]
  it.each(wrongRoles.flatMap((wrong) => paths.map((path) => [path, wrong] as const)))('%s with %j', async (path, wrong) => {
    const row = { ...role, ...wrong }
    const answers = await ask(path, (at) => (at.endsWith('roles') ? roles([row]) : row))
    expect(answers.map(({ status, body }) => [status, body.message])).toEqual(
      answers.map(() => [500, expect.stringContaining(Object.keys(wrong)[0] ?? '')]),
    )
  })

  it.each([[5], [{}], [['x']], [true]])('as the uid of what a row without its parts refers to: %j', async (wrong) => {
    for (const member of ['roleUid', 'identityUid']) {
      const answers = await ask('/iam/v1/rolebindings', () => ({ roleBindings: [{ uid: `${uid(1)}/${uid(2)}`, [member]: wrong }] }))
      expect(answers.map(({ body }) => body.message)).toEqual(answers.map(() => expect.stringContaining(member)))
    }
  })

  it.each([{}, { a: {} }, 'x', true])('as the events of an advisory, asked for by the uid of one of them: %j', async (events) => {
    const advisory = `${uid(1)}/${uid(2)}`
    const path = `/vulnerabilities/v1/advisories/${advisory}/${uid(3)}/events`
    const answers = await ask(path, (at) => (at.endsWith(uid(3)) ? missing(`${advisory}/${uid(3)}`) : { uid: advisory, events }))
    expect(answers.map(({ body }) => body.message)).toEqual(answers.map(() => expect.stringContaining('events')))
  })

  it.each([5, 'yesterday', '2024-02-30T00:00:00Z', '2024-01-01', {}])('as the time %j', async (time) => {
    const invite = { uid: `${uid(1)}/${uid(2)}`, createTime: time }
    for (const path of ['/iam/v1/group_invites', '/iam/v1/group_invites?limit=5', `/iam/v1/group_invites?id=${invite.uid}`]) {
      const answers = await ask(path, (at) => (at.endsWith('groupInvites') ? { groupInvites: [invite], skipped: 0 } : invite))
      expect([path, answers.map(({ body }) => body.message)]).toEqual([path, answers.map(() => expect.stringContaining('createTime'))])
    }
  })

  it.each([
    { deprecated: 'true' },
    { deprecated: 1 },
    { name: 7 },
    { digest: 5 },
    { updateTime: 5 },
    { updateTime: 'soon' },
    { bundles: 'x' },
  ])('in the lists and sums of tags: %j', async (wrong) => {
    for (const path of ['/registry/v1/tags', '/registry/v1/eoltags', `/registry/v1/repotagssummary/${uid(1)}`]) {
      const said = () => ({ tags: [tag, { ...tag, uid: `${uid(1)}/${uid(3)}`, ...wrong }], skipped: 0 })
      expect([path, await statuses(path, said)]).toEqual([path, [500]])
    }
  })

  it.each<[string, object]>([
    ['syncConfig', { sync_config: 'x' }],
    ['source', { sync_config: { source: ['x'] } }],
    ['gracePeriod', { sync_config: { gracePeriod: 'yes' } }],
    ['customOverlay', { customOverlay: [] }],
    ['gid', { customOverlay: { accounts: { groups: [{ gid: 2 ** 32 }] } } }],
  ])('in a message within a repo: %s', async (_, wrong) => {
    for (const path of ['/registry/v1/repos', `/registry/v1/repocountbysource/${uid(1)}`]) {
      const said: V2 = (at) => (at.endsWith('readme') ? { uid: uid(1) } : { repos: [{ uid: uid(1), ...wrong }], skipped: 0 })
      expect([path, await statuses(path, said)]).toEqual([path, [500]])
    }
  })

  it('but half a pair of surrogates is shown: as v2 wrote it over REST, as U+FFFD in a message', async () => {
    const name = 'a\ud800b'
    const [rest, ...messages] = await ask('/iam/v1/roles', () => roles([{ ...role, name }]))
    expect(rest?.body.items[0].name).toBe(name)
    expect(messages.map(({ body }) => body.items[0].name)).toEqual(messages.map(() => 'a\ufffdb'))
  })

  it('and both spellings of ProtoJSON are read', async () => {
    const groups = { groups: [{ uid: uid(1), kind: 2, status: 99, resourceLimits: { a: '5' } }], skipped: 0 }
    const answers = await ask('/iam/v1/groups', () => groups)
    const item = { kind: 'ORG_KIND_CUSTOMER', status: 'ORG_STATUS_UNSPECIFIED' }
    expect(answers.map(({ body }) => body.items)).toEqual(answers.map(() => [expect.objectContaining(item)]))
  })
})

describe('what a newer v2 adds is passed over', () => {
  it.each([
    [`DELETE /iam/v1/roles/${uid(1)}`, { deletedTime: '2030-01-01T00:00:00Z' }],
    [`POST /iam/v1/groups/${uid(1)}:requestGroupAccess`, { labels: {} }],
    [`POST /iam/v1/account_associations/${uid(1)}:check`, { status: 'CHECK_STATUS_PENDING' }],
  ])('%s', async (request, said) => {
    expect(await statuses(request, () => said)).toEqual([200])
  })

  it.each([
    [`DELETE /iam/v1/roles/${uid(1)}`, { code: 5, message: 'Not found' }],
    [`DELETE /iam/v1/roles/${uid(1)}`, { error: 'no such host' }],
    [`POST /iam/v1/account_associations/${uid(1)}:check`, { status: 'Failure', message: 'no such host' }],
    [`POST /iam/v1/account_associations/${uid(1)}:check`, { status: 'NOT_FOUND', code: 404 }],
  ])('but an error with status 200 is none: %s %j', async (request, said) => {
    expect(await statuses(request, () => said)).toEqual([500])
  })
})
