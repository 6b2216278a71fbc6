import { describe, expect, test } from 'vitest'
import { running } from './running.ts'

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
    const repo = await createRepo({ uid: 'mine', name: 'fresh', description: 'new', bundles: ['base'], unknown: 1 })
    expect(repo).toEqual({
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
    expect(reply.status).toBe(409)
    expect(reply.json).toMatchObject({ code: 6, message: 'Already exists: Repo "python"' })
  })

  test('reports every failing field at once', async () => {
    const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'UPPER', bundles: ['nope'], aliases: ['plain'] })
    expect(reply.json.details[1].fieldViolations.map(({ field }: { field: string }) => field)).toEqual(['name', 'bundles', 'aliases'])
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

  test('accept changes by staff with repo.internal.admin', async () => {
    const node = await repoNamed('node')
    const reply = await patch(`/registry/v2/repos/${node.uid}`, { catalogTier: 'CATALOG_TIER_BASE' }, 'demo-admin')
    expect(reply.json.catalogTier).toBe('CATALOG_TIER_BASE')
  })

  test('are changed freely if not synced', async () => {
    const python = await repoNamed('python')
    const reply = await patch(`/registry/v2/repos/${python.uid}`, { catalogTier: 'CATALOG_TIER_BASE' }, 'demo-editor')
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

  test('of a missing repo is NOT_FOUND', async () => {
    expect((await get(`/registry/v2/repos/${sandbox().organization}/0123456789abcdef/readme`)).status).toBe(404)
  })
})

test('accepts %2F for the slashes of a uid', async () => {
  const { uid } = await repoNamed('python')
  expect((await call('GET', `/registry/v2/repos/${encodeURIComponent(uid)}`)).json.uid).toBe(uid)
})
