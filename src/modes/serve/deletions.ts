import type { Operation } from '../../tables/operations/operation.ts'

/** Remembers recent deletes. A missing resource may have been deleted rather than lost. */
export interface Deletions {
  /** Notes a request; ignores it if it is no delete. */
  note(operation: Operation, params: Readonly<Record<string, string>>): void
  /** Returns a function that tells whether a delete since this call may have removed this resource. */
  watch(): (operation: Operation, uid: string) => boolean
}

interface Deleted {
  readonly resource: string
  /** undefined if the path does not name it. */
  readonly uid: string | undefined
}

/** Maximum deletes that are remembered. If more came since, any resource may be deleted. */
const REMEMBERED = 1000

export function createDeletions(): Deletions {
  let recent: Deleted[] = []
  let count = 0
  return {
    note({ id, template }, params) {
      if (!/[._]delete$/.test(id)) return
      count += 1
      const [uid] = template.includes('{') ? Object.values(params) : []
      recent = [...recent.slice(1 - REMEMBERED), { resource: resourceOf(id), uid }]
    },
    watch() {
      const before = count
      return ({ id }, uid) => {
        const since = count - before
        return since >= REMEMBERED || recent.slice(recent.length - since).some((deleted) => mayTake(deleted, resourceOf(id), uid))
      }
    },
  }
}

/**
 * A delete removes what lies below a resource. It may also remove what refers to it, such as the bindings of an identity (semantics §3).
 */
function mayTake(deleted: Deleted, resource: string, uid: string): boolean {
  return deleted.uid === undefined || deleted.resource !== resource || uid === deleted.uid || uid.startsWith(`${deleted.uid}/`)
}

function resourceOf(operation: string): string {
  return operation.slice(0, operation.lastIndexOf('.'))
}
