import { AssertionError } from 'node:assert'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createUsers, type User } from '../../examples/compare/users.ts'
import { startFastifyServer } from '../../examples/library/fastify-server.ts'
import { startShop } from '../../examples/library/own-tables.ts'
import { startPlainServer } from '../../examples/library/plain-server.ts'
import { type Listening, listen } from '../../examples/resource-manager/server/listen.ts'
import { v1Routes } from '../../examples/resource-manager/server/v1.ts'
import { v3Routes } from '../../examples/resource-manager/server/v3.ts'
import { createWorld } from '../../examples/resource-manager/server/world.ts'
import { tables } from '../../examples/resource-manager/tables.ts'
import type { Config } from '../../src/app/config/settings.ts'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { createRouter } from '../../src/serve/route.ts'
import { operationsOf } from '../../src/tables/tables.ts'
import { runCommand } from '../app/cli/support.ts'
import { anything, same } from '../contract/expect.ts'
import { complaintsAboutList, complaintsOf, run } from '../contract/run.ts'
import type { Answer, Api, Case, Role, Side, Target } from '../contract/target.ts'
import { bearer, startQuietSandbox, startStage, type TestProxy } from '../stage/stage.ts'
import { startUpstream } from '../stage/upstream.ts'

/** Returns the body of an answer with this status. */
function shown(answer: Answer, status = 200): Answer['body'] {
  if (answer.status !== status)
    throw new AssertionError({ message: `HTTP ${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}` })
  return answer.body
}

function refused(answer: Answer, code: number, status: string): Answer['body'] {
  const { error } = shown(answer, code)
  same({ code: error.code, status: error.status }, { code, status }, 'error')
  return error
}

const ids = (answer: Answer): string[] => (shown(answer).projects ?? []).map((row: { projectId: string }) => row.projectId)

async function made(api: Api, projectId: string, more: object = {}): Promise<Answer['body']> {
  return shown(await api.post('/v1/projects', { projectId, name: 'A name', ...more }))
}

const PROJECT = '/v1/projects/tokyo-rain-1'

