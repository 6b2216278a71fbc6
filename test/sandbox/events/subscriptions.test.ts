import { describe, expect, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { running } from '../running.ts'

const { sandbox, get, post, remove } = running({}, { fresh: true })

const PATH = '/events/v2/subscriptions'
const org = (): string => sandbox().organization

describe('subscriptions (specification §6, semantics §3.16)', () => {
  test('are created, read, listed and deleted, and have no dates', async () => {
    const made = (await post(`${PATH}/${org()}`, { sink: 'https://localhost:9999/hook' })).json
    expect(made).toEqual({ uid: expect.stringMatching(new RegExp(`^${org()}/[0-9a-f]{16}$`)), sink: 'https://localhost:9999/hook' })
    expect((await get(`${PATH}/${made.uid}`)).json).toEqual(made)
    const { json } = await get(`${PATH}?uidp.children_of=${org()}`)
    expect([json.totalCount, json.skipped]).toEqual(['2', 0])
    expect(json.subscriptions.map(({ uid }: { uid: string }) => uid)).toEqual(
      [...json.subscriptions.map(({ uid }: { uid: string }) => uid)].sort(),
    )
    expect((await remove(`${PATH}/${made.uid}`)).text).toBe('')
    expect((await get(`${PATH}/${made.uid}`)).json.details[1].resourceType).toBe('events.chainguard.dev/Subscription')
  })

  test.each([
    [{}, 'sink: is required'],
    [{ sink: 'nowhere' }, 'sink: must be a URL'],
    [{ sink: 'http://127.0.0.1:1/' }, 'sink: must use the scheme https'],
    [{ sink: 'ftp://localhost/' }, 'sink: must use the scheme https'],
  ])('reject %j', async (body, problem) => {
    const { status, json } = await post(`${PATH}/${org()}`, body)
    expect([status, json.code, json.message]).toEqual([400, 3, `Invalid argument: ${problem}`])
  })

  test('are readable for a viewer and writable for an editor', async () => {
    expect((await get(PATH, 'demo-viewer')).json.totalCount).toBe('1')
    expect((await post(`${PATH}/${org()}`, { sink: 'https://localhost/' }, 'demo-viewer')).status).toBe(403)
    expect((await post(`${PATH}/${org()}`, { sink: 'https://localhost/' }, 'demo-editor')).status).toBe(200)
    expect((await get(PATH, 'demo-outsider')).json.totalCount).toBe('0')
  })

  test('cannot be updated and block the delete of their group', async () => {
    const folder = (await post(`/iam/v2/groups/${org()}`, { name: 'f' })).json.uid
    const { uid } = (await post(`${PATH}/${folder}`, { sink: 'https://localhost/' })).json
    const blocked = await remove(`/iam/v2/groups/${folder}`)
    expect(blocked.json.message).toBe('Precondition failed: cannot delete group with child subscriptions')
    expect((await fetch(`${sandbox().url}${PATH}/${uid}`, { method: 'PATCH' })).status).toBe(501)
  })
})

test('accepts plain HTTP with the flag, on loopback hosts only', async () => {
  const open = await startSandbox({ port: 0, data: 'empty', allowHttpSinks: true })
  const create = async (sink: string): Promise<number> => {
    const headers = { authorization: `Bearer ${open.tokens.owner}` }
    return (await fetch(`${open.url}${PATH}/${open.organization}`, { method: 'POST', headers, body: JSON.stringify({ sink }) })).status
  }
  expect(await Promise.all(['http://localhost:1/', 'http://127.9.9.9:1/', 'http://[::1]:1/'].map(create))).toEqual([200, 200, 200])
  expect(await Promise.all(['http://example.com/', 'http://127.0.0.1.example.com/', 'http://127.0.0.1@example.com/'].map(create))).toEqual([
    400, 400, 400,
  ])
  await open.close()
})
