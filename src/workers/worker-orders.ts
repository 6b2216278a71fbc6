import type { Config } from '../config/settings.ts'
import type { KeptModes } from '../fleet/modes.ts'
import type { SentRecordsSettings } from './sent-records.ts'

/** What a worker asks for when it starts. The settings come from the supervisor, so that all workers have the same. */
export interface WorkerOrders {
  readonly place: number
  readonly config: Config
  /** The path of the configuration file, if there is one. */
  readonly file: string | undefined
  /** Absent without a record file. */
  readonly records: SentRecordsSettings | undefined
  /** What the supervisor knows, for a store that does not answer; undefined if it knows no modes. */
  readonly kept: KeptModes | undefined
}

/** Why a worker cannot start: what is left of an error between two processes. */
export type StartFailure = Readonly<Record<string, unknown>> & { readonly message: string }

/** The topics between a worker and its supervisor, besides those of the store. */
export const TOPICS = {
  /** The worker asks for its orders. */
  orders: 'orders',
  /** It accepts connections at this address. */
  listens: 'listens',
  /** It cannot start, and ends. */
  failed: 'failed',
  /** A fault makes it leave. */
  leaves: 'leaves',
  /** It has left: its last metrics. */
  done: 'done',
  records: 'records',
  /** The supervisor has other values of live settings. */
  settings: 'settings',
  /** The supervisor lets it leave: whether another one takes its place. */
  leave: 'leave',
  /** The supervisor asks whether its event loop turns. */
  ping: 'ping',
  /** The supervisor asks for its metrics. */
  metrics: 'metrics',
} as const

/** The members of an error by which a start says what its user can mend (`failureLines`). */
const TOLD = ['name', 'code', 'port', 'address', 'syscall', 'path'] as const

export function failureOf(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { message: String(error) }
  const members = error as unknown as Readonly<Record<string, unknown>>
  return { message: error.message, stack: error.stack, ...Object.fromEntries(TOLD.map((name) => [name, members[name]])) }
}

export function errorOf({ message, ...members }: StartFailure): Error {
  return Object.assign(new Error(message), members)
}
