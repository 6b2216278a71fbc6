import type { Request } from '../../serve/request.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { isReadBack } from '../../tables/operations.ts'
import type { Resource } from '../../tables/resource.ts'

/** A resource that a request wrote. */
export interface WrittenResource {
  readonly resource: Resource
  readonly uid: string
  /** The uid of the other resource with which it is deleted. */
  readonly goesWith: string | undefined
  /** The path variables of the request itself. They are its own object, by which its own write is recognised. */
  readonly own: V1Request['params']
}

/** Tells what other writes, since a moment or under way at that moment, may have done to a resource. */
export interface OtherWrites {
  mayBeGone(written: WrittenResource): boolean
  mayBeChanged(written: WrittenResource): boolean
}

/** Remembers recent writes. What a read does not show may have been deleted or changed since, rather than lost. */
export interface RecentWrites {
  /** Notes that a write begins. Call the returned function when it has ended. */
  begin(operation: Operation, params: V1Request['params'], caller?: string): () => void
  /** Notes the body of a write that has begun: a batch names its resources there. */
  readBody(request: Pick<Request, 'operation' | 'read'>): void
  watch(): OtherWrites
  /** Returns the writes of this process from a number on, and the next number. `isCut`: older ones among them are no longer known. */
  own(from: number): { readonly writes: readonly NamedWrite[]; readonly next: number; readonly isCut: boolean }
  /** Notes that a write of another replica begins, likewise. `uids` are those that its body names. */
  heard(operation: Operation, params: V1Request['params'], uids: readonly string[] | undefined): () => void
  /** Notes that other replicas made more writes than are known. */
  heardMany(): void
}

/** A write, with what other replicas need to know of it. */
export interface NamedWrite {
  /** Grows with each write of this process. */
  readonly number: number
  readonly operation: Operation
  readonly params: V1Request['params']
  /** The resources, as far as they are known by now. */
  readonly uids: readonly string[] | undefined
  readonly caller: string
  readonly active: boolean
}

interface RecentWrite extends NamedWrite {
  readonly isOwn: boolean
  /** undefined for an operation that only v1 has. */
  readonly resource: Resource | undefined
  /** undefined as long as nothing names them. */
  uids: readonly string[] | undefined
  readonly deletes: boolean
  readonly takesBelow: boolean
  active: boolean
}

/** Maximum writes that are remembered. If more came since, anything may have happened. */
const REMEMBERED = 1000

export function createRecentWrites(): RecentWrites {
  const recent: RecentWrite[] = []
  let count = 0
  /** Numbers of the last write of this process that is no longer known, and of the moment of many others. */
  let dropped = -1
  let many = -1
  const add = (operation: Operation, params: V1Request['params'], more: Pick<RecentWrite, 'caller' | 'isOwn'>) => {
    const write: RecentWrite = { number: count, operation, ...traitsOf(operation, params), params, active: true, ...more }
    count += 1
    recent.push(write)
    const oldest = recent.length > REMEMBERED ? recent.shift() : undefined
    if (oldest?.isOwn) dropped = oldest.number
    return write
  }
  const endOf = (write: RecentWrite) => () => {
    write.active = false
  }
  return {
    begin: (operation, params, caller = '') => endOf(add(operation, params, { caller, isOwn: true })),
    heard(operation, params, uids) {
      const write = add(operation, params, { caller: '', isOwn: false })
      write.uids ??= uids
      return endOf(write)
    },
    heardMany() {
      many = count
      count += 1
    },
    own(from) {
      const writes = recent.filter(({ isOwn, number }) => isOwn && number >= from)
      return { writes, next: count, isCut: dropped >= from }
    },
    readBody(request) {
      const found = namedInBody(request)
      const write = found && recent.findLast(({ params, uids }) => params === found.params && !uids)
      if (write) write.uids = found.uids
    },
    watch() {
      const from = recent.find(({ active }) => active)?.number ?? count
      const some = (own: V1Request['params'], fits: (write: RecentWrite) => boolean) =>
        from <= many ||
        from < (recent[0]?.number ?? count) ||
        recent.some((write) => write.number >= from && write.params !== own && fits(write))
      return {
        mayBeGone: (written) => some(written.own, (write) => mayTake(write, written)),
        mayBeChanged: (written) => some(written.own, (write) => mayChange(write, written)),
      }
    },
  }
}

function traitsOf({ readBack, takes }: Operation, params: V1Request['params']) {
  if (!readBack || !isReadBack(readBack)) return { resource: undefined, uids: Object.values(params), deletes: false, takesBelow: false }
  const { resource, named, gone = false } = readBack
  const uid = 'param' in named ? params[named.param] : undefined
  return { resource, uids: uid === undefined ? undefined : [uid], deletes: gone, takesBelow: takes === 'below' }
}

/** Returns the uids that a write names in its body. A body that cannot be read is refused before it writes. */
function namedInBody({ operation: { readBack, request }, read }: Pick<Request, 'operation' | 'read'>) {
  const named = readBack && isReadBack(readBack) ? readBack.named : undefined
  if (!named || !('body' in named)) return undefined
  try {
    const { params, body } = read()
    const uids = request?.read(body)[named.body]
    return { params, uids: Array.isArray(uids) ? uids.map(String) : [] }
  } catch {
    return undefined
  }
}

/** A delete takes the resource itself, what lies below it if its table says so, and what goes with it (semantics §3). */
function mayTake(write: RecentWrite, { resource, uid, goesWith }: WrittenResource): boolean {
  if (!write.deletes) return false
  if (write.uids === undefined) return write.resource === resource
  if (write.resource === resource && write.uids.includes(uid)) return true
  return write.uids.some((taken) => taken === goesWith || (write.takesBelow && uid.startsWith(`${taken}/`)))
}

/** A write changes the resource that its path names. What an operation of v1 alone changes is unknown. */
function mayChange(write: RecentWrite, { resource, uid }: WrittenResource): boolean {
  return write.uids?.includes(uid) === true && (write.resource === undefined || write.resource === resource)
}
