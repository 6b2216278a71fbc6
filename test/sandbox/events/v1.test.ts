import { expect, test } from 'vitest'
import { startV1 } from '../v1/harness.ts'

const { send, organization } = startV1()
const published = startV1('published')

const PATH = '/events/v1/subscriptions'

test('creates, lists and deletes in both dialects (facts §8)', async () => {
  const made = (await send(`POST ${PATH}/${organization}`, { sink: 'https://localhost/v1', id: 'ignored' })).body
  expect(made).toEqual({ id: expect.stringMatching(/\/[0-9a-f]{16}$/), sink: 'https://localhost/v1', group_id: organization })
  expect((await send(`GET ${PATH}?id=${made.id}`)).body).toEqual({ items: [made] })
  expect((await send(`GET ${PATH}?uidp.childrenOf=${organization}`)).body.items).toHaveLength(2)
  expect(await send(`DELETE ${PATH}/${made.id}`)).toEqual({ status: 200, body: {} })
  expect(await send(`DELETE ${PATH}/${made.id}`)).toEqual({ status: 200, body: {} })
  expect((await send(`GET ${PATH}?id=${made.id}`)).body).toEqual({ items: [] })
  expect(Object.keys((await published.send(`GET ${PATH}`)).body.items[0])).toEqual(['id', 'sink'])
})

test('accepts plain HTTP and no third scheme (facts §24.13)', async () => {
  expect((await send(`POST ${PATH}/${organization}`, { sink: 'http://sink.example.com/' })).status).toBe(200)
  expect((await send(`POST ${PATH}/${organization}`, { sink: 'ftp://sink.example.com/' })).body).toEqual({
    code: 3,
    message: 'Invalid argument: sink: must use the scheme https or http',
    details: [],
  })
})

test('refuses callers without the capability', async () => {
  expect((await send(`POST ${PATH}/${organization}`, { sink: 'https://localhost/' }, { token: 'demo-viewer' })).status).toBe(403)
  expect((await send(`GET ${PATH}`, undefined, { token: 'demo-outsider' })).body).toEqual({ items: [] })
})
