import type { Random } from './random.ts'

/** A root segment is 20 bytes of lower-case hex; every further segment is 8 bytes (semantics §1). */
const SHAPE = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/

/** True if `text` has the form of a uid. It need not exist. */
export const validUid = (text: string): boolean => SHAPE.test(text)

/** A new uid below `parent`; an empty parent makes a root uid. */
export const newUid = (random: Random, parent = ''): string => (parent === '' ? random.hex(20) : `${parent}/${random.hex(8)}`)

/** The uid one level up; the empty string for a root uid. */
export const parentOf = (uid: string): string => uid.slice(0, Math.max(0, uid.lastIndexOf('/')))

/** The first segment: the organization, user identity or built-in role at the top. */
export const rootOf = (uid: string): string => uid.split('/', 1)[0] ?? ''

/** True if `uid` is a root uid. */
export const inRoot = (uid: string): boolean => !uid.includes('/')

/** True if `uid` lies strictly below `ancestor`. */
export const isBelow = (ancestor: string, uid: string): boolean => uid.startsWith(`${ancestor}/`)

/** True if `ancestor` is `uid` itself or lies above it. */
export const isAtOrBelow = (ancestor: string, uid: string): boolean => uid === ancestor || isBelow(ancestor, uid)

/** `uid` and everything above it, nearest first: `a/b/c` → `a/b/c`, `a/b`, `a`. */
export const lineage = (uid: string): readonly string[] => {
  const chain: string[] = []
  for (let at = uid; at !== ''; at = parentOf(at)) chain.push(at)
  return chain
}
