import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Sandbox, startSandbox } from '../../../src/sandbox/start.ts'

let sandbox: Sandbox
const get = (path: string, init: RequestInit = {}) =>
  fetch(`${sandbox.url}${path}`, { headers: { authorization: `Bearer ${sandbox.tokens.owner}` }, ...init })

beforeAll(async () => {
  sandbox = await startSandbox({ port: 0, v1Dialect: 'published' })
})
afterAll(() => sandbox.close())

test('serves v1 and v2 on one port over one store', async () => {
  const made = await get(`/iam/v1/groups/${sandbox.organization}`, { method: 'POST', body: '{"name":"both"}' })
  const group = (await made.json()) as { id: string }
  const seen = await get(`/iam/v2/groups/${group.id}`)
  expect(await seen.json()).toMatchObject({ uid: group.id, name: 'both' })
})

test('takes an escaped slash as a slash', async () => {
  const [repo] = ((await (await get('/registry/v1/repos?name=static')).json()) as { items: { id: string }[] }).items
  const summary = await get(`/registry/v1/repotagssummary/${encodeURIComponent(repo?.id ?? '')}`)
  expect(await summary.json()).toMatchObject({ id: repo?.id, latestTag: { name: 'latest' } })
})

test('accepts a delete with a JSON content type and no body', async () => {
  const made = await get(`/registry/v1/repos/${sandbox.organization}`, { method: 'POST', body: '{"name":"gone"}' })
  const { id } = (await made.json()) as { id: string }
  const headers = { authorization: `Bearer ${sandbox.tokens.owner}`, 'content-type': 'application/json' }
  const deleted = await get(`/registry/v1/repos/${id}`, { method: 'DELETE', headers })
  expect([deleted.status, await deleted.json()]).toEqual([200, {}])
})

test('refuses a request without a token', async () => {
  const answer = await get('/iam/v1/groups', { headers: {} })
  expect(answer.status).toBe(401)
  expect(answer.headers.get('www-authenticate')).toBeTruthy()
  expect(await answer.json()).toMatchObject({ code: 16, details: [] })
})
