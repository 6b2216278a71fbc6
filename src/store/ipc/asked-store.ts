import type { Batch, Replaced, StoreFound, StoreRead } from '../store.ts'

/** The way between a worker and the process that holds the store. It copies what it carries. */
export interface StoreLine {
  /** Rejects if the other side cannot answer, or is gone. */
  ask(topic: string, value?: unknown): Promise<unknown>
  tell(topic: string, value?: unknown): void
  on(topic: string, listener: (value: unknown) => unknown): void
}

/** What a worker asks of the store. */
export type StoreQuestion =
  | { readonly what: 'exchange'; readonly batch: Batch }
  | { readonly what: 'read'; readonly reads: readonly StoreRead[] }
  | { readonly what: 'replace'; readonly name: string; readonly version: number; readonly text: string }

/** What it gets, or why the store did not answer. */
export type StoreAnswer =
  | { readonly got: readonly StoreFound[] | Replaced }
  | { readonly down: string; readonly foreignKey?: string | undefined }

/** The topics of the line: questions of a worker, and hints that it should read. */
export const STORE = 'store'
export const NEWS = 'store news'
