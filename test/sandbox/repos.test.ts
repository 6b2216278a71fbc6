import { describe, expect, test } from 'vitest'
import { running } from './running.ts'

const { sandbox, call, get, post, patch, remove } = running({}, { fresh: true })

const repoNamed = async (name: string, token?: string) => {
  const reply = await get(`/registry/v2/repos?name=${name}&uidp.children_of=${sandbox().organization}`, token)
  return reply.json.repos[0]
}

const createRepo = async (body: object) => (await post(`/registry/v2/repos/${sandbox().organization}`, body)).json

describe('fields of a repo (specification §2)', () => {
  test('a repo shows uid, name, description and both times with milliseconds', async () => {
    const repo = await repoNamed('python')
    expect(repo).toMatchObject({ name: 'python', description: 'Container images of python' })
    expect(repo.uid).toMatch(new RegExp(`^${sandbox().organization}/[0-9a-f]{16}$`))
    expect(repo.createTime).toBe('2026-01-23T09:00:00.000Z')
    expect(repo.updateTime).toBe('2026-01-23T09:00:00.000Z')
  })

  test('sync_config keeps its snake_case name and its members are camelCase', async () => {
    const { sync_config: sync } = await repoNamed('node')
    expect(Object.keys(sync)).toEqual(['source', 'uniqueTags', 'expirationTime', 'gracePeriod'])
  })

  test('Get answers what List shows', async () => {
    const listed = await repoNamed('jdk')
    expect((await get(`/registry/v2/repos/${listed.uid}`)).json).toEqual(listed)
  })
})

describe('create', () => {
  test('the parent is in the path, the members in the body, ids in the body are ignored', async () => {
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

  test('members may be spelled as in the proto', async () => {
    const repo = await createRepo({ name: 'snake', catalog_tier: 'CATALOG_TIER_BASE', active_tags: ['latest'] })
    expect(repo).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE', activeTags: ['latest'] })
  })

  test('a name that is taken in the organization is ALREADY_EXISTS', async () => {
    const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'python' })
    expect(reply.status).toBe(409)
    expect(reply.json).toMatchObject({ code: 6, message: 'Already exists: Repo "python"' })
  })

  test('every failing field is reported at once', async () => {
    const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'UPPER', bundles: ['nope'], aliases: ['plain'] })
    expect(reply.json.details[1].fieldViolations.map(({ field }: { field: string }) => field)).toEqual(['name', 'bundles', 'aliases'])
  })

  test('an overlay is checked inside, with paths', async () => {
    const customOverlay = { environment: { CHAINGUARD_X: '1' }, accounts: { users: [{ uid: 1 }] } }
    const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'overlaid', customOverlay })
    expect(reply.json.details[1].fieldViolations).toEqual([
      { field: 'custom_overlay.environment', description: 'variable "CHAINGUARD_X" is reserved' },
      { field: 'custom_overlay.accounts.users[0].username', description: 'is required' },
    ])
  })

  test('below a group that does not exist it is NOT_FOUND of the group', async () => {
    const reply = await post(`/registry/v2/repos/${sandbox().organization}/0123456789abcdef`, { name: 'x' })
    expect(reply.status).toBe(404)
    expect(reply.json.details[1]).toMatchObject({ resourceType: 'iam.chainguard.dev/Group' })
  })
})

