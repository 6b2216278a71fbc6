import type { StoreChange } from './store-change.ts'

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
  /** Grows by 1 with each item of its log. The first one is a time, so that a log that was lost does not begin with a number again. */
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