const exampleCases: readonly Case[] = [
  {
    name: 'a project has the names of v1',
    operations: ['resourcemanager.projects.get'],
    run: async (api) => {
      same(
        shown(await api.get(PROJECT)),
        {
          projectNumber: '415104041001',
          projectId: 'tokyo-rain-1',
          lifecycleState: 'ACTIVE',
          name: 'Tokyo rain',
          createTime: anything,
          labels: { color: 'red' },
          parent: { type: 'folder', id: '2' },
        },
        'project',
      )
      same(Object.keys(shown(await api.get('/v1/projects/lima-fog-1'))).includes('parent'), false, 'a project without a parent')
    },
  },
  {
    name: 'projects come in pages, each with a token of its own service',
    operations: ['resourcemanager.projects.list'],
    run: async (api) => {
      const first = await api.get('/v1/projects', { pageSize: 2 })
      same(ids(first), ['tokyo-rain-1', 'oslo-snow-1'], 'first page')
      const second = await api.get('/v1/projects', { pageSize: 2, pageToken: first.body.nextPageToken })
      same(ids(second), ['lima-fog-1'], 'second page')
      same(second.body.nextPageToken, undefined, 'token of the last page')
      refused(await api.get('/v1/projects', { pageToken: 'made-up' }), 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'projects are filtered in words of v1',
    operations: ['resourcemanager.projects.list'],
    run: async (api) => {
      const found = async (filter: string) => ids(await api.get('/v1/projects', { filter }))
      same(await found('lifecycleState:ACTIVE name:oslo*'), ['oslo-snow-1'], 'by state and name')
      same(await found('labels.color:red'), ['tokyo-rain-1'], 'by label')
      same(await found('parent.type:folder parent.id:2'), ['tokyo-rain-1'], 'by parent')
      same(shown(await api.get('/v1/projects', { filter: 'id:none-1' })), {}, 'none')
    },
  },
  {
    name: 'projects are filtered by the type of their parent alone',
    operations: ['resourcemanager.projects.list'],
    difference: 'parent-type-alone',
    run: async (api) => {
      const answer = await api.get('/v1/projects', { filter: 'parent.type:folder' })
      if (api.here({ genuine: true, proxied: false })) same(ids(answer), ['tokyo-rain-1'], 'rows')
      else refused(answer, 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'a project is made by an operation',
    operations: ['resourcemanager.projects.create', 'resourcemanager.operations.get'],
    run: async (api) => {
      const begun = await made(api, 'quito-sun-1', { parent: { type: 'organization', id: '1' }, labels: { color: 'blue' } })
      same([begun.metadata.gettable, begun.metadata.ready, begun.done], [true, false, undefined], 'begun')
      const done = shown(await api.get(`/v1/${begun.name}`))
      same([done.done, done.response['@type']], [true, 'type.googleapis.com/google.cloudresourcemanager.v1.Project'], 'done')
      same(done.response.parent, { type: 'organization', id: '1' }, 'parent')
      refused(await api.post('/v1/projects', { projectId: 'quito-sun-1', name: 'A name' }), 409, 'ALREADY_EXISTS')
    },
  },
  {
    name: 'a refusal names the member of v1',
    operations: ['resourcemanager.projects.create', 'resourcemanager.projects.update'],
    run: async (api) => {
      const error = refused(await api.post('/v1/projects', { projectId: 'quito-rain-1', name: 'x' }), 400, 'INVALID_ARGUMENT')
      same(error.details[0].fieldViolations[0].field, 'name', 'field')
      refused(await api.put(PROJECT, { name: '?' }), 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'a parent that holds no projects is refused in other words',
    operations: ['resourcemanager.projects.create'],
    difference: 'refusal-words',
    run: async (api) => {
      const answer = await api.post('/v1/projects', { projectId: 'quito-rain-2', name: 'A name', parent: { type: 'planet', id: '3' } })
      refused(answer, 400, 'INVALID_ARGUMENT')
    },
  },
  {
    name: 'an update replaces the name and the labels, and answers with the project',
    operations: ['resourcemanager.projects.update'],
    run: async (api) => {
      const updated = shown(await api.put('/v1/projects/lima-fog-1', { name: 'Lima mist' }))
      same([updated.name, updated.labels, updated.projectId], ['Lima mist', undefined, 'lima-fog-1'], 'updated')
      same(shown(await api.get('/v1/projects/lima-fog-1')), updated, 'read')
    },
  },
  {
    name: 'an update moves a project',
    operations: ['resourcemanager.projects.update'],
    run: async (api) => {
      const parent = { type: 'folder', id: '2' }
      same(shown(await api.put('/v1/projects/oslo-snow-1', { name: 'Oslo snow', parent })).parent, parent, 'moved')
      same(shown(await api.get('/v1/projects/oslo-snow-1')).parent, parent, 'read')
    },
  },
  {
    name: 'a project is deleted, and its deletion is taken back',
    operations: ['resourcemanager.projects.delete', 'resourcemanager.projects.undelete'],
    run: async (api) => {
      await made(api, 'lagos-heat-1')
      same(shown(await api.delete('/v1/projects/lagos-heat-1')), {}, 'deleted')
      same(shown(await api.get('/v1/projects/lagos-heat-1')).lifecycleState, 'DELETE_REQUESTED', 'state')
      refused(await api.delete('/v1/projects/lagos-heat-1'), 400, 'FAILED_PRECONDITION')
      same(shown(await api.post('/v1/projects/lagos-heat-1:undelete', {})), {}, 'taken back')
      same(shown(await api.get('/v1/projects/lagos-heat-1')).lifecycleState, 'ACTIVE', 'state')
    },
  },
  {
    name: 'a project has its ancestors',
    operations: ['resourcemanager.projects.getAncestry'],
    run: async (api) => {
      const { ancestor } = shown(await api.post(`${PROJECT}:getAncestry`, {}))
      const wanted = [
        ['project', 'tokyo-rain-1'],
        ['folder', '2'],
        ['organization', '1'],
      ].map(([type, id]) => ({ resourceId: { type, id } }))
      same(ancestor, wanted, 'ancestors')
    },
  },
  {
    name: 'nobody learns whether a project exists that they may not see',
    operations: ['resourcemanager.projects.get', 'resourcemanager.projects.delete'],
    run: async (api) => {
      refused(await api.get('/v1/projects/none-1'), 403, 'PERMISSION_DENIED')
      refused(await api.delete('/v1/projects/none-1'), 403, 'PERMISSION_DENIED')
      refused(await api.as('nobody').get(PROJECT), 401, 'UNAUTHENTICATED')
    },
  },
  {
    name: 'policies of organizations need v1',
    operations: ['resourcemanager.projects.getOrgPolicy'],
    difference: 'v1-only',
    run: async (api) => {
      const answer = await api.post(`${PROJECT}:getOrgPolicy`, { constraint: 'constraints/a' })
      shown(answer, api.here({ genuine: 200, proxied: 501 }))
    },
  },
  {
    name: 'organizations have their owner apart',
    operations: ['resourcemanager.organizations.get', 'resourcemanager.organizations.search'],
    run: async (api) => {
      const one = shown(await api.get('/v1/organizations/1'))
      same(
        [one.creationTime, one.owner, one.lifecycleState],
        ['2020-01-01T00:00:00Z', { directoryCustomerId: 'C01' }, 'ACTIVE'],
        'organization',
      )
      const found = async (filter: string) => shown(await api.post('/v1/organizations:search', { filter, pageSize: 5 }))
      same(await found('owner.directoryCustomerId:C01'), { organizations: [one] }, 'found')
      same(await found('owner.directoryCustomerId:C02'), {}, 'none')
    },
  },
  {
    name: 'a lien prevents the deletion of its project',
    operations: ['resourcemanager.liens.create', 'resourcemanager.liens.get', 'resourcemanager.liens.list', 'resourcemanager.liens.delete'],
    run: async (api) => {
      await made(api, 'cairo-dust-1')
      const lien = shown(
        await api.post('/v1/liens', { parent: 'projects/cairo-dust-1', restrictions: ['resourcemanager.projects.delete'], origin: 'case' }),
      )
      refused(await api.delete('/v1/projects/cairo-dust-1'), 400, 'FAILED_PRECONDITION')
      same(shown(await api.get('/v1/liens', { parent: lien.parent })), { liens: [lien] }, 'list')
      same(shown(await api.get(`/v1/${lien.name}`)), lien, 'lien')
      same(shown(await api.delete(`/v1/${lien.name}`)), {}, 'deleted')
      refused(await api.delete(`/v1/${lien.name}`), 404, 'NOT_FOUND')
      same(shown(await api.delete('/v1/projects/cairo-dust-1')), {}, 'deleted project')
    },
  },
]

/** The first version of an example's API, and the proxy before the version that took its place. */
interface ExampleSides {
  readonly v1: Listening
  readonly proxy: TestProxy
  readonly genuine: Target
  readonly proxied: Target
  readonly close: () => Promise<void>
}

/** Starts both sides over equal data. With `asked`, the proxy compares with the first version. */
async function startExample({ slow = 0, asked }: { readonly slow?: number; readonly asked?: Partial<Config> } = {}): Promise<ExampleSides> {
  const v1 = await listen(v1Routes(createWorld({ slow })))
  const v3 = await listen(v3Routes(createWorld({ slow })))
  const proxy = await startStage({ v1: asked ? v1.url : null, v2: v3.url, proxy: { 'log.level': 'error', ...asked }, tables })
  return {
    v1,
    proxy,
    genuine: target(v1.url, 'genuine'),
    proxied: target(proxy.url, 'proxied'),
    close: async () => {
      await proxy.close()
      await Promise.all([v1.close(), v3.close()])
    },
  }
}

function target(url: string, side: Side): Target {
  const token = (role: Role) => (role === 'nobody' ? undefined : role)
  return { url, side, dialect: 'published', organization: '1', token, run: 'suite' }
}

describe('compare', () => {
  const userOf = (id: string): User => ({ id, email: `${id}@example.com`, seenAt: '2026-03-01T10:20:30Z' })

  it('answers from the old store, and says whether the new one is ready', async () => {
    const inserted: User[] = []
    const old = { find: async (id: string) => userOf(id), add: async (user: User) => user }
    const young = {
      byId: async (id: string) => ({ ...userOf(id), seenAt: '2026-03-01T10:20:00Z', ...(id === 'a-0' && { email: '' }) }),
      async insert(user: User) {
        inserted.push(user)
        return user
      },
    }
    const told: string[] = []
    const { getUser, addUser, comparison } = createUsers({ old, young }, ({ name, differences }) => {
      told.push(`${name} ${differences.map(({ at }) => at)}`)
    })
    expect(await addUser(userOf('a-1'))).toEqual(userOf('a-1'))
    expect(await getUser('a-0')).toEqual(userOf('a-0'))
    await comparison.idle()
    expect({ inserted, told }).toEqual({ inserted: [], told: ['users.get /email'] })
    expect(comparison.verdict()).toMatchObject({ verdict: 'NOT READY', exitCode: 1 })
    expect(comparison.report().declarations).toMatchObject([{ code: 'ignored:1', findings: 1 }])
    await comparison.close()
  })
})

describe('library', () => {
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await startQuietSandbox({})
  })

  const owner = () => ({ headers: bearer(sandbox.tokens.owner) })

  it('serves v1 at a port of its own', async () => {
    const v1 = await startPlainServer(sandbox.url)
    expect(await (await fetch(`${v1.url}/iam/v1/roles?limit=1`, owner())).json()).toEqual({
      items: [expect.objectContaining({ id: expect.any(String) })],
    })
    await v1.close()
  })

  it('serves v1 in a Fastify server beside its own routes', async () => {
    const app = await startFastifyServer(sandbox.url)
    const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const roles = await fetch(`${url}/old/iam/v1/roles?limit=1`, owner())
    expect([roles.status, roles.headers.get('x-served-by')]).toEqual([200, 'mine'])
    expect(await roles.json()).toMatchObject({ items: [{ id: expect.any(String) }] })
    expect(await (await fetch(`${url}/orders`)).json()).toEqual([{ id: 1 }])
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/crosswalk_requests_total\{operation="iam.roles.list".*\} 1/)
    await app.close()
  })

  it('serves tables of another API', async () => {
    const v2 = await startUpstream((request, response, body) => {
      const { name = 'a book' } = body === '' ? {} : (JSON.parse(body) as { name?: string })
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ uid: /\/items\/(\w+)/.exec(request.url ?? '')?.[1], name }))
    })
    const shop = await startShop(v2.url)
    expect(await (await fetch(`${shop.url}/shop/v1/items/7`)).json()).toEqual({ id: '7', title: 'a book' })
    const put = await fetch(`${shop.url}/shop/v1/items/7`, { method: 'PUT', body: '{"title":"a pen"}' })
    expect(await put.json()).toEqual({ id: '7', title: 'a pen' })
    await shop.close()
  })
})

