import { afterAll, beforeAll, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { startSandbox } from '../../src/sandbox/start.ts'
import { bearer, startProxy, type TestProxy } from '../stage/proxy.ts'

const served = mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined)

/** The answer of the sandbox's gateway to paths that it does not serve. */
const GATEWAY = { code: 14, message: 'the v2 service answered HTTP 404 without naming a missing resource', details: [] }

/** Bodies and queries that the tables require in a request. */
const BODY = JSON.stringify({ name: 'x', digest: 'sha256:0' })
const BATCH = '[]'

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let proxy: TestProxy

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0 })
  proxy = await startProxy({ 'upstream.v2': `${sandbox.url}/wrong/base` })
})

afterAll(async () => {
  await proxy.close()
  await sandbox.close()
})

it.each(served.map((operation) => [operation.id, operation] as const))(
  'reports an outage for %s if v2 is not there',
  async (id, { method, template }) => {
    const target = template.replace(/\{[^}]+\}/g, sandbox.organization)
    const body = method === 'GET' || method === 'DELETE' ? undefined : id.endsWith('create_batch') ? BATCH : BODY
    const answer = await fetch(proxy.url + target, { method, headers: bearer(sandbox.tokens.owner), ...(body && { body }) })
    expect([answer.status, await answer.json()]).toEqual([503, GATEWAY])
  },
)

it.each(['/iam/v1/groups', '/registry/v1/repos', '/registry/v1/tags'])(
  'reports an outage for %s by id if v2 is not there',
  async (path) => {
    const answer = await fetch(`${proxy.url}${path}?id=${sandbox.organization}`, { headers: bearer(sandbox.tokens.owner) })
    expect([answer.status, await answer.json()]).toEqual([503, GATEWAY])
  },
)
