import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { type Got, startV1 } from '../v1/harness.ts'

/** The v1 service in the specification's dialect, at noon on 1 June 2026. */
let v1 = startV1()
beforeEach(() => {
  v1 = startV1()
})

const get = (path: string, token?: string): Promise<Got> => v1.send(`GET ${path}`, undefined, token === undefined ? {} : { token })

const repoId = async (name: string): Promise<string> =>
  (await get(`/registry/v1/repos?name=${name}&uidp.children_of=${v1.organization}`)).body.items[0].id
const tagOf = async (repo: string, name: string) => (await get(`/registry/v1/tags?uidp.children_of=${repo}&name=${name}`)).body.items[0]

describe('GET /registry/v1/tags/{id}/history (semantics §9.2)', () => {
  test('lists the targets of a moving tag, oldest first, the current one last', async () => {
    const repo = await repoId('python')
    const tag = await tagOf(repo, '3.14')
    const { items } = (await get(`/registry/v1/tags/${tag.id}/history`)).body
    expect(items.at(-1)).toEqual({ update_timestamp: tag.last_updated, digest: tag.digest })
    expect(items[0].digest).toBe((await tagOf(repo, '3.14.0')).digest)
    const times = items.map((item: { update_timestamp: string }) => item.update_timestamp)
    expect(times).toEqual([...times].sort())
  })

  test('includes both start and end', async () => {
    const tag = await tagOf(await repoId('python'), '3.14')
    const { items } = (await get(`/registry/v1/tags/${tag.id}/history`)).body
    const [, second, third] = items
    const query = `start=${second.update_timestamp}&end=${third.update_timestamp}`
    expect((await get(`/registry/v1/tags/${tag.id}/history?${query}`)).body.items).toEqual([second, third])
  })

  test('records a move made in either version', async () => {
    const repo = await repoId('static')
    const [a, b, c] = ['a', 'b', 'c'].map((name) => `sha256:${createHash('sha256').update(name).digest('hex')}`)
    const { id } = (await v1.send(`POST /registry/v1/tags/${repo}`, { name: 'mine', digest: a })).body
    await v1.send(`POST /registry/v1/tags/${repo}`, { name: 'mine', digest: b })
    await v1.send(`PUT /registry/v1/tags/${id}`, { name: 'mine', digest: b, deprecated: true })
    await v1.send(`PUT /registry/v1/tags/${id}`, { name: 'mine', digest: c })
    const { items } = (await get(`/registry/v1/tags/${id}/history`)).body
    expect(items.map(({ digest }: { digest: string }) => digest)).toEqual([a, b, c])
  })

  test('is empty for a missing tag and refused to a stranger', async () => {
    expect(await get(`/registry/v1/tags/${await repoId('static')}/0123456789abcdef/history`)).toEqual({ status: 200, body: { items: [] } })
    const tag = await tagOf(await repoId('static'), 'latest')
    expect((await get(`/registry/v1/tags/${tag.id}/history`, 'demo-outsider')).status).toBe(403)
  })
})

describe('GET …/imageconfig (facts §22)', () => {
  const configOf = async (name: string, query = '') => {
    const repo = await repoId(name)
    const { digest } = await tagOf(repo, 'latest')
    return (await get(`/registry/v1/repos/${repo}/digests/${digest}/imageconfig${query}`)).body
  }

  test('shows the start configuration of a container', async () => {
    expect(await configOf('nginx')).toMatchObject({
      user: '65532',
      exposed_ports: { '8080/tcp': {} },
      entrypoint: ['/usr/sbin/nginx'],
      volumes: {},
      working_dir: '',
      labels: { 'org.opencontainers.image.title': 'nginx' },
      stop_signal: 'SIGQUIT',
    })
  })

  test('contains the additions of the organization', async () => {
    const config = await configOf('php', '?arch=arm64')
    expect(config.user).toBe('app')
    expect(config.env).toContain('HTTPS_PROXY=http://proxy.example.com:3128')
    expect(config.labels['com.example.owner']).toBe('platform')
  })

  test('is empty for an architecture that the image lacks', async () => {
    expect(await configOf('php', '?arch=s390x')).toEqual({
      user: '',
      exposed_ports: {},
      env: [],
      entrypoint: [],
      cmd: [],
      volumes: {},
      working_dir: '',
      labels: {},
      stop_signal: '',
    })
  })
})
