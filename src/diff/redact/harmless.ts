import { instant, seconds } from '../compare/instant.ts'

const DIGEST = /^sha256:[0-9a-f]{64}$/
/** A uid or one of its segments (facts §17). */
const UID = /^(?:[0-9a-f]{40}|[0-9a-f]{16})(?:\/[0-9a-f]{16})*$/
/** Members and parameters that hold uids. */
const ID_NAME = /(?:^|_)(?:id|ids|uid|uidp|group|identity|role|parent|scope)$|(?:Id|Uid|Uidp)$|^uidp\./

/** The count of a list, which is a number in a text (specification §1.9). v1 and v2 must show it alike. */
const COUNT = /^\d{1,19}$/
const COUNT_NAME = /^(?:total_?)?count$/i

/** True if the form of a text under this name proves that it is not secret: a uid, a digest, a time, a count or an empty text. */
export function isHarmless(text: string, name: string): boolean {
  if (text === '' || DIGEST.test(text)) return true
  if (COUNT_NAME.test(name) && COUNT.test(text)) return true
  return instant(text) !== undefined || seconds(text) !== undefined || (UID.test(text) && ID_NAME.test(name))
}
