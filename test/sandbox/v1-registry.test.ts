import { describe, expect, test } from 'vitest'
import { eolTagOf } from '../../src/sandbox/v1/registry/eol.ts'
import { DIALECTS, inDialect, names, startV1 } from './stage.ts'

describe('the end-of-life decision rule (semantics §8)', () => {
  const at = (name: string, date: string, repo = 'node', extra = {}) =>
    eolTagOf({ name: repo, activeTags: [] }, { uid: 'u', name, deprecated: false, ...extra }, new Date(`${date}T00:00:00Z`))

  test.each([
    ['24', '2026-01-01', 'GRACE_ELIGIBLE', 'TAG_ACTIVE', null],
    ['18', '2025-05-01', 'GRACE_ACTIVE', 'TAG_IN_GRACE', '2025-10-30T00:00:00Z'],
    ['18.20.8-dev', '2025-10-30', 'GRACE_ACTIVE', 'TAG_IN_GRACE', '2025-10-30T00:00:00Z'],
    ['18', '2025-10-31', 'GRACE_EXPIRED', 'TAG_INACTIVE', null],
    ['latest', '2026-01-01', 'GRACE_NOT_ELIGIBLE', 'TAG_ACTIVE', null],
    ['24.1.0-r3-dev', '2026-01-01', 'GRACE_ELIGIBLE', 'TAG_INACTIVE', null],
  ])('rates node:%s on %s', (name, date, graceStatus, tagStatus, gracePeriodExpiryDate) => {
    expect(at(name, date)).toMatchObject({ graceStatus, tagStatus, gracePeriodExpiryDate })
  })

  test('ends the grace at once for a stream that cannot be built any more', () => {
    expect(at('24', '2025-10-01', 'jdk')).toMatchObject({ graceStatus: 'GRACE_BROKEN', tagStatus: 'TAG_INACTIVE' })
  })

  test('adds months with overflow: 2026-10-31 and six months is 2027-05-01', () => {
    expect(at('3.10', '2027-01-01', 'python').gracePeriodExpiryDate).toBe('2027-05-01T00:00:00Z')
  })

  test('names main package and version', () => {
    expect(at('20.1', '2026-01-01')).toMatchObject({
      mainPackageName: 'nodejs',
      mainPackageVersion: { version: '20', exists: true, lts: true },
    })
    expect(at('latest', '2026-01-01').mainPackageVersion).toMatchObject({ version: '', exists: false, eolDate: '' })
    expect(at('1', '2026-01-01', 'unheard-of')).toMatchObject({ mainPackageName: '', mainPackageVersion: null })
  })

  test('follows the active tags of the repo if it lists any', () => {
    const repo = { name: 'node', activeTags: ['18-dev'] }
    const now = new Date('2026-06-01T00:00:00Z')
    expect(eolTagOf(repo, { uid: 'u', name: '18-dev', deprecated: true }, now).tagStatus).toBe('TAG_ACTIVE')
    expect(eolTagOf(repo, { uid: 'u', name: '24', deprecated: false }, now).tagStatus).toBe('TAG_INACTIVE')
  })
})

