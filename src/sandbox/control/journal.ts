/** A received request, as shown by `GET /-/journal`. Credentials are not kept. */
export type JournalEntry = {
  readonly method: string
  /** Decoded, without the query. */
  readonly path: string
  /** A repeated parameter is an array. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
  /** The JSON body, the text of a body that is not JSON, or null. */
  readonly body: unknown
  /** The method of a gRPC call, `/chainguard.platform.iam.Groups/List`. The other members show the REST request of its http rule. */
  readonly grpc?: string
  /** The sandbox's time, RFC 3339. */
  readonly at: string
}

/** Enough for any test. Without a limit, a sandbox that runs for weeks would fill the memory. */
const LIMIT = 100_000

export type Journal = {
  readonly entries: () => readonly JournalEntry[]
  readonly record: (entry: JournalEntry) => void
  readonly clear: () => void
}

/** Creates an empty journal. It drops the oldest entries above 100,000. */
export const createJournal = (): Journal => {
  let entries: JournalEntry[] = []
  return {
    entries: () => entries,
    record: (entry) => {
      entries.push(entry)
      if (entries.length > LIMIT) entries = entries.slice(LIMIT / 10)
    },
    clear: () => {
      entries = []
    },
  }
}

/** Query pairs as an object. */
export const queryObject = (pairs: readonly (readonly [string, string])[]): JournalEntry['query'] => {
  const values = new Map<string, readonly string[]>()
  for (const [name, value] of pairs) values.set(name, [...(values.get(name) ?? []), value])
  return Object.fromEntries([...values].map(([name, all]) => [name, all.length === 1 ? all[0]! : all]))
}

/** The journal's form of a body. */
export const bodyEntry = (text: string): unknown => {
  if (text === '') return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