describe('resource manager', () => {
  const router = createRouter(operationsOf(tables))

  describe('the contract of another API', () => {
    /** Sides of this test alone, because a case changes what both services hold. */
    async function startSides(): Promise<ExampleSides> {
      const sides = await startExample()
      onTestFinished(sides.close)
      return sides
    }

    it.each(exampleCases)('$name', async (one) => {
      const sides = await startSides()
      const [genuine, proxied] = await Promise.all([run(one, sides.genuine), run(one, sides.proxied)])
      expect(complaintsOf({ case: one, genuine, proxied }, tables.differences, router)).toEqual([])
    })

    it('has a case for each operation and each difference', () => {
      expect(complaintsAboutList(exampleCases, tables.differences)).toEqual([])
      const shown = new Set(exampleCases.flatMap(({ operations }) => operations))
      expect(operationsOf(tables).filter(({ id }) => !shown.has(id))).toEqual([])
    })

    it('has every operation of the public contract', () => {
      const document = JSON.parse(readFileSync(new URL('../../examples/resource-manager/openapi-v1.json', import.meta.url), 'utf8'))
      const paths = Object.entries<Record<string, unknown>>(document.paths)
      const public_ = paths.flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
      expect(
        operationsOf(tables)
          .map(({ method, template }) => `${method} ${template}`)
          .sort(),
      ).toEqual(public_.sort())
    })

    it('is ready when the service answers', async () => {
      const { proxy } = await startSides()
      const ready = await fetch(`${proxy.adminUrl}/readyz`)
      expect(ready.status).toBe(200)
    })
  })

  describe('another API beside its first version', () => {
    const bearer = { authorization: 'Bearer t' }

    it('is compared, page tokens of both sides included', async () => {
      const { proxy, close } = await startExample({ asked: { modes: { ...ALL_V2, default: 'diff-v2' }, 'diff.learnEvery': 0 } })
      const { nextPageToken } = (await (await fetch(`${proxy.url}/v1/projects?pageSize=2`, { headers: bearer })).json()) as Page
      await proxy.idle()
      await fetch(`${proxy.url}/v1/projects?pageSize=2&pageToken=${nextPageToken}`, { headers: bearer })
      await fetch(`${proxy.url}/v1/projects?filter=parent.type:folder`, { headers: bearer })
      await fetch(`${proxy.url}/v1/projects/none-1`, { headers: bearer })
      await proxy.idle()
      const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
      await close()
      const counted = [...text.matchAll(/crosswalk_comparisons_total\{operation="(.*)",outcome="(.*)"\} ([1-9].*)/g)]
      expect(counted.map(([, ...parts]) => parts.join(' ')).sort()).toEqual([
        'resourcemanager.projects.get match 1',
        'resourcemanager.projects.list expected 1',
        'resourcemanager.projects.list match 2',
      ])
    })

    it('tells a client to ask again while an update is under way', async () => {
      const { proxy, close } = await startExample({ slow: 2 })
      const put = { method: 'PUT', headers: { ...bearer, 'content-type': 'application/json' }, body: '{"name":"Lima mist"}' }
      const answer = await fetch(`${proxy.url}/v1/projects/lima-fog-1`, put)
      const { error } = (await answer.json()) as { error: { status: string } }
      await close()
      expect([answer.status, answer.headers.get('retry-after'), error.status]).toEqual([503, '1', 'UNAVAILABLE'])
    })
  })

  interface Page {
    readonly nextPageToken: string
  }
})

