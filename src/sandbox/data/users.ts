import { humanUid } from '../auth/lookup.ts'
import { builtInRoles, builtInRoleUid } from '../auth/rights/built-in-roles.ts'
import type { Role, RoleBinding } from '../world/iam-model.ts'
import type { Identity } from '../world/identity-model.ts'
import type { DemoToken } from '../world/world.ts'
import { dated, fixtureUid } from './fixture.ts'

/** The issuer of the demo users' sign-ins. It uses the email address as subject. */
export const DEMO_ISSUER = 'https://accounts.example.com'

const JOINED = '2026-01-05T08:00:00.000Z'

/** The owners of the fixed tokens, with their built-in roles in their own organizations. */
const USERS = {
  owner: { token: 'demo-owner', email: 'alice@example.com', role: 'owner' },
  editor: { token: 'demo-editor', email: 'bob@example.com', role: 'editor' },
  viewer: { token: 'demo-viewer', email: 'carol@example.com', role: 'viewer' },
  outsider: { token: 'demo-outsider', email: 'eve@acme.dev', role: 'owner' },
  admin: { token: 'demo-admin', email: 'admin@sandbox.dev', role: undefined },
} as const

export type DemoUser = keyof typeof USERS

/** The bearer token of each demo user. */
export const demoTokens: Readonly<Record<DemoUser, string>> = {
  owner: USERS.owner.token,
  editor: USERS.editor.token,
  viewer: USERS.viewer.token,
  outsider: USERS.outsider.token,
  admin: USERS.admin.token,
}

/** The root identity of a demo user. */
export const userUid = (user: DemoUser): string => humanUid(DEMO_ISSUER, USERS[user].email)

const userRow = (user: DemoUser): Identity => ({
  uid: userUid(user),
  name: USERS[user].email,
  description: '',
  email: USERS[user].email,
  emailUnverified: '',
  company: '',
  lastSeenTime: JOINED,
  ...dated(JOINED),
})

/** The identities of `users`. */
export const userRows = (users: readonly DemoUser[]): readonly Identity[] => users.map(userRow)

/** Token → identity for `users`. The admin holds every capability everywhere. */
export const tokensOf = (users: readonly DemoUser[]): ReadonlyMap<string, DemoToken> =>
  new Map(
    users.map((user) => [USERS[user].token, { identityUid: userUid(user), ...(user === 'admin' ? { everything: true as const } : {}) }]),
  )

/** The bindings that give `users` their roles at `group`. A user without a role gets no binding. */
export const bindUsers = (group: string, users: readonly DemoUser[]): readonly RoleBinding[] =>
  users.flatMap((user) => {
    const { role } = USERS[user]
    return role === undefined ? [] : [binding(group, userUid(user), builtInRoleUid(role))]
  })

/** A binding at `group`. */
export const binding = (group: string, identityUid: string, roleUid: string): RoleBinding => ({
  uid: fixtureUid(group, `binding ${identityUid} ${roleUid}`),
  createTime: JOINED,
  identityUid,
  roleUid,
})

/** The built-in roles as rows. */
export const builtInRoleRows: readonly Role[] = builtInRoles.map((role) => ({ ...role, ...dated('2023-01-01T00:00:00.000Z') }))
