import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'
import { running, START } from './running.ts'

const ORG = 'a'.repeat(40)
const OTHER_ORG = 'b'.repeat(40)
const REPO = `${ORG}/${'1'.repeat(16)}`
const TAG = `${REPO}/${'2'.repeat(16)}`
const DIGEST = `sha256:${'ab'.repeat(32)}`

const FILE = {
  groups: [
    { uid: ORG, name: 'first.org', description: 'line\nbreak', kind: 'ORG_KIND_DEV', createTime: '2025-01-01T01:00:00+01:00' },
    { uid: OTHER_ORG, name: 'acme.dev' },
  ],
  repos: [{ uid: REPO, name: 'api', sync_config: { source: 'elsewhere' } }],
  readmes: [{ uid: REPO, content: '# api' }],
  tags: [{ uid: TAG, name: 'latest', digest: DIGEST }],
}

const folder = await mkdtemp(join(tmpdir(), 'sandbox-data-'))
afterAll(() => rm(folder, { recursive: true }))

const written = async (name: string, text: string): Promise<{ file: string }> => {
  const file = join(folder, name)
  await writeFile(file, text)
  return { file }
}

describe('demo', () => {
  const { sandbox, get } = running()

  test('is the same in every sandbox', async () => {
    const twin = await startSandbox({ port: 0, now: START, seed: 2 })
    const headers = { authorization: 'Bearer demo-owner' }
    const theirs = await (await fetch(`${twin.url}/registry/v2/repos?page_size=200`, { headers })).json()
    await twin.close()
    expect((await get('/registry/v2/repos?page_size=200')).json).toEqual(theirs)
  })

  test('has twelve repos with readmes, syncs, overlays and about five thousand tags', async () => {
    const { repos } = (await get('/registry/v2/repos?order_by=name')).json
    expect(repos.map(({ name }: { name: string }) => name).join(' ')).toBe(
      'apko busybox go jdk nginx node php postgres python redis ruby static',
    )
    expect(repos.filter((repo: object) => 'sync_config' in repo)).toHaveLength(3)
    expect(repos.filter((repo: object) => 'customOverlay' in repo)).toHaveLength(2)
    const all = 'include_referrers=1&include_dates=1&include_epochs=1&page_size=1'
    expect(Number((await get(`/registry/v2/tags?${all}`)).json.totalCount)).toBeGreaterThan(5_000)
    expect(sandbox().tokens).toEqual({
      owner: 'demo-owner',
      editor: 'demo-editor',
      viewer: 'demo-viewer',
      outsider: 'demo-outsider',
      admin: 'demo-admin',
    })
  })

  test('shows the admin every organization, the outsider its own, by each of their tokens', async () => {
    const names = async (token: string) =>
      (await get('/iam/v2/groups?uidp.in_root=true&order_by=name', token)).json.groups.map(({ name }: { name: string }) => name)
    expect(await names('demo-admin')).toEqual(['acme.dev', 'chainguard', 'example.com'])
    expect(await names('demo-outsider')).toEqual(['acme.dev'])
    expect(await names('demo-outsider-7')).toEqual(['acme.dev'])
    expect((await get('/iam/v2/groups', 'demo-7')).status).toBe(401)
  })
})

describe('empty', () => {
  const { sandbox, get } = running({ data: 'empty' })

  test('has one organization, its users and the built-in roles', async () => {
    expect((await get('/iam/v2/groups')).json.groups.map(({ uid }: { uid: string }) => uid)).toEqual([sandbox().organization])
    expect((await get('/registry/v2/repos')).json.totalCount).toBe('0')
    expect((await get('/iam/v2/roles?name=viewer')).json.roles[0].uid).toBe('63921b2c44617e3f2603851537be0123af4a57d7')
  })
})

describe('large', () => {
  const { get } = running({ data: 'large' })

  test('has one repo with 10,000 tags, none hidden', async () => {
    const { uid } = (await get('/registry/v2/repos?name=large')).json.repos[0]
    expect((await get(`/registry/v2/tags?uidp.children_of=${uid}&page_size=1`)).json.totalCount).toBe('10000')
  })
})

describe('a file', () => {
  const open = async (content: unknown): Promise<SandboxOptions> => ({
    port: 0,
    now: START,
    data: await written('data.json', JSON.stringify(content)),
  })
  const { sandbox, get } = running({ data: FILE })

  test('holds its resources with their uids; missing members are zero', async () => {
    expect(sandbox().organization).toBe(ORG)
    expect((await get(`/iam/v2/groups/${ORG}`)).json).toMatchObject({
      uid: ORG,
      name: 'first.org',
      description: 'line\nbreak',
      kind: 'ORG_KIND_DEV',
      createTime: '2025-01-01T00:00:00.000Z',
      updateTime: '2026-03-01T12:00:00.000Z',
    })
    expect((await get(`/registry/v2/repos/${REPO}/readme`)).json).toEqual({ uid: REPO, content: '# api' })
    expect((await get(`/registry/v2/tags/${TAG}`)).json).toMatchObject({ name: 'latest', deprecated: false })
    expect((await get(`/registry/v2/repos/${REPO}/digests/${DIGEST}/architectures`)).json.architectures).toEqual(['amd64', 'arm64'])
  })

  test('binds the demo tokens at its organizations', async () => {
    expect((await get(`/iam/v2/groups/${OTHER_ORG}`)).status).toBe(403)
    expect((await get(`/iam/v2/groups/${OTHER_ORG}`, 'demo-outsider')).status).toBe(200)
    expect((await get(`/iam/v2/groups/${OTHER_ORG}`, 'demo-admin')).status).toBe(200)
  })

  test('is read from disk', async () => {
    const opened = await startSandbox(await open(FILE))
    expect(opened.organization).toBe(ORG)
    await opened.close()
  })

  test.each([
    ['an unknown collection', { ...FILE, clusters: [] }, /^data: top level: .*clusters.*collections are groups, /],
    ['a collection that is no array', { groups: {} }, /^data: groups: /],
    ['a uid that is none', { groups: [{ uid: 'x', name: 'x' }] }, /^data: groups\[0\]\.uid: must be 40 hex digits/],
    ['a member that is none', { groups: [{ uid: ORG, colour: 'red' }] }, /^data: groups\[0\]: has no member "colour"$/],
    ['a value of another type', { groups: [{ uid: ORG, name: 5 }] }, /^data: groups\[0\]: proto: invalid value for string field name: 5$/],
    ['a uid twice', { groups: [{ uid: ORG }, { uid: ORG }] }, /^data: groups\[1\]\.uid: a{40} is there twice$/],
    [
      'a missing parent',
      { groups: [{ uid: ORG }], tags: [{ uid: TAG }] },
      /^data: tags\[0\]\.uid: the file has no repos entry for its parent /,
    ],
    ['no organization', { groups: [] }, /^data: groups: the file has no organization/],
  ])('stops the start because of %s', async (_what, content, sentence) => {
    await expect(startSandbox(await open(content))).rejects.toThrow(sentence)
  })

  test('stops the start if it is missing or not JSON', async () => {
    await expect(startSandbox({ port: 0, data: await written('broken.json', '{') })).rejects.toThrow(/^data: .*broken\.json is not JSON: /)
    await expect(startSandbox({ port: 0, data: { file: join(folder, 'absent.json') } })).rejects.toThrow(/no such file/)
  })
})
