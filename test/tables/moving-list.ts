import type { JsonObject } from '../../src/tables/json.ts'
import type { Call } from '../../src/tables/turn.ts'

/** A v2 list in uid order that changes while it is read. Its page token holds the last uid of its page. */
export interface MovingList {
  readonly answer: (call: Call) => JsonObject
  insert(uid: string): void
  remove(at: number): void
  /** Every uid that existed at any time. */
  readonly ever: ReadonlySet<string>
  /** Returns every uid that has existed from the beginning. */
  always(): readonly string[]
  /** From now on, cursors lead to the beginning, as expired ones do (specification §8). */
  expire(): void
}

export function movingList(uids: readonly string[]): MovingList {
  let rows = uids.toSorted()
  let expired = false
  const ever = new Set(rows)
  const removed = new Set<string>()
  return {
    ever,
    always: () => [...new Set(uids)].filter((uid) => !removed.has(uid)).sort(),
    expire() {
      expired = true
    },
    insert(uid) {
      rows = [...new Set([...rows, uid])].sort()
      ever.add(uid)
    },
    remove(at) {
      const uid = rows[at % Math.max(1, rows.length)]
      if (uid === undefined) return
      rows = rows.filter((other) => other !== uid)
      removed.add(uid)
    },
    answer({ query }) {
      const asked = Object.fromEntries(query)
      const token = expired ? '' : (asked.page_token ?? '')
      const skip = Number(asked.skip ?? 0)
      const left = rows.filter((uid) => uid > token).slice(skip)
      const page = left.slice(0, Number(asked.page_size))
      const more = left.length > page.length && { nextPageToken: page.at(-1) }
      return { tags: page.map((uid) => ({ uid })), ...more, totalCount: String(rows.length), skipped: skip }
    },
  }
}