describe('synced repos (semantics §3.10)', () => {
  const readOnly = 'may only be changed by Chainguard'

  test('a source may be written as organization/repo and is stored as a uid; the rest is inherited', async () => {
    const repo = await createRepo({ name: 'mirror', sync_config: { source: 'cgr.dev/chainguard/python' } })
    expect(repo).toMatchObject({ catalogTier: 'CATALOG_TIER_APPLICATION', description: 'Container images of python' })
    expect(repo.sync_config).toMatchObject({
      source: expect.stringMatching(/^720909c9f5279097d847ad02a2f24ba8f59de36a\/[0-9a-f]{16}$/),
      expirationTime: '2026-03-15T12:00:00.000Z',
    })
  })

  test('a source nobody has, and one of a strange organization, are refused alike', async () => {
    for (const source of ['chainguard/nothing', 'acme.dev/widget']) {
      const reply = await post(`/registry/v2/repos/${sandbox().organization}`, { name: 'mirror', sync_config: { source } })
      expect(reply.json.message).toBe('Invalid argument: sync_config.source: must name a repo you can pull from')
    }
  })

  test('inherited members cannot be changed, equal values pass', async () => {
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

  test('sync members the service sets cannot be changed, and survive when left out', async () => {
    const node = await repoNamed('node')
    const path = `/registry/v2/repos/${node.uid}`
    const refused = await patch(path, { sync_config: { ...node.sync_config, expirationTime: '2030-01-01T00:00:00Z' } })
    expect(refused.json.details[1].fieldViolations).toEqual([{ field: 'sync_config.expiration_time', description: readOnly }])
    const kept = await patch(`${path}?updateMask=sync_config`, { sync_config: { source: node.sync_config.source, amazon: 'ecr' } })
    expect(kept.json.sync_config).toEqual({ ...node.sync_config, amazon: 'ecr' })
  })

  test('another source brings its own tier along, and no longer being synced keeps it', async () => {
    const { uid } = await repoNamed('node')
    const moved = (await patch(`/registry/v2/repos/${uid}`, { sync_config: { source: 'chainguard/static' } })).json
    expect(moved).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE', activeTags: ['latest'], description: 'Container images of node' })
    const own = (await patch(`/registry/v2/repos/${uid}`, { sync_config: null })).json
    expect(own).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE' })
    expect(own).not.toHaveProperty('sync_config')
    const again = (await patch(`/registry/v2/repos/${uid}`, { sync_config: { source: 'chainguard/node' } })).json
    expect(again).toMatchObject({ catalogTier: 'CATALOG_TIER_APPLICATION', sync_config: { expirationTime: '2026-03-15T12:00:00.000Z' } })
  })

  test('staff with repo.internal.admin change them', async () => {
    const node = await repoNamed('node')
    const reply = await patch(`/registry/v2/repos/${node.uid}`, { catalogTier: 'CATALOG_TIER_BASE' }, 'demo-admin')
    expect(reply.json.catalogTier).toBe('CATALOG_TIER_BASE')
  })

  test('a repo that is not synced is freely changed', async () => {
    const python = await repoNamed('python')
    const reply = await patch(`/registry/v2/repos/${python.uid}`, { catalogTier: 'CATALOG_TIER_BASE' }, 'demo-editor')
    expect(reply.json.catalogTier).toBe('CATALOG_TIER_BASE')
  })
})

describe('delete', () => {
  test('answers 200 with zero bytes and takes tags and readme along', async () => {
    const { uid } = await repoNamed('nginx')
    const reply = await remove(`/registry/v2/repos/${uid}`)
    expect([reply.status, reply.text]).toEqual([200, ''])
    expect((await get(`/registry/v2/repos/${uid}`)).status).toBe(404)
    expect((await get(`/registry/v2/tags?uidp.children_of=${uid}`)).json).toMatchObject({ tags: [], totalCount: '0' })
    expect((await remove(`/registry/v2/repos/${uid}`)).status).toBe(404)
  })
})

describe('readme', () => {
  test('is a sub-resource; a repo without one has an empty one', async () => {
    const python = await repoNamed('python')
    expect((await get(`/registry/v2/repos/${python.uid}/readme`)).json.content).toMatch(/^# python\n/)
    const php = await repoNamed('php')
    expect((await get(`/registry/v2/repos/${php.uid}/readme`)).json).toEqual({ uid: php.uid })
  })

  test('writing it needs repo.internal.admin besides repo.update, and leaves the time of the repo alone', async () => {
    const { uid, updateTime } = await repoNamed('python')
    const path = `/registry/v2/repos/${uid}/readme`
    expect((await patch(path, { content: '# ours' })).status).toBe(403)
    expect((await patch(path, { content: '# ours' }, 'demo-admin')).json).toEqual({ uid, content: '# ours' })
    expect((await get(`/registry/v2/repos/${uid}`)).json.updateTime).toBe(updateTime)
  })

  test('unsafe HTML is refused', async () => {
    const { uid } = await repoNamed('python')
    const reply = await patch(`/registry/v2/repos/${uid}/readme`, { content: 'a <script>x</script>' }, 'demo-admin')
    expect(reply.json.message).toBe('Invalid argument: content: content must not hold unsafe HTML')
  })

  test('of a repo that does not exist is NOT_FOUND', async () => {
    expect((await get(`/registry/v2/repos/${sandbox().organization}/0123456789abcdef/readme`)).status).toBe(404)
  })
})

test('a uid may be sent with %2F for its slashes', async () => {
  const { uid } = await repoNamed('python')
  expect((await call('GET', `/registry/v2/repos/${encodeURIComponent(uid)}`)).json.uid).toBe(uid)
})
