import { ApiError, invalidArgument } from '../../errors/api-error.ts'

/** The uid one level up, or undefined for a root resource. A uid is its parent's uid, a slash, and a suffix (facts §17). */
export function parentUid(uid: string): string | undefined {
  const slash = uid.lastIndexOf('/')
  return slash < 0 ? undefined : uid.slice(0, slash)
}

/** True when `uid` lies anywhere below `ancestor`. */
export function isBelow(uid: string, ancestor: string): boolean {
  return uid.startsWith(`${ancestor}/`)
}

/**
 * A uid at the end of a v2 path: slashes stay, everything else is percent-encoded. A uid that a server could read as another path or as
 * a method is refused as INVALID_ARGUMENT naming `field`.
 */
export function uidInPath(uid: string, field: string): string {
  if (METHOD.test(uid)) throw noUid(uid, field)
  return encoded(uid, field)
}

/** The same for a uid out of an answer of v2. */
export function uidToldInPath(uid: string): string {
  return encoded(told(uid), '')
}

/** A uid out of an answer of v2 that is going to be asked for: one that no path can hold is not the client's fault, and INTERNAL. */
export function told(uid: string): string {
  if (!isUid(uid)) throw new ApiError('INTERNAL', 'the v2 service sent a uid that no path can hold', { cause: JSON.stringify(uid) })
  return uid
}

/** The same further ahead in a path, where a colon is only text: digests hold one (facts §12.2). */
export function pieceInPath(piece: string, field: string): string {
  return encoded(piece, field).replaceAll('%3A', ':')
}

/** Whether no server could read it as another path or, at the end of one, as a method. */
export function isUid(uid: string): boolean {
  return !METHOD.test(uid) && isPiece(uid)
}

/**
 * Custom methods, and what v2 keeps below a uid: `PATCH …/repos/{id}/readme` does not replace the repo. Encoding would hide neither,
 * because the gateway matches on the decoded path (facts §12.2), and v2 may know more methods than the tables.
 */
const METHOD = /:[A-Za-z]\w*$|\/(?:architectures|readme|size|versions)$/

function encoded(text: string, field: string): string {
  if (PLAIN.test(text)) return text
  if (!isPiece(text)) throw noUid(text, field)
  return text.split('/').map(encodeURIComponent).join('/')
}

/** What v2 would say to it. */
function noUid(text: string, field: string): ApiError {
  return invalidArgument({ field, description: `${JSON.stringify(text)} is not a valid uid` })
}

function isPiece(text: string): boolean {
  if (PLAIN.test(text)) return true
  return !text.split('/').some((segment) => segment === '' || segment === '.' || segment === '..' || hasControl(segment))
}

/** What every uid of v2 looks like; anything else is looked at segment by segment. */
const PLAIN = /^[0-9A-Za-z]+(?:\/[0-9A-Za-z]+)*$/

function hasControl(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x20 || code === 0x7f || (code >= 0xd800 && code <= 0xdfff)) return true
  }
  return false
}
