import type { Api } from '../api.ts'
import type { Case } from '../case.ts'
import { column, items, ok, same } from '../expect.ts'
import { anything } from '../match.ts'
import type { Role } from '../target.ts'
import { listKinds } from './list-kinds.ts'

const ROLES: readonly Role[] = ['owner', 'editor', 'viewer', 'outsider', 'admin']

async function whole(api: Api, path: string): Promise<void> {
  const rows = items(await api.get(path))
  const order = path.includes('group_invites')
    ? undefined
    : column({ status: 200, type: null, body: { items: rows } }, rows[0]?.id ? 'id' : 'group')
  if (order) same(order, [...order].map(String).sort(), 'in order of uid')
}

/** Existing data as each role sees it. Cases that create their own data cannot show that. */
export const visible: readonly Case[] = [
  ...listKinds.map(
    ({ operation, path }): Case => ({
      name: `${operation}: all that each role sees`,
      operations: [operation],
      reads: true,
      roles: ROLES,
      run: async (api) => {
        for (const role of ROLES) await whole(api.as(role), path)
        const first = items(await api.get(path, { limit: 3 }))
        same(first.length <= 3, true, 'a window of three')
      },
    }),
  ),
  {
    name: 'repos of the organization: summaries, images, and what a source is used for',
    operations: [
      'registry.repo_tags_summary.get',
      'registry.images.architectures',
      'registry.images.size',
      'registry.repo_count_by_source.get',
    ],
    reads: true,
    roles: ['viewer'],
    run: async (api) => {
      const viewer = api.as('viewer')
      for (const row of items(
        await viewer.get('/registry/v1/repos', { 'uidp.descendants_of': api.organization, order_by: 'name', limit: 20 }),
      )) {
        const summary = ok(api, await viewer.get(`/registry/v1/repotagssummary/${row.id}`), anything)
        await viewer.get(`/registry/v1/repotagssummary/${row.id}`, { exclude_referrers: true, exclude_epochs: true })
        const latest = api.member(summary, 'latest_tag')
        const image = `/registry/v1/repos/${row.id}/digests/${latest?.digest ?? 'sha256:none'}`
        await viewer.get(`${image}/architectures`)
        await viewer.get(`${image}/size`, { arch: 'arm64' })
        await viewer.get(`/registry/v1/repocountbysource/${row.id}`)
      }
    },
  },
  {
    name: 'terms that the organization accepted',
    operations: ['iam.terms.list'],
    reads: true,
    roles: ['viewer'],
    run: async (api) => {
      for (const role of ['owner', 'viewer'] as const) items(await api.as(role).get(`/iam/v1/terms/${api.organization}`))
    },
  },
]
