/** Numbers by field. */
export type Sums = Readonly<Record<string, number>>

/**
 * One change of what is shared. None depends on a value that a replica has read, so that batches of several replicas go together in any
 * order. `keepMs` is the time after which an unchanged name is forgotten, if it is not `KEPT_MS`.
 */
export type StoreChange =
  /** Adds to sums. */
  | { readonly kind: 'add'; readonly name: string; readonly sums: Sums; readonly keepMs?: number }
  /** Keeps the highest, or the lowest, of two values of a field of sums. */
  | { readonly kind: 'most' | 'least'; readonly name: string; readonly sums: Sums; readonly keepMs?: number }
  | Claim
  /** Adds a member to a set of at most `most`. A new one adds 1 to this field of the sums of the same name. */
  | { readonly kind: 'join'; readonly name: string; readonly field: string; readonly member: string; readonly most: number }
  /** Adds up to `amount` to the field of this replica in sums, as far as the sum of all fields stays within `most`. */
  | { readonly kind: 'draw'; readonly name: string; readonly amount: number; readonly most: number; readonly keepMs?: number }
  /** Writes a text. With `mark`, the first text stays. */
  | { readonly kind: 'write' | 'mark'; readonly name: string; readonly field: string; readonly text: string; readonly keepMs?: number }
  /** Appends to a log, which keeps its newest items. */
  | { readonly kind: 'log'; readonly name: string; readonly text: string; readonly items: number; readonly keepMs?: number }
  /** Takes a lease that is free, or renews an own one. `ms: 0` gives an own one back. */
  | { readonly kind: 'lease'; readonly name: string; readonly ms: number }
  /** Replaces a document by one of a higher version. */
  | { readonly kind: 'raise'; readonly name: string; readonly version: number; readonly text: string }
  /** Says that this replica lives, and what it says of itself. It is forgotten after `ms`. */
  | { readonly kind: 'beat'; readonly text: string; readonly ms: number }

/**
 * Adds `first` to sums if nobody has claimed the key for a time less than `ms` milliseconds from `at`, before or after it, and `again`
 * otherwise. Only `first` claims. The store forgets a claim `2 * ms` after it came.
 */
export interface Claim {
  readonly kind: 'claim'
  readonly key: string
  /** Milliseconds since 1970, by the clock of the replica: what waited for the store is claimed for the time when it happened. */
  readonly at: number
  readonly ms: number
  readonly name: string
  readonly first: Sums
  readonly again: Sums
}

/**
 * The store did not answer, refused, or is no store. The message is a sentence for a person: it names the store without credentials.
 * Nothing is lost by it: what was sent may be sent again.
 */
export class StoreDown extends Error {
  override readonly name = 'StoreDown'
  /** The name of what somebody else put where the store keeps its own; undefined if that is not the reason. */
  readonly foreignKey: string | undefined

  constructor(message: string, foreignKey?: string) {
    super(message)
    this.foreignKey = foreignKey
  }
}

/** Returns why a store is down. Throws what is a defect. */
export function downReason(error: unknown): string {
  if (error instanceof StoreDown) return error.message
  throw error
}

/**
 * What the replicas of a fleet share: named sums, texts, logs, documents and leases. A store knows nothing of what they mean.
 * A name that nobody changes, or reads in an exchange, for a while is forgotten (`KEPT_MS`). Documents are never forgotten.
 */
export interface Store {
  /**
   * Applies a batch as a whole and answers its reads, in their order. A batch whose number its replica has sent before changes nothing, and is
   * answered all the same. Rejects with a `StoreDown` if no answer came in time: whether the batch was applied is then unknown, and the
   * same batch may be sent again. A store may take a very large batch in steps: what it says of its replica comes with the last one.
   */
  exchange(batch: Batch): Promise<readonly StoreFound[]>
  /** Reads what is too large for an exchange. What it finds need not be of one moment. Rejects as `exchange` does. */
  read(reads: readonly StoreRead[]): Promise<readonly StoreFound[]>
  /**
   * Replaces a document if its version is still the one given (0: there is none yet); its version is then one higher. Returns the document
   * in force afterwards, and whether it is the new one. Rejects as `exchange` does.
   */
  replace(name: string, version: number, text: string): Promise<Replaced>
  /** Calls a listener soon after another replica has sent an urgent batch or replaced a document. Such calls may be lost. */
  onNews(listener: () => void): void
  /** Rejects with a `StoreDown` if it cannot keep what it was told. */
  close(): Promise<void>
}

/** What one replica tells and asks at one time. */
export interface Batch {
  /** Tells this process from every other, and from those before it. */
  readonly replica: string
  /** Grows by 1 with each batch of the replica. */
  readonly nth: number
  readonly changes: readonly StoreChange[]
  readonly reads: readonly StoreRead[]
  /** Other replicas should read at once. */
  readonly isUrgent: boolean
}

/** What can be read, by its kind. */
export interface Kinds {
  readonly sums: Readonly<Record<string, number>>
  readonly texts: Readonly<Record<string, string>>
  /** Newer items than the known one, oldest first. */
  readonly log: readonly LogItem[]
  /** Version 0: there is none. */
  readonly document: Document
  /** The replica that holds the lease; undefined if it is free. */
  readonly lease: string | undefined
  /** The heartbeats of the replicas that were heard of lately. */
  readonly replicas: readonly Beat[]
}

