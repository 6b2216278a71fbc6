import type { Api } from './api.ts'
import { ok } from './expect.ts'
import { anything } from './match.ts'
import { map } from './spell.ts'
import type { Answer } from './target.ts'

type Body = Answer['body']
type Fields = Readonly<Record<string, unknown>>

/** Creates one resource, which must succeed, and deletes it after the case. */
async function made(api: Api, collection: string, parent: string, body: unknown): Promise<Body> {
  const answer = ok(api, await api.post(`${collection}/${parent}`, body), anything)
  api.later((owner) => owner.as(api.role).delete(`${collection}/${answer.id}`))
  return answer
}

export const folder = (api: Api, name = api.name(), parent = api.organization): Promise<Body> =>
  made(api, '/iam/v1/groups', parent, { name })

export const repo = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/registry/v1/repos', parent, { name: 'repo', ...fields })

export const tag = (api: Api, repoId: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/registry/v1/tags', repoId, { name: 'latest', digest: digest('a'), ...fields })

export const identity = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/identities', parent, { name: 'robot', claim_match: claimMatch, ...fields })

export const role = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/roles', parent, { name: 'reader', capabilities: ['groups.list', 'repo.list'], ...fields })

export const binding = (api: Api, parent: string, identityId: string, roleId: string): Promise<Body> =>
  made(api, '/iam/v1/rolebindings', parent, { identity: identityId, role: roleId })

export const invite = (api: Api, parent: string, roleId: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/group_invites', parent, { ttl: '3600s', role: roleId, ...fields })

/** Creates an identity provider at the organization itself: no other group may have one. */
export const provider = (api: Api, defaultRole: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/iam/v1/identityProviders', api.organization, { name: api.name(), default_role: defaultRole, oidc, ...fields })

export const mapping = (api: Api, providerId: string, externalGroup: string, roleId: string): Promise<Body> =>
  made(api, '/iam/v1/externalGroupRoleMappings', providerId, {
    external_group_id: externalGroup,
    role_uidp: roleId,
    scope: api.organization,
  })

export const subscription = (api: Api, parent: string, fields: Fields = {}): Promise<Body> =>
  made(api, '/events/v1/subscriptions', parent, { sink: 'https://localhost:9/hook', ...fields })

export async function association(api: Api, groupId: string, fields: Fields = {}): Promise<Body> {
  const path = `/iam/v1/account_associations/${groupId}`
  const answer = ok(api, await api.post(path, { name: 'cloud', amazon: { account: '123456789012' }, ...fields }), anything)
  api.later((owner) => owner.delete(path))
  return answer
}

export const claimMatch = { issuer: 'https://issuer.example', subject: 'robot' }

export const oidc = { issuer: 'https://login.example', client_id: 'client', client_secret: 'a secret', additional_scopes: ['email'] }

/** A JSON Web Key Set with one public key (RFC 7517 appendix A.1). */
export const publicKeys = JSON.stringify({
  keys: [
    {
      kty: 'EC',
      crv: 'P-256',
      kid: '1',
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    },
  ],
})

/** Returns a digest of one repeated hex letter. */
export function digest(letter: string): string {
  return `sha256:${letter.repeat(64)}`
}

/** Returns the built-in role of this name. */
export async function builtIn(api: Api, name: string): Promise<Body> {
  const rows: Body[] = ok(api, await api.get('/iam/v1/roles', { name, 'uidp.in_root': true }), { items: anything }).items
  const found = rows.find((row) => row.name === name)
  if (!found) throw new Error(`there is no built-in role ${name}`)
  return found
}

/** Returns every identity with a role of this name at the caller's organization. */
export async function holders(api: Api, roleName: string): Promise<string[]> {
  const rows: Body[] = ok(api, await api.get('/iam/v1/rolebindings'), { items: anything }).items
  return rows.filter((row) => row.role?.name === roleName && !row.group?.id.includes('/')).map((row) => row.identity)
}

/** The claim match that a service answers for `claimMatch`. */
export const shownClaimMatch = { ...claimMatch, claims: map({}), claim_patterns: map({}) }