describe('reads', () => {
  const DIGEST = `sha256:${'a'.repeat(64)}`

  const start = async (dialect: (typeof DIALECTS)[number] = 'specification') => {
    const started = startV1(dialect)
    const { body: repo } = await started.send(`POST /registry/v1/repos/${started.organization}`, { name: 'app' })
    const tag = (name: string, digest = DIGEST) => started.send(`POST /registry/v1/tags/${repo.id}`, { name, digest })
    return { ...started, repo, tag }
  }

  describe('images', () => {
    test('show architectures and sizes of a digest', async () => {
      const { send, repo, world } = await start('published')
      world.store.images.put({ uid: `${repo.id}@${DIGEST}`, digest: DIGEST, sizes: { amd64: '1024', arm64: '1000' } })
      const path = `GET /registry/v1/repos/${repo.id}/digests/${DIGEST}`
      expect((await send(`${path}/architectures`)).body).toEqual({ archs: ['amd64', 'arm64'] })
      expect((await send(`${path}/size`)).body).toEqual({ size: '1024', arch: 'amd64' })
      expect((await send(`GET /registry/v1/repos/${encodeURIComponent(repo.id)}/digests/${DIGEST}/size?arch=arm64`)).body).toEqual({
        size: '1000',
        arch: 'arm64',
      })
      expect(await send(`${path}/size?arch=s390x`)).toEqual({ status: 200, body: { size: '0', arch: '' } })
    })

    test('are empty messages if unknown', async () => {
      const { send, repo } = await start()
      const path = `GET /registry/v1/repos/${repo.id}/digests/${DIGEST}`
      expect(await send(`${path}/architectures`)).toEqual({ status: 200, body: { archs: [] } })
      expect(await send(`${path}/size`)).toEqual({ status: 200, body: { size: '0', arch: '' } })
    })
  })

  describe.each(DIALECTS)('summary of tags, %s dialect', (dialect) => {
    test('shows latest, its version and the newest time', async () => {
      const { send, repo, tag, world } = await start(dialect)
      await tag('latest')
      await tag('1.2.3')
      await tag('1.2.3-r1')
      world.clock.advance(1000)
      await tag('next', `sha256:${'b'.repeat(64)}`)
      const newest = world.clock.now().toISOString()
      const { body } = await send(`GET /registry/v1/repotagssummary/${repo.id}?exclude_epochs=true`)
      const latest = { latest_tag: { name: 'latest', digest: DIGEST }, latest_version: '1.2.3' }
      expect(body).toMatchObject(inDialect(dialect, { id: repo.id, tag_count: '3', last_updated: newest, ...latest }))
    })
  })

  describe('summaries', () => {
    test('fall back to the newest tag without a tag named latest', async () => {
      const { send, repo, tag, world } = await start()
      await tag('1.0')
      world.clock.advance(1000)
      await tag('1.1', `sha256:${'b'.repeat(64)}`)
      const { body } = await send(`GET /registry/v1/repotagssummary/${repo.id}`)
      expect(body).toMatchObject({ latest_tag: { name: '1.1' }, latest_version: '' })
    })

    test('are empty without tags and ignore other parameters of tags', async () => {
      const { send, repo, tag } = await start()
      const empty = { id: repo.id, tag_count: '0', last_updated: null, latest_tag: null, latest_version: '' }
      expect(await send(`GET /registry/v1/repotagssummary/${repo.id}`)).toEqual({ status: 200, body: empty })
      await tag('1.0')
      const counted = await send(`GET /registry/v1/repotagssummary/${repo.id}?name=x&digest=y&updated_since=2036-01-01T00:00:00Z`)
      expect(counted.body.tag_count).toBe('1')
    })

    test('count synced repos across organizations', async () => {
      const { send, world, repo, organization } = await start()
      const synced = world.store.repos.values().filter((row) => row.sync_config !== undefined)
      const [first] = synced
      world.store.repos.put({ ...first!, sync_config: { ...first!.sync_config!, source: repo.id } })
      const elsewhere = world.store.repos.values().find(({ uid }) => !uid.startsWith(organization))
      world.store.repos.put({ ...elsewhere!, sync_config: { ...first!.sync_config!, source: repo.id } })
      expect((await send(`GET /registry/v1/repocountbysource/${repo.id}`)).body).toEqual({ count: '2' })
    })
  })

  describe('the end-of-life listing', () => {
    test('covers every tag of the scope except referrers, with package and status', async () => {
      const { send } = startV1('published')
      const [node] = (await send('GET /registry/v1/repos?name=node')).body.items
      const { items, nextPageToken } = (await send(`GET /registry/v1/eoltags?uidp.childrenOf=${node.id}`)).body
      expect(nextPageToken).toBe('')
      expect(items.some(({ name }: { name: string }) => name.startsWith('sha256-'))).toBe(false)
      const of = (name: string) => items.find((item: { name: string }) => item.name === name)
      expect(of('24')).toMatchObject({
        mainPackageName: 'nodejs',
        tagStatus: 'TAG_ACTIVE',
        graceStatus: 'GRACE_ELIGIBLE',
        gracePeriodExpiryDate: null,
        mainPackageVersion: { version: '24', eolDate: '2028-04-30', exists: true, eolBroken: false, versionSource: null },
      })
      expect(of('18')).toMatchObject({ tagStatus: 'TAG_INACTIVE', graceStatus: 'GRACE_EXPIRED' })
    })

    test('pages on request, and the pages make up the whole', async () => {
      const { send } = startV1()
      const [repo] = (await send('GET /registry/v1/repos?name=static')).body.items
      const path = `GET /registry/v1/eoltags?uidp.children_of=${repo.id}`
      const all = (await send(path)).body.items
      const first = (await send(`${path}&page_size=5`)).body
      const rest = (await send(`${path}&pageToken=${first.next_page_token}`)).body
      expect(first.items).toHaveLength(5)
      expect([...first.items, ...rest.items]).toEqual(all)
      expect(rest.next_page_token).toBe('')
    })

    test('filters by name and omits dates', async () => {
      const { send } = startV1()
      const [repo] = (await send('GET /registry/v1/repos?name=static')).body.items
      const path = `GET /registry/v1/eoltags?uidp.children_of=${repo.id}`
      expect((await send(`${path}&name=latest`)).body.items).toHaveLength(1)
      expect((await send(`${path}&name=latest&digest=x&updated_since=2036-01-01T00:00:00Z`)).body.items).toHaveLength(1)
      const dated = (await send(path)).body.items.length
      expect((await send(`${path}&exclude_dates=true`)).body.items.length).toBeLessThan(dated)
    })
  })
})

