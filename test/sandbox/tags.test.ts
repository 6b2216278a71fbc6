import { describe, expect, test } from 'vitest'
import { running } from './running.ts'

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
    const wrong = await get(`/registry/v2/tags?updated_since=yesterday`)
    expect(wrong.json).toMatchObject({ code: 3, details: [] })
  })

  test('show deprecated even if false, true for ended lines (specification §2)', async () => {
    const { json } = await get(`/registry/v2/tags?uidp.children_of=${await repoUid('python')}&name=3.8`)
    expect(json.tags[0].deprecated).toBe(true)
    const current = await get(`/registry/v2/tags?uidp.children_of=${await repoUid('python')}&name=latest`)
    expect(current.json.tags[0].deprecated).toBe(false)
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
    expect(reply.json.details[1].fieldViolations.map(({ field }: { field: string }) => field)).toEqual(['name', 'digest', 'bundles'])
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
