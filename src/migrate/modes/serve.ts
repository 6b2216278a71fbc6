import { asApiError } from '../../errors.ts'
import { type Bucket, createBucket } from '../../serve/bounds.ts'
import { ANONYMOUS, type ClientRequest, type Request } from '../../serve/request.ts'
import {
  COMPARING,
  type FromV2,
  hasFailed,
  isAccepted,
  isRead,
  type Mode,
  otherSide,
  SERVED_BY,
  type Served,
  type ServedReceiver,
  type Side,
  type Sides,
} from '../../serve/sides.ts'
import type { AskRest } from '../../serve/upstream/v1.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { isReadBack, type ReadBack } from '../../tables/operations.ts'
import type { Message, Resource } from '../../tables/resource.ts'
import { ANY_WRITES, type RowCreate, type RowWrites } from '../compare/expected.ts'
import type { Kept } from '../observe/compare-read.ts'
import { drain, type Skipped, tee } from '../observe/observe.ts'
import type { Observer } from '../observe/observer.ts'
import type { Journal, Term, Terms } from './journal.ts'
import { continuesList, type PagingSides } from './select.ts'

const UNAUTHENTICATED = 401

/** Maximum credentials; the oldest is dropped first, and counts again after its next success. */
const CREDENTIALS = 10_000

export type Accepted = ReturnType<typeof createAccepted>

/**
 * The credentials that a service has accepted. Anyone can make up a credential with any subject in it.
 * A request is therefore counted, compared or remembered only after a service answered its credential with success.
 * The answer must come from an operation that asks for a credential.
 */
export function createAccepted(limit: number = CREDENTIALS) {
  /** Credentials with the sides that accepted each. */
  const known = new Map<string, Side | 'both'>()
  return {
    /** Notes the status with which a side itself answered a request with this credential. It is forgotten when no side accepts it. */
    noteStatus({ takesNoToken }: Pick<Operation, 'takesNoToken'>, credential: string, status: number, by: Side): void {
      const sides = known.get(credential)
      if (status === UNAUTHENTICATED && sides === by) known.delete(credential)
      if (status === UNAUTHENTICATED && sides === 'both') known.set(credential, otherSide(by))
      if (sides === by || sides === 'both' || takesNoToken || credential === ANONYMOUS || !isAccepted({ status })) return
      const [oldest] = sides === undefined && known.size >= limit ? known.keys() : []
      if (oldest !== undefined) known.delete(oldest)
      known.set(credential, sides === undefined ? by : 'both')
    },
    has: (credential: string): boolean => known.has(credential),
  }
}

/** What this process may take of a budget, which replicas may share. */
export interface BudgetShare {
  /** Takes one if any is left. Strangers get at most half, so that many of them leave some for other callers. */
  take(isStranger: boolean): boolean
}

const MINUTE = 60_000

export type Budget = ReturnType<typeof createBudget>

/** Limits how often something happens: this many per minute, evenly. `now` returns milliseconds. */
export function createBudget(perMinute: number, now: () => number) {
  const counts = { taken: 0, refused: 0, walks: 0 }
  const bucket = createBucket({ most: perMinute, fillMs: MINUTE }, now)
  const ofStrangers = createBucket({ most: Math.ceil(perMinute / 2), fillMs: MINUTE }, now)
  let share: BudgetShare = { take: (isStranger) => (!isStranger || ofStrangers.take()) && bucket.take() }
  return {
    take(isStranger: boolean): boolean {
      const granted = share.take(isStranger)
      counts[granted ? 'taken' : 'refused'] += 1
      return granted
    },
    counts: counts as Readonly<typeof counts>,
    /** Counts a page that nobody but v2 can give, because it continues a list that v2 began. */
    leaveWalk(): void {
      counts.walks += 1
    },
    /** Takes from what replicas share from now on. */
    shareBy(one: BudgetShare): void {
      share = one
    },
  }
}

interface Writes {
  /** Number of this caller's last write among all writes. */
  last: number
  active: number
}

