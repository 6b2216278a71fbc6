import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { column, running, startV1 } from './stage.ts'

describe('repos', () => {
  const { sandbox, call, get, post, patch, remove } = running({}, { fresh: true })

  const repoNamed = async (name: string, token?: string) => {
    const reply = await get(`/registry/v2/repos?name=${name}&uidp.children_of=${sandbox().organization}`, token)
    return reply.json.repos[0]
  }

  const createRepo = async (body: object) => (await post(`/registry/v2/repos/${sandbox().organization}`, body)).json

  describe('fields of a repo (specification §2)', () => {
    test('are uid, name, description and both times with milliseconds', async () => {
      const repo = await repoNamed('python')
      expect(repo).toMatchObject({ name: 'python', description: 'Container images of python' })
      expect(repo.uid).toMatch(new RegExp(`^${sandbox().organization}/[0-9a-f]{16}$`))
      expect(repo.createTime).toBe('2026-01-23T09:00:00.000Z')
      expect(repo.updateTime).toBe('2026-01-23T09:00:00.000Z')
    })

    test('keep the snake_case name of sync_config, with camelCase members inside', async () => {
      const { sync_config: sync } = await repoNamed('node')
      expect(Object.keys(sync)).toEqual(['source', 'uniqueTags', 'expirationTime', 'gracePeriod'])
    })

    test('are the same in Get and List', async () => {
      const listed = await repoNamed('jdk')
      expect((await get(`/registry/v2/repos/${listed.uid}`)).json).toEqual(listed)
    })
  })

  describe('create', () => {
    test('reads the parent from the path and the members from the body, without ids', async () => {
      expect(await createRepo({ uid: 'mine', name: 'fresh', description: 'new', bundles: ['base'], unknown: 1 })).toEqual({
        uid: expect.stringMatching(/^[0-9a-f]{40}\/[0-9a-f]{16}$/),
        name: 'fresh',
        description: 'new',
        bundles: ['base'],
        createTime: '2026-03-01T12:00:00.000Z',
        updateTime: '2026-03-01T12:00:00.000Z',
      })
    })

    test('accepts the proto spelling of members', async () => {
      const repo = await createRepo({ name: 'snake', catalog_tier: 'CATALOG_TIER_BASE', active_tags: ['latest'] })
      expect(repo).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE', activeTags: ['latest'] })
    })

    test('answers ALREADY_EXISTS for a name taken in the organization', async () => {
      const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'python' })
      expect(reply).toMatchObject({ status: 409, json: { code: 6, message: 'Already exists: Repo "python"' } })
    })

    test('reports every failing field at once', async () => {
      const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'UPPER', bundles: ['nope'], aliases: ['plain'] })
      expect(column(reply.json.details[1].fieldViolations, 'field')).toEqual(['name', 'bundles', 'aliases'])
    })

    test('checks the inside of an overlay and names paths', async () => {
      const customOverlay = { environment: { CHAINGUARD_X: '1' }, accounts: { users: [{ uid: 1 }] } }
      const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'overlaid', customOverlay })
      expect(reply.json.details[1].fieldViolations).toEqual([
        { field: 'custom_overlay.environment', description: 'variable "CHAINGUARD_X" is reserved' },
        { field: 'custom_overlay.accounts.users[0].username', description: 'is required' },
      ])
    })

    test('answers NOT_FOUND of the group below a missing group', async () => {
      const reply = await post(`/registry/v2/repos/${sandbox().organization}/0123456789abcdef`, { name: 'x' })
      expect(reply.status).toBe(404)
      expect(reply.json.details[1]).toMatchObject({ resourceType: 'iam.chainguard.dev/Group' })
    })
  })

  describe('synced repos (semantics §3.10)', () => {
    const readOnly = 'may only be changed by Chainguard'

    test('accept organization/repo as a source, store a uid and inherit the rest', async () => {
      const repo = await createRepo({ name: 'mirror', sync_config: { source: 'cgr.dev/chainguard/python' } })
      expect(repo).toMatchObject({ catalogTier: 'CATALOG_TIER_APPLICATION', description: 'Container images of python' })
      expect(repo.sync_config).toMatchObject({
        source: expect.stringMatching(/^720909c9f5279097d847ad02a2f24ba8f59de36a\/[0-9a-f]{16}$/),
        expirationTime: '2026-03-15T12:00:00.000Z',
      })
    })

    test('refuse a missing and an invisible source alike', async () => {
      for (const source of ['chainguard/nothing', 'acme.dev/widget']) {
        const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'mirror', sync_config: { source } })
        expect(reply.json.message).toBe('Invalid argument: sync_config.source: must name a repo you can pull from')
      }
    })

    test('refuse changes of inherited members; equal values pass', async () => {
      const node = await repoNamed('node')
      const changed = await patch(`/registry/v2/repos/${node.uid}`, { catalogTier: 'CATALOG_TIER_BASE', bundles: [] })
      expect(changed.status).toBe(400)
      expect(changed.json.details[1].fieldViolations).toEqual([
        { field: 'catalog_tier', description: readOnly },
        { field: 'bundles', description: readOnly },
      ])
      const echoed = await patch(`/registry/v2/repos/${node.uid}`, { ...node, description: 'ours' })
      expect(echoed.json).toMatchObject({ description: 'ours', catalogTier: node.catalogTier, sync_config: node.sync_config })
    })

    test('refuse changes of sync members set by the service and keep missing ones', async () => {
      const node = await repoNamed('node')
      const path = `/registry/v2/repos/${node.uid}`
      const refused = await patch(path, { sync_config: { ...node.sync_config, expirationTime: '2030-01-01T00:00:00Z' } })
      expect(refused.json.details[1].fieldViolations).toEqual([{ field: 'sync_config.expiration_time', description: readOnly }])
      const kept = await patch(`${path}?updateMask=sync_config`, { sync_config: { source: node.sync_config.source, amazon: 'ecr' } })
      expect(kept.json.sync_config).toEqual({ ...node.sync_config, amazon: 'ecr' })
    })

    test("take over another source's tier and keep it when no longer synced", async () => {
      const { uid } = await repoNamed('node')
      const moved = (await patch(`/registry/v2/repos/${uid}`, { sync_config: { source: 'chainguard/static' } })).json
      expect(moved).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE', activeTags: ['latest'], description: 'Container images of node' })
      const own = (await patch(`/registry/v2/repos/${uid}`, { sync_config: null })).json
      expect(own).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE' })
      expect(own).not.toHaveProperty('sync_config')
      const again = (await patch(`/registry/v2/repos/${uid}`, { sync_config: { source: 'chainguard/node' } })).json
      expect(again).toMatchObject({ catalogTier: 'CATALOG_TIER_APPLICATION', sync_config: { expirationTime: '2026-03-15T12:00:00.000Z' } })
    })

    test.each([
      ['by staff with repo.internal.admin', 'node', 'demo-admin'],
      ['by anyone with repo.update if not synced', 'python', 'demo-editor'],
    ])('accept changes %s', async (_, name, token) => {
      const { uid } = await repoNamed(name)
      const reply = await patch(`/registry/v2/repos/${uid}`, { catalogTier: 'CATALOG_TIER_BASE' }, token)
      expect(reply.json.catalogTier).toBe('CATALOG_TIER_BASE')
    })
  })

  describe('delete', () => {
    test('answers 200 with zero bytes and deletes tags and readme too', async () => {
      const { uid } = await repoNamed('nginx')
      const reply = await remove(`/registry/v2/repos/${uid}`)
      expect([reply.status, reply.text]).toEqual([200, ''])
      expect((await get(`/registry/v2/repos/${uid}`)).status).toBe(404)
      expect((await get(`/registry/v2/tags?uidp.children_of=${uid}`)).json).toMatchObject({ tags: [], totalCount: '0' })
      expect((await remove(`/registry/v2/repos/${uid}`)).status).toBe(404)
    })
  })

  describe('readme', () => {
    test('is a sub-resource, empty for a repo without one', async () => {
      const python = await repoNamed('python')
      expect((await get(`/registry/v2/repos/${python.uid}/readme`)).json.content).toMatch(/^# python\n/)
      const php = await repoNamed('php')
      expect((await get(`/registry/v2/repos/${php.uid}/readme`)).json).toEqual({ uid: php.uid })
    })

    test("requires repo.internal.admin and repo.update, and keeps the repo's update time", async () => {
      const { uid, updateTime } = await repoNamed('python')
      const path = `/registry/v2/repos/${uid}/readme`
      expect((await patch(path, { content: '# ours' })).status).toBe(403)
      expect((await patch(path, { content: '# ours' }, 'demo-admin')).json).toEqual({ uid, content: '# ours' })
      expect((await get(`/registry/v2/repos/${uid}`)).json.updateTime).toBe(updateTime)
    })

    test('refuses unsafe HTML', async () => {
      const { uid } = await repoNamed('python')
      const reply = await patch(`/registry/v2/repos/${uid}/readme`, { content: 'a <script>x</script>' }, 'demo-admin')
      expect(reply.json.message).toBe('Invalid argument: content: content must not hold unsafe HTML')
    })
  })

  test('accepts %2F for the slashes of a uid', async () => {
    const { uid } = await repoNamed('python')
    expect((await call('GET', `/registry/v2/repos/${encodeURIComponent(uid)}`)).json.uid).toBe(uid)
  })
})

