import type { Group } from '../world/iam-model.ts'
import type { Tag } from '../world/registry-model.ts'
import { inRoot, parentOf } from '../world/uid.ts'
import type { Dataset, Rows } from './dataset.ts'
import { readRows } from './file-rows.ts'
import { planImages } from './tag-plan.ts'
import { bindUsers, builtInRoleRows, type DemoUser, tokensOf, userRows, userUid } from './users.ts'

const MEMBERS = ['owner', 'editor', 'viewer'] as const
const EVERYBODY = [...MEMBERS, 'outsider', 'admin'] as const

/** Demo users the file binds itself get no binding besides. */
const unbound = (rows: Rows, users: readonly DemoUser[]): readonly DemoUser[] =>
  users.filter((user) => !rows.roleBindings?.some(({ identityUid }) => identityUid === userUid(user)))

/** With several organizations, `acme.dev` is the stranger's, so that the outsider's token proves isolation on a file's data too. */
const usersOf = (group: Group, organizations: readonly Group[]): readonly DemoUser[] =>
  group.name === 'acme.dev' && organizations.length > 1 ? ['outsider'] : MEMBERS

/** Images have no v2 form a file could be expected to hold, so those behind its tags are made up unless it lists some. */
const imagesBehind = (rows: Rows): Rows => {
  const byRepo = new Map<string, Tag[]>()
  for (const tag of rows.tags ?? []) {
    const repo = parentOf(tag.uid)
    const found = byRepo.get(repo)
    if (found) found.push(tag)
    else byRepo.set(repo, [tag])
  }
  return { images: [...byRepo].flatMap(([repo, tags]) => planImages(repo, tags)) }
}

/**
 * The dataset of a file's content. The built-in roles and the demo users are always there; the demo tokens are bound at every
 * organization of the file.
 */
export const fileDataset = (content: unknown, now: number): Dataset => {
  const rows = readRows(content, new Date(now).toISOString())
  const organizations = (rows.groups ?? []).filter(({ uid }) => inRoot(uid))
  const shown = organizations.find(({ name }) => name === 'example.com') ?? organizations[0]
  if (!shown) throw new Error('data: groups: the file has no organization (a group with a uid of 40 hex digits)')
  const bindings = organizations.flatMap((group) => bindUsers(group.uid, unbound(rows, usersOf(group, organizations))))
  const ground: Rows = { roles: builtInRoleRows, identities: userRows(EVERYBODY), roleBindings: bindings }
  return { rows: [ground, imagesBehind(rows), rows], tokens: tokensOf(EVERYBODY), organization: shown.uid }
}
