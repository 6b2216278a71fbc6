import type { Operation } from '../../tables/operations/operation.ts'

/** The deletes that came through lately: a resource that is not there any more was perhaps not lost, but deleted since. */
export interface Deletions {
  /** Notes a request; whatever is no delete is passed over. */
  note(operation: Operation, params: Readonly<Record<string, string>>): void
  /** The function returned tells whether a delete since now may have taken this resource away. */
  watch(): (operation: Operation, uid: string) => boolean
}

interface Deleted {
  readonly resource: string
  /** undefined when the path does not name it. */
  readonly uid: string | undefined
}

/** Deletes remembered; when more came since, any resource may be among them. */
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

/** A delete takes what lies below it, and may take what refers to it: bindings of an identity, for one (semantics §3). */
function mayTake(deleted: Deleted, resource: string, uid: string): boolean {
  return deleted.uid === undefined || deleted.resource !== resource || uid === deleted.uid || uid.startsWith(`${deleted.uid}/`)
}

function resourceOf(operation: string): string {
  return operation.slice(0, operation.lastIndexOf('.'))
}
