import {
  type Document,
  KEPT_MS,
  type Kinds,
  type LogItem,
  type SplitStore,
  type StoreChange,
  type StoreFound,
  type StoreRead,
  type Sums,
  splitStore,
} from './store.ts'

/** What a change is applied to, when, and for whom. */
interface Applying {
  readonly shelves: Shelves
  readonly replica: string
  readonly now: number
}

/** Applies one change. Redis does the same in `redis-scripts.ts`, and one test compares the two. */
function applyChange(change: StoreChange, to: Applying): void {
  ;(APPLIED[change.kind] as (change: StoreChange, to: Applying) => void)(change, to)
}

/** Replaces a document by one of a higher version. */
function raiseDocument({ documents, nextStamp }: Shelves, name: string, value: Document): void {
  documents.set(name, { value, stamp: nextStamp(documents.get(name)?.stamp) }, Number.POSITIVE_INFINITY)
}

type Applied = { readonly [K in StoreChange['kind']]: (change: Extract<StoreChange, { kind: K }>, to: Applying) => void }

const APPLIED: Applied = {
  add: ({ name, sums, keepMs }, to) => combine(name, sums, to, keepMs, (held, given) => held + given),
  most: ({ name, sums, keepMs }, to) => combine(name, sums, to, keepMs, (held, given) => Math.max(held, given), Number.NEGATIVE_INFINITY),
  least: ({ name, sums, keepMs }, to) => combine(name, sums, to, keepMs, (held, given) => Math.min(held, given), Number.POSITIVE_INFINITY),
  claim({ key, at, ms, name, first, again }, to) {
    const { claims } = to.shelves
    const claimed = claims.get(key)
    const isFirst = claimed === undefined || Math.abs(at - claimed) >= ms
    if (isFirst) claims.set(key, at, to.now + 2 * ms)
    combine(name, isFirst ? first : again, to, KEPT_MS, (held, given) => held + given)
  },
  join({ name, field, member, most }, to) {
    const { members, sums } = to.shelves
    const place = `${name}\0${field}`
    const held = members.get(place) ?? new Set()
    members.set(place, held, to.now + KEPT_MS)
    sums.keep(name, to.now + KEPT_MS)
    if (held.has(member) || held.size >= most) return
    held.add(member)
    combine(name, { [field]: 1 }, to, KEPT_MS, (sum, given) => sum + given)
  },
  draw({ name, amount, most, keepMs }, to) {
    const drawn = [...(to.shelves.sums.get(name)?.value.values() ?? [])].reduce((all, one) => all + one, 0)
    const granted = Math.min(amount, most - drawn)
    combine(name, granted > 0 ? { [to.replica]: granted } : {}, to, keepMs, (held, given) => held + given)
  },
  write: ({ name, field, text, keepMs }, to) => write(name, field, () => text, to, keepMs),
  mark: ({ name, field, text, keepMs }, to) => write(name, field, (held) => held ?? text, to, keepMs),
  log({ name, text, items, keepMs = KEPT_MS }, { shelves: { logs, nextStamp }, replica, now }) {
    const held: readonly LogItem[] = logs.get(name)?.value ?? []
    const nth = nextStamp(held.at(-1)?.nth)
    logs.set(name, { value: [...held, { nth, replica, text }].slice(-items), stamp: nth }, now + keepMs)
  },
  lease({ name, ms }, { shelves: { leases, nextStamp }, replica, now }) {
    const held = leases.get(name)
    if (held && held.value !== replica) return
    if (ms === 0) leases.delete(name)
    else leases.set(name, held ?? { value: replica, stamp: nextStamp() }, now + ms)
  },
  raise({ name, version, text }, { shelves }) {
    if (version > (shelves.documents.get(name)?.value.version ?? 0)) raiseDocument(shelves, name, { version, text })
  },
  beat: ({ text, ms }, { shelves: { beats }, replica, now }) => beats.set(replica, { text, at: now }, now + ms),
}

type Combination = (held: number, given: number) => number

