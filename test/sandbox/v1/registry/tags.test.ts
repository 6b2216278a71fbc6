import { describe, expect, test } from 'vitest'
import { DIALECTS, names, startV1 } from '../harness.ts'

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
    const common = { id: body.id, name: 'v1', digest: DIGEST, deprecated: true, bundles: ['base'] }
    expect(body).toEqual(
      dialect === 'published' ? { ...common, lastUpdated: updated } : { ...common, last_updated: updated, updated_at: updated },
    )
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
