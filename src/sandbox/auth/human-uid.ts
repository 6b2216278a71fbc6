import { createHash } from 'node:crypto'

/**
 * The root uid of the user known as `subject` at `issuer`. It is worked out, not drawn, because `lookupIdentity` answers it before the
 * user has ever signed in; the real algorithm is unknown (ASSUMPTIONS.md, "Identities").
 */
export const humanUid = (issuer: string, subject: string): string => createHash('sha1').update(`${issuer}\n${subject}`).digest('hex')