function combine(name: string, sums: Sums, to: Applying, keepMs: number = KEPT_MS, combination: Combination, nothing = 0): void {
  for (const [field, given] of Object.entries(sums)) {
    change(to.shelves.sums, name, field, (held = nothing) => combination(held, given), to.shelves.nextStamp)
  }
  to.shelves.sums.keep(name, to.now + keepMs)
}

function write(
  name: string,
  field: string,
  text: (held: string | undefined) => string,
  { shelves, now }: Applying,
  keepMs: number = KEPT_MS,
): void {
  change(shelves.texts, name, field, text, shelves.nextStamp)
  shelves.texts.keep(name, now + keepMs)
}

/** A value that is as it was gets no new stamp. */
function change<T>(
  shelf: Shelf<StampedFields<T>>,
  name: string,
  field: string,
  next: (held: T | undefined) => T,
  nextStamp: Shelves['nextStamp'],
): void {
  const known = shelf.get(name)
  const held = known ?? { value: new Map<string, T>(), stamp: 0 }
  if (!known) shelf.set(name, held, Number.POSITIVE_INFINITY)
  const before = held.value.get(field)
  const after = next(before)
  if (after === before) return
  held.value.set(field, after)
  held.stamp = nextStamp(held.stamp)
}

/** Finds what a read asks for, if it is newer than what is known. Heartbeats are always found. */
function find({ kind, name, known }: StoreRead, shelves: Shelves, now: number): StoreFound {
  const { stamp, value } = FOUND[kind](name, shelves, now, known)
  // Not "less than": the stamp of a name that was forgotten is 0.
  return stamp === known && kind !== 'replicas' ? undefined : { stamp, value }
}

/** Keeps what a live replica reads, unless it was meant for a short time. */
function renew({ kind, name }: StoreRead, shelves: Shelves, now: number): void {
  if (kind !== 'sums' && kind !== 'texts' && kind !== 'log') return
  const shelf = shelves[kind === 'log' ? 'logs' : kind]
  const left = shelf.left(name)
  if (left > KEPT_MS / 2 && left < KEPT_MS) shelf.keep(name, now + KEPT_MS)
}

type Find<K extends keyof Kinds> = (name: string, shelves: Shelves, now: number, known?: number) => Stamped<Kinds[K]>

const FOUND: { readonly [K in keyof Kinds]: Find<K> } = {
  sums: (name, { sums }) => byField(sums.get(name)),
  texts: (name, { texts }) => byField(texts.get(name)),
  log(name, { logs }, _, known = 0) {
    const { stamp, value } = logs.get(name) ?? { stamp: 0, value: [] }
    return { stamp, value: value.filter(({ nth }) => nth > known) }
  },
  document: (name, { documents }) => documents.get(name) ?? { stamp: 0, value: { version: 0, text: '' } },
  lease: (name, { leases }) => leases.get(name) ?? { stamp: 0, value: undefined },
  // The time itself: stamps stand still for as long as the clock was set back.
  replicas: (_, { beats }, now) => ({
    stamp: now * 1000,
    value: beats.entries().map(([replica, { text, at }]) => ({ replica, text, agoMs: now - at })),
  }),
}

function byField<T>(found: Stamped<ReadonlyMap<string, T>> | undefined): Stamped<Readonly<Record<string, T>>> {
  return { stamp: found?.stamp ?? 0, value: Object.fromEntries(found?.value ?? []) }
}

interface Kept<T> {
  thing: T
  untilMs: number
}

/** Sweeping takes place when a shelf has grown to this many things, and then whenever it has doubled: its cost is a constant for each thing. */
const SWEPT = 1000

type Shelf<T> = ReturnType<typeof createShelf<T>>

