import { describe, expect, test } from 'vitest'
import { DIALECTS, startV1 } from '../harness.ts'

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
    const spelled =
      dialect === 'published'
        ? { count: 'tagCount', time: 'lastUpdated', tag: 'latestTag', version: 'latestVersion' }
        : { count: 'tag_count', time: 'last_updated', tag: 'latest_tag', version: 'latest_version' }
    expect(body).toMatchObject({ id: repo.id, [spelled.count]: '3', [spelled.time]: newest, [spelled.version]: '1.2.3' })
    expect(body[spelled.tag]).toMatchObject({ name: 'latest', digest: DIGEST })
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
