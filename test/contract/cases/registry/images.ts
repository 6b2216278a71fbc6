import * as make from '../../expect.ts'
import { anything, items, like, ok, refused, same, shows } from '../../expect.ts'
import type { Api, Case } from '../../target.ts'

/** Returns a tag of the organization with an image. The contract reads existing images, since v1 cannot create one. */
async function image(api: Api): Promise<{ repo: string; digest: string }> {
  const row = items(await api.get('/registry/v1/tags', { 'uidp.descendants_of': api.organization, name: 'latest' }))[0]
  if (!row) throw new Error('the organization has no tag called latest')
  return { repo: row.id.slice(0, row.id.lastIndexOf('/')), digest: row.digest }
}

/** facts §4.3 */
export const images: readonly Case[] = [
  shows('images: architectures', ['registry.images.architectures'], { roles: ['outsider', 'nobody'], reads: true }, async (api) => {
    const { repo, digest } = await image(api)
    const path = `/registry/v1/repos/${repo}/digests/${digest}/architectures`
    const shown = ok(api, await api.get(path), { archs: anything })
    same(shown.archs.includes('amd64'), true, 'amd64')
    ok(api, await api.get(`/registry/v1/repos/${repo.replaceAll('/', '%2F')}/digests/${digest.replace(':', '%3A')}/architectures`), shown)
    ok(api, await api.get(`/registry/v1/repos/${repo}/digests/${make.digest('0')}/architectures`), { archs: [] })
    refused(await api.as('outsider').get(path), 7)
    refused(await api.as('nobody').get(path), 16)
  }),
  shows('images: size', ['registry.images.size'], { roles: ['outsider', 'nobody'], reads: true }, async (api) => {
    const { repo, digest } = await image(api)
    const path = `/registry/v1/repos/${repo}/digests/${digest}/size`
    const shown = ok(api, await api.get(path), { size: like(/^[1-9]\d*$/), arch: 'amd64' })
    ok(api, await api.get(path, { arch: 'amd64' }), shown)
    ok(api, await api.get(path, { arch: 'arm64' }), { size: like(/^\d+$/), arch: 'arm64' })
    ok(api, await api.get(path, { arch: 'pdp11' }), { size: '0', arch: '' })
    ok(api, await api.get(`/registry/v1/repos/${repo}/digests/${make.digest('0')}/size`), { size: '0', arch: '' })
    refused(await api.get(path, { arch: ['amd64', 'arm64'] }), 3, 'too many values for field "arch": amd64, arm64')
    refused(await api.as('outsider').get(path), 7)
    refused(await api.as('nobody').get(path), 16)
  }),
]
