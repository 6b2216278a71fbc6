import { describe, expect, test } from 'vitest'
import { running } from './running.ts'

const { sandbox, call, get, patch } = running({}, { fresh: true })

/** The repo `php`. It is not synced and has an overlay, so all of it can be changed. */
const php = async () => (await get(`/registry/v2/repos?name=php&uidp.children_of=${sandbox().organization}`)).json.repos[0]

describe('PATCH without a mask (specification §4 rule 5)', () => {
  test('changes the members present in the body and keeps the others', async () => {
    const before = await php()
    const { json } = await patch(`/registry/v2/repos/${before.uid}`, { description: 'new' })
    expect(json).toEqual({ ...before, description: 'new', updateTime: '2026-03-01T12:00:00.000Z' })
  })

  test('resets explicit empty values', async () => {
    const before = await php()
    const { json } = await patch(`/registry/v2/repos/${before.uid}`, { description: '', bundles: [], customOverlay: null })
    expect(json).not.toHaveProperty('description')
    expect(json).not.toHaveProperty('bundles')
    expect(json).not.toHaveProperty('customOverlay')
    expect(json.aliases).toEqual(before.aliases)
  })

  test('changes only the present members of a sub-message', async () => {
    const before = await php()
    const { json } = await patch(`/registry/v2/repos/${before.uid}`, { custom_overlay: { environment: { A: '1' } } })
    expect(json.customOverlay).toEqual({ ...before.customOverlay, environment: { A: '1' } })
  })

  test('is refused by the gateway for an unknown member', async () => {
    const reply = await patch(`/registry/v2/repos/${(await php()).uid}`, { colour: 'red' })
    expect([reply.status, reply.json]).toEqual([
      400,
      { code: 3, message: 'could not find field "colour" in "chainguard.platform.registry.v2.Repo"', details: [] },
    ])
  })

  test('changes nothing with an empty body, not even the time', async () => {
    const before = await php()
    expect((await patch(`/registry/v2/repos/${before.uid}`, {})).json).toEqual(before)
    expect((await call('PATCH', `/registry/v2/repos/${before.uid}`)).json).toEqual(before)
  })

  test('ignores echoed output-only members; the path wins over the uid', async () => {
    const before = await php()
    const echo = { ...before, uid: 'other', createTime: '2000-01-01T00:00:00Z' }
    const { json } = await patch(`/registry/v2/repos/${before.uid}`, echo)
    expect(json).toEqual({ ...before, updateTime: '2026-03-01T12:00:00.000Z' })
  })
})

describe('PATCH with updateMask', () => {
  test('changes the listed members only, whatever else the body holds', async () => {
    const before = await php()
    const body = { name: 'NOT ALLOWED', description: 'new', catalogTier: 'CATALOG_TIER_BASE' }
    const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=description,catalog_tier`, body)
    expect(json).toMatchObject({ name: 'php', description: 'new', catalogTier: 'CATALOG_TIER_BASE' })
  })

  test('reads both spellings of parameter and path', async () => {
    const before = await php()
    const { json } = await patch(`/registry/v2/repos/${before.uid}?update_mask=catalogTier,activeTags`, {
      catalogTier: 'CATALOG_TIER_BASE',
    })
    expect(json).toMatchObject({ catalogTier: 'CATALOG_TIER_BASE', description: before.description })
    expect(json).not.toHaveProperty('activeTags')
  })

  test('resets a listed member that the body lacks, also inside a sub-message', async () => {
    const before = await php()
    const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=custom_overlay.environment`, {})
    const { environment: _environment, ...rest } = before.customOverlay
    expect(json.customOverlay).toEqual(rest)
  })

  test('replaces everything that a client can set with *', async () => {
    const before = await php()
    const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=*`, { name: 'php' })
    expect(json).toEqual({ uid: before.uid, name: 'php', createTime: before.createTime, updateTime: '2026-03-01T12:00:00.000Z' })
  })

  test('requires the required members with *', async () => {
    const reply = await patch(`/registry/v2/repos/${(await php()).uid}?updateMask=*`, { description: 'x' })
    expect(reply.json.message).toBe('Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"')
  })

  test.each([
    ['colour', 'update_mask: unknown path "colour"'],
    ['*,name', 'update_mask: the wildcard "*" cannot be combined with other paths'],
    ['bundles.first', 'update_mask: unknown path "bundles.first"'],
  ])('rejects %s', async (mask, text) => {
    const reply = await patch(`/registry/v2/repos/${(await php()).uid}?updateMask=${mask}`, { name: 'php' })
    expect([reply.status, reply.json.message]).toEqual([400, `Invalid argument: ${text}`])
  })

  test('ignores paths to output-only members', async () => {
    const before = await php()
    const { json } = await patch(`/registry/v2/repos/${before.uid}?updateMask=uid,create_time`, { uid: 'x' })
    expect(json).toMatchObject({ uid: before.uid, createTime: before.createTime })
  })
})

test('answers NOT_FOUND for a missing resource', async () => {
  const reply = await patch(`/registry/v2/repos/${sandbox().organization}/0123456789abcdef`, { description: 'x' })
  expect(reply.status).toBe(404)
})

test('answers ALREADY_EXISTS for a new name that is taken', async () => {
  expect((await patch(`/registry/v2/repos/${(await php()).uid}`, { name: 'python' })).status).toBe(409)
})
