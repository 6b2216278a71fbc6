import type { Group } from '../world/iam-model.ts'
import type { Tag } from '../world/registry-model.ts'
import { inRoot, parentOf } from '../world/uid.ts'
import type { Dataset, Rows } from './dataset.ts'
import { readRows } from './file-rows.ts'
import { planImages } from './tag-plan.ts'
import { bindUsers, builtInRoleRows, type DemoUser, tokensOf, userRows, userUid } from './users.ts'

const MEMBERS = ['owner', 'editor', 'viewer'] as const
const EVERYBODY = [...MEMBERS, 'outsider', 'admin'] as const

/** The demo users that the file does not bind. Only they get bindings here. */
const unbound = (rows: Rows, users: readonly DemoUser[]): readonly DemoUser[] =>
  users.filter((user) => !rows.roleBindings?.some(({ identityUid }) => identityUid === userUid(user)))

/** Among several organizations, `acme.dev` belongs to the outsider, so that the outsider's token proves isolation with a file too. */
const usersOf = (group: Group, organizations: readonly Group[]): readonly DemoUser[] =>
  group.name === 'acme.dev' && organizations.length > 1 ? ['outsider'] : MEMBERS

/** A file is not expected to list images, which have no v2 form. If it lists none, images are made up for its tags. */
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
 * The dataset of a file's content. It always contains the built-in roles and the demo users. The demo tokens are bound at every
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