/** Maximum callers without a write under way; those that wrote longest ago are dropped first. Callers that only read are not stored. */
const CALLERS = 10_000

export type OwnWrites = ReturnType<typeof createOwnWrites>

/** Tells whether a caller wrote while the proxy read for it. One side may then have been read before the write and the other after it. */
export function createOwnWrites(limit: number = CALLERS) {
  /** The last writer is last. */
  const writers = new Map<string, Writes>()
  let writes = 0
  /** The highest last-write number among the dropped callers. */
  let forgotten = 0
  const forget = () => {
    for (const [name, { last, active }] of writers) {
      if (writers.size <= limit) return
      if (active > 0) continue
      writers.delete(name)
      forgotten = Math.max(forgotten, last)
    }
  }
  return {
    /** Notes that a write of this caller begins. Call the returned function when it has ended. */
    begin(caller: string): () => void {
      writes += 1
      const own = writers.get(caller) ?? { last: 0, active: 0 }
      own.last = writes
      own.active += 1
      writers.delete(caller)
      writers.set(caller, own)
      if (writers.size > limit) forget()
      let over = false
      return () => {
        if (!over) own.active -= 1
        over = true
      }
    },
    /** Notes that other replicas made more writes than are known: any caller may have written. */
    noteMany(): void {
      writes += 1
      forgotten = writes
      for (const [name, { active }] of writers) if (active === 0) writers.delete(name)
    },
    /** Returns a mark of this moment for `hasWritten`. */
    mark: (caller: string): number => ((writers.get(caller)?.active ?? 0) > 0 ? UNDER_WAY : writes),
    /** Tells whether any write of this caller has been under way since the mark. */
    hasWritten(caller: string, mark: number): boolean {
      const own = writers.get(caller)
      return (own?.active ?? 0) > 0 || (own?.last ?? forgotten) > mark
    },
  }
}

/** A mark during a write: whatever is known comes after it. */
const UNDER_WAY = -1

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
  /** What they may have done to lists of a resource. */
  toRows(of: Message | undefined): RowWrites
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
  /** The rows that it creates. */
  readonly creates: RowCreate | undefined
  active: boolean
}

/** Maximum writes that are remembered. If more came since, anything may have happened. */
const REMEMBERED = 1000

/** Remembers recent writes. What a read does not show may have been deleted or changed since, rather than lost. */
export class RecentWrites {
  readonly #recent: RecentWrite[] = []
  #count = 0
  /** Numbers of the last write of this process that is no longer known, and of the moment of many others. */
  #dropped = -1
  #many = -1

