/** Words that mean the same in names of members. */
const STEMS: Readonly<Record<string, string>> = {
  creation: 'create',
  created: 'create',
  updated: 'update',
  modified: 'update',
  modification: 'update',
  deleted: 'delete',
  deletion: 'delete',
  expires: 'expire',
  expiration: 'expire',
  at: 'time',
  date: 'time',
  timestamp: 'time',
}

/** Returns the words of a name: `creationTime`, `created_at` → `create time`. */
export function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9@]+/)
    .filter(Boolean)
    .map((word) => STEMS[word] ?? word)
}

/** True if both names are spelled alike but for case and separators. */
export function isSameName(one: string, other: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9@]/g, '')
  return plain(one) === plain(other)
}

/** True if both names have the same words, or the words of one end with those of the other: `lifecycleState` and `state`. */
export function isSimilarName(one: string, other: string): boolean {
  const [longer, shorter] = [wordsOf(one).join(' '), wordsOf(other).join(' ')].sort((a, b) => b.length - a.length) as [string, string]
  return longer === shorter || longer.endsWith(` ${shorter}`)
}
