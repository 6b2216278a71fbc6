import { expect, test } from 'vitest'
import { running, START } from '../running.ts'
import { grpcClient } from './grpc-client.ts'

const { sandbox, get } = running()
const { call } = grpcClient(() => sandbox().url)

test('serves a v1 list with the content of REST', async () => {
  const groups = await call('/chainguard.platform.iam.Groups/List')
  const { items } = (await get('/iam/v1/groups')).json
  expect(groups.code).toBe(0)
  expect(groups.json.items.map(({ name }: { name: string }) => name)).toEqual(items.map(({ name }: { name: string }) => name))
})

test('journals a call as the REST request of its http rule', async () => {
  await call('/chainguard.platform.registry.Registry/ListRepos', { uidp: { inRoot: true }, name: 'nginx' })
  expect((await get('/-/journal')).json.at(-1)).toEqual({
    method: 'GET',
    path: '/registry/v1/repos',
    query: { 'uidp.in_root': 'true', name: 'nginx' },
    body: null,
    grpc: '/chainguard.platform.registry.Registry/ListRepos',
    at: new Date(START).toISOString(),
  })
})
