import { createHash } from 'node:crypto'
import type { Identity } from '../world/identity-model.ts'
import type { World } from '../world/world.ts'

/**
 * The root uid of the user known as `subject` at `issuer`. It is worked out, not drawn, because `lookupIdentity` answers it before the
 * user has ever signed in; the real algorithm is unknown (ASSUMPTIONS.md, "Identities").
 */
export const humanUid = (issuer: string, subject: string): string => createHash('sha1').update(`${issuer}\n${subject}`).digest('hex')

const isFor = (identity: Identity, issuer: string, subject: string): boolean => {
  const relationship = identity.claimMatch ?? identity.staticKeys
  return relationship?.issuer === issuer && relationship.subject === subject
}

/**
 * The uid by which `subject` of `issuer` is known: the registered user's, else that of an identity made for exactly this pair, else
 * the uid the user will get (semantics §3.2).
 */
export const lookupIdentityUid = (world: World, issuer: string, subject: string): string => {
  const { identities } = world.store
  const uid = humanUid(issuer, subject)
  if (identities.get(uid)) return uid
  return identities.values().find((identity) => isFor(identity, issuer, subject))?.uid ?? uid
}