describe('repos', () => {
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
      const unset = { bundles: [], sync_config: null, custom_overlay: null, aliases: [], description: '' }
      const given = { id: made.body.id, name: 'app', catalog_tier: 'BASE', active_tags: ['1'], readme: '# App', create_time: now }
      const expected = inDialect(dialect, { ...unset, ...given }, { created_at: now, updated_at: now, group_id: organization })
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
      const first = await send(`POST /registry/v1/repos/${organization}`, {
        name: 'app',
        description: 'one',
        bundles: ['base'],
        readme: 'x',
      })
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
      expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching(/^Invalid argument: readme: /) } })
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
      const answer = await send(`PUT /registry/v1/repos/${repo.id}`, {
        name: 'app',
        custom_overlay: { accounts, environment: { A_b: '1' } },
      })
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
})

describe('tags', () => {
  const DIGEST = `sha256:${'a'.repeat(64)}`
  const OTHER = `sha256:${'b'.repeat(64)}`

  const start = async (dialect: (typeof DIALECTS)[number] = 'specification') => {
    const started = startV1(dialect)
    const { body: repo } = await started.send(`POST /registry/v1/repos/${started.organization}`, { name: 'app' })
    const tag = (body: object, token = 'demo-owner') => started.send(`POST /registry/v1/tags/${repo.id}`, body, { token })
    return { ...started, repo, tag }
  }

  describe.each(DIALECTS)('tags, %s dialect', (dialect) => {
    test('show the whole resource', async () => {
      const { tag, repo, world } = await start(dialect)
      const { body } = await tag({ name: 'v1', digest: DIGEST, deprecated: true, bundles: ['base'] })
      const updated = world.clock.now().toISOString()
      const shown = { id: body.id, name: 'v1', digest: DIGEST, deprecated: true, bundles: ['base'], last_updated: updated }
      expect(body).toEqual(inDialect(dialect, shown, { updated_at: updated }))
      expect(body.id.startsWith(`${repo.id}/`)).toBe(true)
    })
  })

  describe('creating', () => {
    test('moves an existing tag and keeps its id', async () => {
      const { tag } = await start()
      const first = await tag({ name: 'v1', digest: DIGEST, deprecated: true })
      const second = await tag({ name: 'v1', digest: OTHER })
      expect(second).toMatchObject({ status: 200, body: { id: first.body.id, digest: OTHER, deprecated: false } })
    })

    test('needs no digest: a new tag has none, an existing one keeps its own', async () => {
      const { tag } = await start()
      expect((await tag({ name: 'v1' })).body.digest).toBe('')
      await tag({ name: 'v2', digest: DIGEST })
      expect((await tag({ name: 'v2', bundles: ['base'] })).body).toMatchObject({ digest: DIGEST, bundles: ['base'] })
    })

    test('checks a given digest', async () => {
      const { tag } = await start()
      expect((await tag({ name: 'v1', digest: 'sha256:short' })).body.message).toMatch(/^Invalid argument: digest: /)
    })
  })

  describe('updating', () => {
    test('keeps missing name and digest and replaces the rest', async () => {
      const { tag, send } = await start()
      const { body } = await tag({ name: 'v1', digest: DIGEST, bundles: ['base'] })
      const answer = await send(`PUT /registry/v1/tags/${body.id}`, { deprecated: true })
      expect(answer).toMatchObject({ status: 200, body: { id: body.id, name: 'v1', digest: DIGEST, deprecated: true, bundles: [] } })
    })

    test('can rename, but not to a taken name', async () => {
      const { tag, send } = await start()
      const { body } = await tag({ name: 'v1', digest: DIGEST })
      await tag({ name: 'v2', digest: OTHER })
      expect((await send(`PUT /registry/v1/tags/${body.id}`, { name: 'v3' })).body).toMatchObject({ id: body.id, name: 'v3' })
      expect(await send(`PUT /registry/v1/tags/${body.id}`, { name: 'v2' })).toMatchObject({ status: 409, body: { code: 6 } })
    })

    test('requires tag.update, which an editor lacks', async () => {
      const { tag, send } = await start()
      const { body } = await tag({ name: 'v1', digest: DIGEST })
      expect((await send(`PUT /registry/v1/tags/${body.id}`, {}, { token: 'demo-editor' })).status).toBe(403)
    })
  })

  describe('listing', () => {
    const filled = async () => {
      const started = await start()
      for (const name of ['1.2', '1.2-r3', '1.2-20260101', `sha256-${'a'.repeat(64)}.sig`]) await started.tag({ name, digest: DIGEST })
      const list = async (query: string) =>
        [...names(await started.send(`GET /registry/v1/tags?uidp.children_of=${started.repo.id}${query}`))].sort()
      return { ...started, list }
    }

    test('shows every tag unless a parameter excludes it', async () => {
      const { list } = await filled()
      expect(await list('')).toHaveLength(4)
      expect(await list('&exclude_dates=true')).not.toContain('1.2-20260101')
      expect(await list('&excludeEpochs=1')).not.toContain('1.2-r3')
      expect(await list('&exclude_referrers=t&exclude_dates=t&exclude_epochs=t')).toEqual(['1.2'])
      expect(await list('&include_dates=false')).toHaveLength(4)
    })

    test('filters by name, by digest and by time', async () => {
      const { list, tag, world } = await filled()
      expect(await list('&name=1.2')).toEqual(['1.2'])
      expect(await list(`&digest=${OTHER}`)).toEqual([])
      const since = world.clock.now().toISOString()
      world.clock.advance(1000)
      await tag({ name: '1.3', digest: OTHER })
      expect(await list(`&updatedSince=${since}`)).toEqual(['1.3'])
      expect(await list(`&digest=${OTHER}&name=1.3`)).toEqual(['1.3'])
    })

    test('deletes a tag', async () => {
      const { list, send } = await filled()
      const [tag] = (await send('GET /registry/v1/tags?name=1.2-20260101')).body.items
      expect(await send(`DELETE /registry/v1/tags/${tag.id}`)).toEqual({ status: 200, body: {} })
      expect(await list('')).toHaveLength(3)
    })
  })
})
