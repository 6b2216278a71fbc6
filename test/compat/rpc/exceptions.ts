const WITHHELD = 'a message cannot lack a member: what the caller may not read looks empty'

/**
 * Cases that clients of gRPC and Connect see otherwise than REST clients, and why. A case that passes does not belong here.
 */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'bindings of a caller who may read nothing else': WITHHELD,
  'a lookup of an identity that the caller may not read': WITHHELD,
  'a readme is written by staff only': WITHHELD,
}