/** Things by name, each of which is forgotten at its time. */
export function createShelf<T>(now: () => number) {
  const things = new Map<string, Kept<T>>()
  let next = SWEPT
  const live = (name: string): Kept<T> | undefined => {
    const kept = things.get(name)
    if (!kept || kept.untilMs > now()) return kept
    things.delete(name)
    return undefined
  }
  const sweep = () => {
    for (const name of things.keys()) live(name)
    next = Math.max(SWEPT, 2 * things.size)
  }
  return {
    get: (name: string): T | undefined => live(name)?.thing,
    /** Puts a thing there until `untilMs`. */
    set(name: string, thing: T, untilMs: number) {
      things.set(name, { thing, untilMs })
      if (things.size >= next) sweep()
    },
    /** Lets a thing that is there stay until `untilMs`. */
    keep(name: string, untilMs: number) {
      const kept = live(name)
      if (kept) kept.untilMs = untilMs
    },
    /** Milliseconds until it is forgotten; 0 if it is not there. */
    left(name: string) {
      const kept = live(name)
      return kept ? kept.untilMs - now() : 0
    },
    delete: (name: string): void => void things.delete(name),
    /** Number of things that take memory: some of them may be forgotten. */
    size: () => things.size,
    /** What is not forgotten, with the time until which it stays. */
    entries(): (readonly [name: string, thing: T, untilMs: number])[] {
      sweep()
      return [...things].map(([name, { thing, untilMs }]) => [name, thing, untilMs] as const)
    },
  }
}

/** A value with the stamp of its last change. */
interface Stamped<T> {
  readonly value: T
  readonly stamp: number
}

/** Values by field. They change in place. */
interface StampedFields<T> {
  readonly value: Map<string, T>
  stamp: number
}

/** Everything that a store in memory holds. */
export interface Shelves {
  readonly sums: Shelf<StampedFields<number>>
  readonly texts: Shelf<StampedFields<string>>
  readonly logs: Shelf<Stamped<readonly LogItem[]>>
  readonly documents: Shelf<Stamped<Document>>
  readonly leases: Shelf<Stamped<string>>
  /** The time for which each key is claimed. */
  readonly claims: Shelf<number>
  /** Members by the name and field that they count for. */
  readonly members: Shelf<Set<string>>
  readonly beats: Shelf<{ readonly text: string; readonly at: number }>
  /** The last number of each replica. */
  readonly batches: Shelf<number>
  /** A stamp above all before it, and above the given one: microseconds of the clock, unless it stood still or stepped back. */
  nextStamp(above?: number): number
}

export function createShelves(now: () => number): Shelves {
  let last = 0
  return {
    nextStamp(above = 0) {
      last = Math.max(now() * 1000, last + 1, above + 1)
      return last
    },
    sums: createShelf(now),
    texts: createShelf(now),
    logs: createShelf(now),
    documents: createShelf(now),
    leases: createShelf(now),
    claims: createShelf(now),
    members: createShelf(now),
    beats: createShelf(now),
    batches: createShelf(now),
  }
}

/** Milliseconds after which the number of a replica's last batch is forgotten. */
const BATCH_KEPT_MS = 24 * 3_600_000

export type Memory = Pick<SplitStore, 'open'>

/** `createMemory(Date.now).open()`: a store that ends with its process, as one of its replicas has it. `now` gives milliseconds since 1970. */
export function createMemory(now: () => number, shelves: Shelves = createShelves(now)): Memory {
  return splitStore({
    async exchange({ replica, nth, changes, reads }) {
      const isRepeated = nth <= (shelves.batches.get(replica) ?? 0)
      if (!isRepeated) {
        const applying = { shelves, replica, now: now() }
        shelves.batches.set(replica, nth, applying.now + BATCH_KEPT_MS)
        for (const change of changes) applyChange(change, applying)
      }
      for (const read of reads) renew(read, shelves, now())
      return reads.map((read) => find(read, shelves, now()))
    },
    read: async (reads) => reads.map((read) => find(read, shelves, now())),
    async replace(name, version, text) {
      const held = shelves.documents.get(name)?.value ?? { version: 0, text: '' }
      if (held.version !== version) return { isReplaced: false, document: held }
      const document = { version: version + 1, text }
      raiseDocument(shelves, name, document)
      return { isReplaced: true, document }
    },
    onNews() {},
    async close() {},
  })
}