  /** Notes that a write begins. Call the returned function when it has ended. */
  begin(operation: Operation, params: V1Request['params'], caller = ''): () => void {
    return endOf(this.#add(operation, params, { caller, isOwn: true }))
  }

  /** Notes that a write of another replica begins, likewise. `uids` are those that its body names. */
  beginElsewhere(operation: Operation, params: V1Request['params'], uids: readonly string[] | undefined): () => void {
    const write = this.#add(operation, params, { caller: '', isOwn: false })
    write.uids ??= uids
    return endOf(write)
  }

  /** Notes that other replicas made more writes than are known. */
  noteMany(): void {
    this.#many = this.#count
    this.#count += 1
  }

  /** Notes the body of a write that has begun: a batch names its resources there. */
  readBody(request: Pick<Request, 'operation' | 'read'>): void {
    const found = namedInBody(request)
    const write = found && this.#recent.findLast(({ params, uids }) => params === found.params && !uids)
    if (write) write.uids = found.uids
  }

  /** Returns the writes of this process from a number on, and the next number. `isCut`: older ones among them are no longer known. */
  own(from: number): { readonly writes: readonly NamedWrite[]; readonly next: number; readonly isCut: boolean } {
    const writes = this.#recent.filter(({ isOwn, number }) => isOwn && number >= from)
    return { writes, next: this.#count, isCut: this.#dropped >= from }
  }

  /** Returns a mark of this moment for `since`. */
  mark(): number {
    for (const { active, number } of this.#recent) if (active) return number
    return this.#count
  }

  /** Tells what other writes have done since a mark. */
  since(mark: number): OtherWrites {
    const some = (written: WrittenResource, fits: (write: RecentWrite, written: WrittenResource) => boolean) => {
      const all = this.#from(mark)
      return all === undefined || all.some((write) => write.params !== written.own && fits(write, written))
    }
    return {
      mayBeGone: (written) => some(written, mayTake),
      mayBeChanged: (written) => some(written, mayChange),
      toRows: (of) => {
        const all = this.#from(mark)
        if (!all) return ANY_WRITES
        const toRows = all.filter(({ resource }) => resource !== undefined && resource === of)
        const names = (uid: string) => all.some(({ uids }) => uids?.includes(uid))
        return { count: toRows.length, creates: toRows.flatMap(({ creates }) => creates ?? []), names }
      },
    }
  }

  /** Returns all writes from a mark on; undefined if not all are known. */
  #from(mark: number): readonly RecentWrite[] | undefined {
    const isForgotten = mark <= this.#many || mark < (this.#recent[0]?.number ?? this.#count)
    return isForgotten ? undefined : this.#recent.filter(({ number }) => number >= mark)
  }

  #add(operation: Operation, params: V1Request['params'], more: Pick<RecentWrite, 'caller' | 'isOwn'>): RecentWrite {
    const write: RecentWrite = { number: this.#count, operation, ...traitsOf(operation, params), params, active: true, ...more }
    this.#count += 1
    this.#recent.push(write)
    const oldest = this.#recent.length > REMEMBERED ? this.#recent.shift() : undefined
    if (oldest?.isOwn) this.#dropped = oldest.number
    return write
  }
}

function endOf(write: RecentWrite): () => void {
  return () => {
    write.active = false
  }
}

function traitsOf({ readBack, takes }: Operation, params: V1Request['params']) {
  if (!readBack || !isReadBack(readBack)) {
    return { resource: undefined, uids: Object.values(params), deletes: false, takesBelow: false, creates: undefined }
  }
  const { resource, named, gone = false } = readBack
  const uid = 'param' in named ? params[named.param] : undefined
  const uids = uid === undefined ? undefined : [uid]
  return { resource, uids, deletes: gone, takesBelow: takes === 'below', creates: createdBy(named, params) }
}

/** The path of a create has the uid of the parent alone, which a root resource does not have. A batch creates any number. */
function createdBy(named: ReadBack['named'], params: V1Request['params']): RowCreate | undefined {
  const most = 'answer' in named ? 1 : 'rows' in named ? Number.POSITIVE_INFINITY : 0
  return most === 0 ? undefined : { parent: Object.values(params)[0] || undefined, most }
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

type WriteHistory = ReturnType<typeof createWriteHistory>

/** What is known of the caller, and what tells a race from a difference. */
export function createWriteHistory() {
  const accepted = createAccepted()
  const ownWrites = createOwnWrites()
  const recentWrites = new RecentWrites()
  const write = (operation: Operation, params: V1Request['params'], caller: string) => {
    const ends = [recentWrites.begin(operation, params, caller), ownWrites.begin(caller)]
    return () => void ends.map((end) => end())
  }
  /** Notes that a request may write. Call the returned function when the request has ended. */
  const writing: Sides['writing'] = (operation, params, { caller, credential }) => {
    if (isRead(operation)) return nothingWritten
    if (accepted.has(credential)) return write(operation, params, caller)
    // Attempts of strangers write nothing, but this may be the first request of a caller that is accepted.
    return () => {
      if (accepted.has(credential)) write(operation, params, caller)()
    }
  }
  return { accepted, ownWrites, recentWrites, writing }
}

const nothingWritten = () => {}

interface Watching {
  readonly observer: Observer
  readonly history: WriteHistory
  readonly terms: Pick<Terms, 'now'>
  /** Takes one of the credentials in doubt that may be shown to v1. */
  readonly doubts: Bucket
}

/**
 * A request that is watched in a diff mode. It passes a copy of the answer to the observer once the client has it.
 * It never waits for the other side, and failures there never reach the client (design §7).
 * Requests of strangers are not compared, because they prove nothing; v1 is asked about some whom v2 refuses.
 * Nothing is kept of an answer that finds no room, and most answers of a busy proxy find none.
 */
class Watched {
  readonly #watching: Watching
  readonly #mode: Mode
  readonly #request: ClientRequest
  readonly #wrote: number
  readonly #others: number
  readonly #began = performance.now()
  readonly #term: Term

  constructor(watching: Watching, mode: Mode, request: ClientRequest) {
    const { ownWrites, recentWrites } = watching.history
    this.#watching = watching
    this.#mode = mode
    this.#request = request
    this.#wrote = ownWrites.mark(request.caller)
    this.#others = recentWrites.mark()
    this.#term = watching.terms.now
    if (!isRead(request.operation)) recentWrites.readBody(request)
  }

  /** Takes what was served, and returns it for the client. */
  served(served: Served): Served {
    const { observer } = this.#watching
    const full = observer.full(this.#request.operation, served.by)
    if (full) {
      this.#skip(full)
      return served
    }
    const answer = tee(served.answer, observer.limit, (kept) => this.#look(served, kept))
    return { ...served, answer, isKept: true }
  }

  /** Counts that v1, which was to answer, gave no answer. */
  failed(): void {
    this.#skip(this.#request.client.aborted ? 'gone' : 'v1Failed')
  }

  #look(served: Served, kept: Kept | undefined) {
    const { observer, history, terms, doubts } = this.#watching
    const { accepted, ownWrites, recentWrites } = history
    const request = this.#request
    const { operation, caller, credential } = request
    const isKnown = accepted.has(credential)
    const isDoubted = served.by === 'v2' && served.answer.status === UNAUTHENTICATED && credential !== ANONYMOUS
    if (!isKnown && !(isDoubted && doubts.take())) return observer.skip(operation, 'stranger')
    if (!kept || request.client.aborted) return this.#skip('gone', isKnown)
    const term = this.#term
    // The use counts in the epoch that has begun meanwhile.
    if (term.epoch !== terms.now.epoch) return this.#skip('earlier', isKnown)
    const [mode, began] = [this.#mode, this.#began]
    const ms = Math.round(performance.now() - began)
    const wrote = () => ownWrites.hasWritten(caller, this.#wrote)
    const others = () => recentWrites.since(this.#others)
    const noteStatus = (v1Status: number) => accepted.noteStatus(operation, credential, v1Status, 'v1')
    observer.look({ request, mode, served, kept, began, ms, wrote, others, noteStatus, isKnown, term })
  }

  #skip(why: keyof Skipped, isKnown = this.#watching.history.accepted.has(this.#request.credential)): void {
    const { observer } = this.#watching
    if (isKnown) observer.skip(this.#request.operation, why, true)
    else observer.skip(this.#request.operation, 'stranger')
  }
}

/** Returns a function that begins to watch a request. */
export function createWatch(observer: Observer, history: WriteHistory, terms: Pick<Terms, 'now'>) {
  const doubts = createBucket({ most: DOUBTS_PER_MINUTE, fillMs: MINUTE }, () => performance.now())
  const watching: Watching = { observer, history, terms, doubts }
  return (mode: Mode, request: ClientRequest) => new Watched(watching, mode, request)
}

/** Credentials that v2 refuses and no side accepted yet: so many of them may be shown to v1, whose success proves the caller. */
const DOUBTS_PER_MINUTE = 60

/** Statuses that say nothing about v2: v1 might have limited this caller too (429), or the client left (499). */
const UNKNOWN: ReadonlySet<number> = new Set([429, 499])

/** The side of v1, and what compares and bounds what it is asked for. */
export interface V1Side {
  readonly ask: AskRest
  readonly observer: Observer
  readonly budget: Budget
}

/** Returns what serves from the side of a mode, and has the answer compared if the mode says so. */
export function servedBy(
  { ask, observer, budget }: V1Side,
  history: WriteHistory,
  journal: Pick<Journal, 'answered' | 'terms'>,
  pagingSides: Pick<PagingSides, 'note'>,
): Sides['serve'] {
  const { accepted } = history
  const watch = createWatch(observer, history, journal.terms)
  const fromV1 = async (request: ClientRequest): Promise<Served> => {
    const { raw, client, operation, credential } = request
    const answer = await ask(raw, client)
    accepted.noteStatus(operation, credential, answer.status, 'v1')
    if (!isRead(operation) && accepted.has(credential)) observer.wroteV1(request, answer.status)
    return { answer, by: 'v1' }
  }
  /**
   * Answers a read from v1 if v2 fails with 5xx or a timeout, within the budget. If v1 cannot answer either, v2's error stays.
   * Excluded are writes, which may have taken effect, and pages that continue a list: v1 cannot read v2's page tokens. A list that v1 begins
   * here stays with v1.
   */
  const fallBack = async (request: ClientRequest, served: Served): Promise<Served> => {
    const { operation, raw, caller, client, credential } = request
    if (!isRead(operation) || client.aborted) return served
    if (continuesList(operation, raw)) {
      budget.leaveWalk()
      return served
    }
    if (!budget.take(!accepted.has(credential))) return served
    try {
      const instead = await fromV1(request)
      if (operation.paging && isAccepted(instead.answer)) pagingSides.note('v1', operation, raw.url, caller)
      if (!hasFailed(instead.answer.status)) return { ...instead, failed: served.answer }
      await drain(instead.answer, 0)
      return served
    } catch {
      return served
    }
  }
  /**
   * Tells the circuit how v2 answered the client, whether the answer is compared or not. A comparison may be dropped, and it cannot judge a
   * failed write.
   */
  const tell = ({ operation, credential }: ClientRequest, served: Served, term: Term) => {
    const { status } = served.failed ?? served.answer
    if (!served.unasked && !UNKNOWN.has(status) && accepted.has(credential)) journal.answered(operation.id, hasFailed(status), term)
  }
  /** Most requests of a migration that has come far end here, so that no promise is made for one that v2 answers well. */
  const byV2 = (request: ClientRequest, watched: Watched | undefined, fromV2: FromV2, receiver: ServedReceiver) => {
    const term = journal.terms.now
    const pass = (served: Served, isLeft: boolean) => {
      let given = served
      try {
        if (!isLeft) tell(request, served, term)
        if (watched) given = watched.served(served)
      } catch (thrown) {
        receiver.failed(thrown)
        return
      }
      receiver.served(given)
    }
    // The observer gets the refusal of the tables as well: v1 may accept what they refuse.
    const refused = (thrown: unknown) =>
      void watched?.served({ answer: { status: asApiError(thrown).http, headers: {}, body: undefined }, by: 'v2', unasked: true })
    try {
      fromV2({
        served(served) {
          // A client of gRPC whose own time is over has left v2, although the status is that of a late v2.
          const isLeft = request.client.aborted
          if (hasFailed(served.answer.status)) void fallBack(request, served).then((given) => pass(given, isLeft))
          else pass(served, isLeft)
        },
        failed(thrown) {
          refused(thrown)
          receiver.failed(thrown)
        },
      })
    } catch (thrown) {
      refused(thrown)
      throw thrown
    }
  }
  return (mode, request, fromV2, receiver) => {
    const watched = COMPARING.has(mode) ? watch(mode, request) : undefined
    if (SERVED_BY[mode] === 'v2') return byV2(request, watched, fromV2, receiver)
    const asked = fromV1(request)
    const answered = watched
      ? asked.then(
          (served) => watched.served(served),
          (thrown) => {
            watched.failed()
            throw thrown
          },
        )
      : asked
    answered.then(
      (served) => receiver.served(served),
      (thrown) => receiver.failed(thrown),
    )
  }
}