describe('tags', () => {
  const { sandbox, call, get, post, remove } = running({}, { fresh: true })

  const DIGEST = `sha256:${'ab'.repeat(32)}`
  const OTHER_DIGEST = `sha256:${'cd'.repeat(32)}`

  const repoUid = async (name: string): Promise<string> =>
    (await get(`/registry/v2/repos?name=${name}&uidp.children_of=${sandbox().organization}`)).json.repos[0].uid
  const total = async (query: string): Promise<number> => Number((await get(`/registry/v2/tags?${query}`)).json.totalCount)

  describe('list filters (semantics §3.11)', () => {
    test('omit referrer, dated and epoch tags by default', async () => {
      const scope = `uidp.children_of=${await repoUid('nginx')}`
      const plain = await total(scope)
      const each = await Promise.all(['referrers', 'dates', 'epochs'].map((what) => total(`${scope}&include_${what}=true`)))
      const all = await total(`${scope}&include_referrers=true&includeDates=1&include_epochs=t`)
      expect(each.every((count) => count > plain)).toBe(true)
      expect(each.reduce((sum, count) => sum + count - plain, plain)).toBe(all)
      const { json } = await get(`/registry/v2/tags?${scope}&page_size=200`)
      expect(json.tags.some(({ name }: { name: string }) => /^sha256-|-20[0-9]{6}$|-r[0-9]+$/.test(name))).toBe(false)
    })

    test('keep an epoch tag of a variant, which the pattern does not cover', async () => {
      const repo = await repoUid('nginx')
      expect(await total(`uidp.children_of=${repo}&name=1.29.0-dev-r0`)).toBe(1)
    })

    test('find a hidden tag by exact name, but not by digest alone', async () => {
      const scope = `uidp.children_of=${await repoUid('nginx')}`
      const { json } = await get(`/registry/v2/tags?${scope}&name=1.29.0-r0`)
      expect(json.tags).toHaveLength(1)
      expect(await total(`${scope}&digest=${json.tags[0].digest}`)).toBe(0)
      expect(await total(`${scope}&digest=${json.tags[0].digest}&include_epochs=true`)).toBe(1)
    })

    test('take updated_since as strictly after', async () => {
      const scope = `uidp.children_of=${await repoUid('static')}&include_dates=true`
      expect(await total(`${scope}&updated_since=2026-02-18T09:00:00Z`)).toBe(2)
      expect(await total(`${scope}&updatedSince=2026-02-19T11:00:00%2B02:00`)).toBe(0)
      expect((await get(`/registry/v2/tags?updated_since=yesterday`)).json).toMatchObject({ code: 3, details: [] })
    })

    test('show deprecated even if false, true for ended lines (specification §2)', async () => {
      const { json } = await get(`/registry/v2/tags?uidp.children_of=${await repoUid('python')}&name=3.8`)
      expect(json.tags[0].deprecated).toBe(true)
      expect((await get(`/registry/v2/tags?uidp.children_of=${await repoUid('python')}&name=latest`)).json.tags[0].deprecated).toBe(false)
    })
  })

  describe('create or update', () => {
    test('replaces an existing tag and keeps its uid', async () => {
      const repo = await repoUid('nginx')
      const first = (await post(`/registry/v2/tags/${repo}`, { name: 'edge', digest: DIGEST, deprecated: true, bundles: ['base'] })).json
      expect(first).toEqual({
        uid: expect.stringMatching(new RegExp(`^${repo}/[0-9a-f]{16}$`)),
        name: 'edge',
        digest: DIGEST,
        updateTime: '2026-03-01T12:00:00.000Z',
        deprecated: true,
        bundles: ['base'],
      })
      await call('POST', '/-/clock', { body: { advanceMs: 1_000 } })
      const second = (await post(`/registry/v2/tags/${repo}`, { name: 'edge', digest: OTHER_DIGEST })).json
      expect(second).toEqual({
        uid: first.uid,
        name: 'edge',
        digest: OTHER_DIGEST,
        updateTime: '2026-03-01T12:00:01.000Z',
        deprecated: false,
      })
      expect((await get(`/registry/v2/tags/${first.uid}`)).json).toEqual(second)
    })

    test('requires name and digest and checks them', async () => {
      const reply = await post(`/registry/v2/tags/${await repoUid('nginx')}`, { name: '.hidden', bundles: ['gold'] })
      expect(column(reply.json.details[1].fieldViolations, 'field')).toEqual(['name', 'digest', 'bundles'])
    })

    test('answers NOT_FOUND of the repo below a missing repo', async () => {
      const reply = await post(`/registry/v2/tags/${sandbox().organization}/0123456789abcdef`, { name: 'x', digest: DIGEST })
      expect(reply.json.details[1]).toEqual({
        '@type': 'type.googleapis.com/google.rpc.ResourceInfo',
        resourceType: 'registry.chainguard.dev/Repo',
        resourceName: `${sandbox().organization}/0123456789abcdef`,
      })
    })

    test('refuses an editor; the owner can delete', async () => {
      const repo = await repoUid('nginx')
      expect((await post(`/registry/v2/tags/${repo}`, { name: 'x', digest: DIGEST }, 'demo-editor')).status).toBe(403)
      const { uid } = (await post(`/registry/v2/tags/${repo}`, { name: 'x', digest: DIGEST })).json
      expect((await remove(`/registry/v2/tags/${uid}`)).text).toBe('')
      expect((await get(`/registry/v2/tags/${uid}`)).status).toBe(404)
    })

    test('has no update', async () => {
      const repo = await repoUid('nginx')
      const tag = (await get(`/registry/v2/tags?uidp.children_of=${repo}&page_size=1`)).json.tags[0]
      const reply = await call('PATCH', `/registry/v2/tags/${tag.uid}`, { body: {} })
      expect([reply.status, reply.json]).toEqual([501, { code: 12, message: 'Method Not Allowed', details: [] }])
    })
  })

  describe('images (semantics §3.12)', () => {
    const latest = async (repo: string) => (await get(`/registry/v2/tags?uidp.children_of=${repo}&name=latest`)).json.tags[0].digest

    test('show architectures and the size of one, amd64 by default', async () => {
      const repo = await repoUid('python')
      const image = `/registry/v2/repos/${repo}/digests/${await latest(repo)}`
      expect((await get(`${image}/architectures`)).json).toEqual({ architectures: ['amd64', 'arm64'] })
      const size = (await get(`${image}/size`)).json
      expect(size).toEqual({ size: expect.stringMatching(/^[0-9]+$/), architecture: 'amd64' })
      const other = (await get(`${image}/size?architecture=arm64`)).json
      expect(other.architecture).toBe('arm64')
      expect(other.size).not.toBe(size.size)
    })

    test('answer NOT_FOUND for an unknown digest or architecture', async () => {
      const repo = await repoUid('python')
      expect((await get(`/registry/v2/repos/${repo}/digests/${DIGEST}/size`)).status).toBe(404)
      expect((await get(`/registry/v2/repos/${repo}/digests/${await latest(repo)}/size?architecture=vax`)).status).toBe(404)
    })
  })
})