describe('words', () => {
  const TABLES = ['--tables', 'examples/resource-manager/tables.ts']

  /** What is true of the API of this package alone. */
  const OWN = /uidp|\buid\b|google\.rpc|gRPC|details` is empty|resource-management/

  it.each([
    ['operations'],
    ['openapi'],
    ['explain', '--guide', '*'],
    ['explain', 'GET /v1/projects?filter=lifecycleState:ACTIVE'],
    ['explain', 'DELETE /v1/projects/tokyo-rain-1'],
    ['explain', 'POST /v1/projects/tokyo-rain-1:getOrgPolicy'],
  ])('says of another API what is true of it: %j', async (...argv) => {
    const { code, out, err } = await runCommand([...argv, ...TABLES])
    expect([code, err]).toEqual([0, ''])
    expect(out.length).toBeGreaterThan(0)
    expect(out.split('\n').filter((line) => OWN.test(line))).toEqual([])
  })

  it('says of a converted member that v2 writes it in another form', async () => {
    const { out } = await runCommand(['explain', '--guide', 'resourcemanager.projects.get', ...TABLES])
    expect(out).toContain('| `parent` | `parent` | converted: v2 writes the value in another form |')
    expect(out).toContain('\nThe same in v2: `projectId`, `createTime`, `labels`.')
  })

  it('shows the calls of a plan up to what imagined answers cannot say', async () => {
    const { out } = await runCommand(['explain', 'DELETE /v1/projects/tokyo-rain-1', ...TABLES])
    expect(out.split('\n').at(-1)).toBe('# what v2 answers decides what comes next')
  })

  it('describes refusals without a form that the tables do not use', async () => {
    const { components } = JSON.parse((await runCommand(['openapi', ...TABLES])).out)
    const { description, content } = components.responses.NotFound
    expect([description, content['application/json'].schema]).toEqual([
      'Refused with NOT_FOUND.',
      { type: 'object', description: 'A refusal, as the API writes it.', additionalProperties: true },
    ])
  })
})
