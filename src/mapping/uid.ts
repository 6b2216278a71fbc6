import { invalidArgument } from '../errors/api-error.ts'

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
 * A uid as a piece of a v2 path: slashes stay, everything else is percent-encoded. A uid that a server could read as another path
 * (`..`, an empty segment, a control character) is refused as INVALID_ARGUMENT naming `field`.
 */
export function uidInPath(uid: string, field: string): string {
  if (PLAIN.test(uid)) return uid
  if (!isUid(uid)) throw invalidArgument({ field, description: 'must be a uid: segments separated by single slashes' })
  return uid
    .split('/')
    .map((segment) => encodeURIComponent(segment).replaceAll('%3A', ':'))
    .join('/')
}

/** Whether no server could read it as another path. */
export function isUid(uid: string): boolean {
  if (PLAIN.test(uid)) return true
  return !uid.split('/').some((segment) => segment === '' || segment === '.' || segment === '..' || hasControl(segment))
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
