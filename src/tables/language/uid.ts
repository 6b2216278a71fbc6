import { ApiError, invalidArgument } from '../../errors/api-error.ts'

/** Returns the uid one level up; undefined for a root resource. A uid is its parent's uid, a slash, and a suffix (facts §17). */
export function parentUid(uid: string): string | undefined {
  const slash = uid.lastIndexOf('/')
  return slash < 0 ? undefined : uid.slice(0, slash)
}

/** True if `uid` is anywhere below `ancestor`. */
export function isBelow(uid: string, ancestor: string): boolean {
  return uid.startsWith(`${ancestor}/`)
}

/**
 * Writes a uid at the end of a v2 path: slashes stay, everything else is percent-encoded.
 * A uid that a server could read as another path or a method is INVALID_ARGUMENT; the error names `field`.
 */
export function uidInPath(uid: string, field: string): string {
  if (METHOD.test(uid)) throw noUid(uid, field)
  return encoded(uid, field)
}

/** The same for a uid from an answer of v2. */
export function uidToldInPath(uid: string): string {
  return encoded(told(uid), '')
}

/** Checks a uid from an answer of v2 before it is requested. If no path can hold it, that is INTERNAL, not the client's fault. */
export function told(uid: string): string {
  if (!isUid(uid)) throw new ApiError('INTERNAL', 'the v2 service sent a uid that no path can hold', { cause: JSON.stringify(uid) })
  return uid
}

/** The same within a path, where a colon is only text: digests hold one (facts §12.2). */
export function pieceInPath(piece: string, field: string): string {
  return encoded(piece, field).replaceAll('%3A', ':')
}

/** True if no server could read it as another path or, at the end of one, as a method. */
export function isUid(uid: string): boolean {
  return !METHOD.test(uid) && isPiece(uid)
}

/**
 * Custom methods, and v2's paths below a uid: `PATCH …/repos/{id}/readme` does not replace the repo.
 * Encoding would hide neither, because the gateway matches the decoded path (facts §12.2). v2 may know more methods than the tables.
 */
const METHOD = /:[A-Za-z]\w*$|\/(?:architectures|readme|size|versions)$/

function encoded(text: string, field: string): string {
  if (PLAIN.test(text)) return text
  if (!isPiece(text)) throw noUid(text, field)
  return text.split('/').map(encodeURIComponent).join('/')
}

/** The error that v2 would give. */
function noUid(text: string, field: string): ApiError {
  return invalidArgument({ field, description: `${JSON.stringify(text)} is not a valid uid` })
}

function isPiece(text: string): boolean {
  if (PLAIN.test(text)) return true
  return !text.split('/').some((segment) => segment === '' || segment === '.' || segment === '..' || hasControl(segment))
}

/** The form of every v2 uid. Anything else is checked segment by segment. */
const PLAIN = /^[0-9A-Za-z]+(?:\/[0-9A-Za-z]+)*$/

function hasControl(text: string): boolean {
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0
    if (code < 0x20 || code === 0x7f || (code >= 0xd800 && code <= 0xdfff)) return true
  }
  return false
}
