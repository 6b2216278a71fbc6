import { describe, expect, test } from 'vitest'
import { DIALECTS, startV1 } from '../harness.ts'

describe.each(DIALECTS)('repos, %s dialect', (dialect) => {
  test('show the whole resource with the readme inline', async () => {
    const { send, organization, world } = startV1(dialect)
    const made = await send(`POST /registry/v1/repos/${organization}`, {
      name: 'app',
      catalogTier: 'BASE',
      active_tags: ['1'],
      readme: '# App',
    })
    const now = world.clock.now().toISOString()
    const common = { id: made.body.id, name: 'app', bundles: [], readme: '# App', sync_config: null, aliases: [], description: '' }
    const expected =
      dialect === 'published'
        ? { ...common, catalogTier: 'BASE', customOverlay: null, createTime: now, activeTags: ['1'] }
        : {
            ...common,
            catalog_tier: 'BASE',
            custom_overlay: null,
            create_time: now,
            active_tags: ['1'],
            created_at: now,
            updated_at: now,
            group_id: organization,
          }
    expect(made).toEqual({ status: 200, body: expected })
    expect((await send('GET /registry/v1/repos?name=app')).body.items).toEqual([expected])
  })
})

describe('creating', () => {
  test('answers 200 with every member and ignores the id in the body', async () => {
    const { send, organization } = startV1('published')
    const made = await send(`POST /registry/v1/repos/${organization}`, {
      id: organization,
      name: 'app',
      catalog_tier: 'BASE',
      readme: '# App',
    })
    expect(made).toMatchObject({ status: 200, body: { name: 'app', catalogTier: 'BASE', readme: '# App', bundles: [] } })
    expect(made.body.id).toMatch(new RegExp(`^${organization}/[0-9a-f]{16}$`))
    expect((await send(`GET /registry/v1/repos?id=${made.body.id}`)).body.items).toEqual([made.body])
  })

  test('replaces a repo of that name unless it must be new', async () => {
    const { send, organization } = startV1()
    const first = await send(`POST /registry/v1/repos/${organization}`, { name: 'app', description: 'one', bundles: ['base'], readme: 'x' })
    const second = await send(`POST /registry/v1/repos/${organization}`, { name: 'app', description: 'two' })
    expect(second).toMatchObject({ status: 200, body: { id: first.body.id, description: 'two', bundles: [], readme: '' } })
    const refused = await send(`POST /registry/v1/repos/${organization}?preventExisting=true`, { name: 'app' })
    expect(refused).toMatchObject({ status: 409, body: { code: 6, message: 'Already exists: Repo "app"', details: [] } })
  })

  test('rejects a missing group', async () => {
    const { send, organization } = startV1()
    const answer = await send(`POST /registry/v1/repos/${organization}/ffffffffffffffff`, { name: 'app' })
    expect(answer).toMatchObject({ status: 404, body: { code: 5 } })
  })
})

describe('updating', () => {
  const start = async () => {
    const started = startV1()
    const body = {
      name: 'app',
      description: 'one',
      catalog_tier: 'BASE',
      bundles: ['base'],
      aliases: ['app:1'],
      active_tags: ['1'],
      readme: '# App',
    }
    const { body: repo } = await started.send(`POST /registry/v1/repos/${started.organization}`, body)
    return { ...started, repo }
  }

  test('resets missing members, the readme included', async () => {
    const { send, repo, world } = await start()
    world.clock.advance(1000)
    const answer = await send(`PUT /registry/v1/repos/${repo.id}`, { id: 'ignored', name: 'app' })
    const reset = { description: '', catalog_tier: 'UNKNOWN', bundles: [], aliases: [], active_tags: [], readme: '' }
    expect(answer).toMatchObject({ status: 200, body: { id: repo.id, name: 'app', ...reset, created_at: repo.created_at } })
    expect(answer.body.updated_at).not.toBe(repo.updated_at)
  })

  test('writes the readme with repo.update alone and refuses unsafe HTML by v1 name', async () => {
    const { send, repo } = await start()
    const written = await send(`PUT /registry/v1/repos/${repo.id}`, { name: 'app', readme: 'new' }, { token: 'demo-editor' })
    expect(written).toMatchObject({ status: 200, body: { readme: 'new' } })
    const refused = await send(`PUT /registry/v1/repos/${repo.id}`, { name: 'app', readme: '<script>x</script>' })
    expect(refused.status).toBe(400)
    expect(refused.body.message).toMatch(/^Invalid argument: readme: /)
    expect((await send(`GET /registry/v1/repos?id=${repo.id}`)).body.items[0].readme).toBe('new')
  })

  test('accepts a synced repo as read, but no changed inherited member', async () => {
    const { send } = startV1()
    const [node] = (await send('GET /registry/v1/repos?name=node')).body.items
    const back = await send(`PUT /registry/v1/repos/${node.id}`, { ...node, description: 'ours' })
    expect(back).toMatchObject({ status: 200, body: { ...node, description: 'ours', updated_at: back.body.updated_at } })
    const refused = await send(`PUT /registry/v1/repos/${node.id}`, {
      ...node,
      sync_config: { ...node.sync_config, expiration: '2027-01-01T00:00:00Z' },
    })
    expect(refused.body.message).toBe('Invalid argument: sync_config.expiration: may only be changed by Chainguard')
  })

  test('converts nested members of the overlay to v1 names and back', async () => {
    const { send, repo } = await start()
    const accounts = { users: [{ user_name: 'app', uid: 10001, group_name: 'app' }], groups: [{ group_name: 'app', gid: 10001 }] }
    const answer = await send(`PUT /registry/v1/repos/${repo.id}`, { name: 'app', custom_overlay: { accounts, environment: { A_b: '1' } } })
    expect(answer.body.custom_overlay).toEqual({
      contents: null,
      environment: { A_b: '1' },
      annotations: {},
      accounts: {
        groups: [{ gid: 10001, group_name: 'app', members: [] }],
        users: [{ uid: 10001, user_name: 'app', group_name: 'app', shell: '', home_dir: '' }],
        run_as: '',
      },
      certificates: null,
    })
    const refused = await send(`PUT /registry/v1/repos/${repo.id}`, { name: 'app', customOverlay: { accounts: { users: [{ uid: 1 }] } } })
    expect(refused.body.message).toBe('Invalid argument: custom_overlay.accounts.users[0].user_name: is required')
  })
})

test('deletes the tags of a deleted repo too', async () => {
  const { send, world } = startV1()
  const [repo] = (await send('GET /registry/v1/repos?name=static')).body.items
  expect(await send(`DELETE /registry/v1/repos/${repo.id}`)).toEqual({ status: 200, body: {} })
  expect((await send(`GET /registry/v1/repos?id=${repo.id}`)).body).toEqual({ items: [] })
  expect(world.store.tags.children(repo.id)).toEqual([])
})