export interface StoreRead<K extends keyof Kinds = keyof Kinds> {
  readonly kind: K
  /** Not of `replicas`: '' there. */
  readonly name: string
  /**
   * The stamp of what is known already. If it is still that one, nothing is found. A name that does not exist has the stamp 0 and an empty
   * value, so that a replica learns that the store lost what it knows. Heartbeats are always found.
   */
  readonly known?: number
}

/** What was found; undefined if it is what was known. `stamp` grows with each change; of a log it is the number of its last item, of the replicas the time of the store in microseconds since 1970. */
export type StoreFound<K extends keyof Kinds = keyof Kinds> = { readonly stamp: number; readonly value: Kinds[K] } | undefined

export interface LogItem {
  /** Grows with each item of its log. It is a time, so that a log that came back empty or older gives no number again. */
  readonly nth: number
  readonly replica: string
  readonly text: string
}

export interface Document {
  readonly version: number
  readonly text: string
}

export interface Replaced {
  readonly isReplaced: boolean
  readonly document: Document
}

export interface Beat {
  readonly replica: string
  readonly text: string
  /** Milliseconds since it was sent, by the clock of the store. */
  readonly agoMs: number
}

/** Milliseconds after which a name is forgotten that nobody changes, and nobody reads in an exchange. */
export const KEPT_MS = 30 * 24 * 3_600_000

/** Where a store is, read from `store.url`. */
type StoreAddress = FileAddress | RedisAddress

interface FileAddress {
  readonly carrier: 'file'
  readonly path: string
}

export interface RedisAddress {
  readonly carrier: 'redis'
  /** What a person may read: the address without credentials. */
  readonly shown: string
  /** One Redis, or the Sentinels that know it. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  /** The name that the Sentinels have for it. */
  readonly sentinelName?: string
  readonly isTls: boolean
  readonly username?: string
  readonly password?: string
  readonly database: number
}

const FORM =
  'store.url must be file:PATH, redis://HOST, rediss://HOST or redis+sentinel://HOST,HOST/NAME, with USER:PASSWORD@ before the host and /NUMBER of a database at its end if they are needed'

/** Scheme, credentials, hosts, path. A comma between hosts makes it no URL of the standard. */
const REDIS = /^(rediss?)(\+sentinel)?:\/\/(?:([^@/]*)@)?([^@/?#]+)((?:\/[^/?#]+)*)\/?$/
const HOST = /^(\[[\da-f:.]+\]|[^:[\]]+)(?::(\d{1,5}))?$/i

/** Throws an error whose message is a sentence, and never quotes the URL: it may hold a password. */
export function readStoreUrl(url: string): StoreAddress {
  if (url.startsWith('file:') && url.length > 'file:'.length) return { carrier: 'file', path: url.slice('file:'.length) }
  const [, scheme, sentinel, credentials, hosts = '', path = ''] = REDIS.exec(url) ?? []
  if (scheme === undefined) throw new Error(FORM)
  const segments = path.split('/').slice(1).map(decoded)
  const sentinelName = sentinel ? segments.shift() : undefined
  const [database = '0', ...further] = segments
  if (Boolean(sentinel) !== (sentinelName !== undefined) || !/^\d{1,5}$/.test(database) || further.length > 0) throw new Error(FORM)
  const read = hosts.split(',').map((host) => hostOf(host, sentinel ? 26_379 : 6379))
  if (!sentinel && read.length > 1) throw new Error(FORM)
  return {
    carrier: 'redis',
    shown: `${scheme}${sentinel ?? ''}://${hosts}${path}`,
    hosts: read,
    ...(sentinelName !== undefined && { sentinelName }),
    isTls: scheme === 'rediss',
    ...credentialsOf(credentials),
    database: Number(database),
  }
}

function hostOf(text: string, port: number): RedisAddress['hosts'][number] {
  const [, host, given] = HOST.exec(text) ?? []
  if (host === undefined || Number(given ?? port) > 65_535) throw new Error(FORM)
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(given ?? port) }
}

function credentialsOf(text: string | undefined): Pick<RedisAddress, 'username' | 'password'> {
  if (!text) return {}
  const [username = '', ...password] = text.split(':')
  return {
    ...(username !== '' && { username: decoded(username) }),
    ...(password.length > 0 && { password: decoded(password.join(':')) }),
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new Error(FORM)
  }
}

export type SplitStore = ReturnType<typeof splitStore>

/** A store that several replicas of one machine use. It tells each the news of the others too, which the store cannot tell apart from its own. */
export function splitStore(whole: Store) {
  const listeners = new Map<Store, (() => void)[]>()
  const tellBut = (one?: Store) => {
    for (const listener of [...listeners].flatMap(([other, called]) => (other === one ? [] : called))) queueMicrotask(listener)
  }
  whole.onNews(() => tellBut())
  return {
    /** Opens it for one more replica. Closing that ends its news; the whole store stays. */
    open(): Store {
      const orClosed = () => {
        if (!listeners.has(store)) throw new StoreDown('the store is closed')
      }
      const store: Store = {
        async exchange(batch) {
          orClosed()
          const found = await whole.exchange(batch)
          if (batch.isUrgent) tellBut(store)
          return found
        },
        async read(reads) {
          orClosed()
          return whole.read(reads)
        },
        async replace(name, version, text) {
          orClosed()
          const replaced = await whole.replace(name, version, text)
          if (replaced.isReplaced) tellBut(store)
          return replaced
        },
        onNews: (listener) => void listeners.get(store)?.push(listener),
        close: async () => void listeners.delete(store),
      }
      listeners.set(store, [])
      return store
    },
    /** Closes the whole store. */
    close: whole.close,
  }
}
