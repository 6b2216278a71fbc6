import { createHash } from 'node:crypto'
import type { Identity } from '../world/identity-model.ts'
import type { World } from '../world/world.ts'

/**
 * The root uid of the user known as `subject` at `issuer`. It is computed, not random, because `lookupIdentity` returns it even before the
 * user's first sign-in. The real algorithm is unknown (ASSUMPTIONS.md, "Identities").
 */
export const humanUid = (issuer: string, subject: string): string => createHash('sha1').update(`${issuer}\n${subject}`).digest('hex')

const isFor = (identity: Identity, issuer: string, subject: string): boolean => {
  const relationship = identity.claimMatch ?? identity.staticKeys
  return relationship?.issuer === issuer && relationship.subject === subject
}

/**
 * The uid of `subject` at `issuer` (semantics §3.2): that of the registered user, else of an identity for exactly this pair, else the
 * future uid of the user.
 */
export const lookupIdentityUid = (world: World, issuer: string, subject: string): string => {
  const { identities } = world.store
  const uid = humanUid(issuer, subject)
  if (identities.get(uid)) return uid
  return identities.values().find((identity) => isFor(identity, issuer, subject))?.uid ?? uid
}