describe('registry', () => {
  /** The v1 service in the specification's dialect, at noon on 1 June 2026. */
  let v1 = startV1()
  beforeEach(() => {
    v1 = startV1()
  })

  const get = (path: string, token?: string) => v1.get(path, token)

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
      const times = column(items, 'update_timestamp')
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
      expect(column(items, 'digest')).toEqual([a, b, c])
    })

    test('keeps the time of a target when a write changes flags alone', async () => {
      const { send, world, organization } = startV1()
      const { body: repo } = await send(`POST /registry/v1/repos/${organization}`, { name: 'kept' })
      const digest = `sha256:${'a'.repeat(64)}`
      const { body: made } = await send(`POST /registry/v1/tags/${repo.id}`, { name: 'latest', digest })
      const history = async () => (await send(`GET /registry/v1/tags/${made.id}/history`)).body.items
      const first = await history()
      for (const request of [`PUT /registry/v1/tags/${made.id}`, `POST /registry/v1/tags/${repo.id}`]) {
        world.clock.advance(24 * 60 * 60 * 1000)
        await send(request, { name: 'latest', deprecated: true })
        expect(await history()).toEqual(first)
      }
      world.clock.advance(24 * 60 * 60 * 1000)
      const { body: moved } = await send(`PUT /registry/v1/tags/${made.id}`, { digest: `sha256:${'b'.repeat(64)}` })
      expect(await history()).toEqual([...first, { update_timestamp: moved.last_updated, digest: moved.digest }])
    })

    test('is empty for a missing tag and refused to a stranger', async () => {
      expect(await get(`/registry/v1/tags/${await repoId('static')}/0123456789abcdef/history`)).toEqual({
        status: 200,
        body: { items: [] },
      })
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
})
