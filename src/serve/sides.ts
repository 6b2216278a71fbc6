import type { IncomingHttpHeaders } from 'node:http'
import type { Operation, V1Request } from '../tables/operation.ts'
import type { Answer } from './answer.ts'
import type { ClientRequest, Identified } from './request.ts'

/** Says which service answers a v1 operation, and whether the other one is asked too, to compare (design §7). */
export const MODES = ['v1', 'v2', 'diff-v1', 'diff-v2'] as const

export type Mode = (typeof MODES)[number]

/** The source of an answer in v1 space: the v1 service itself, or the tables over v2. */
export type Side = 'v1' | 'v2'

/** The side that answers the client. */
export const SERVED_BY: Readonly<Record<Mode, Side>> = { v1: 'v1', 'diff-v1': 'v1', v2: 'v2', 'diff-v2': 'v2' }

/** Modes in which the other side is asked too. */
export const COMPARING: ReadonlySet<Mode> = new Set<Mode>(['diff-v1', 'diff-v2'])

/** The same mode with v1 answering the client. */
export const BY_V1: Readonly<Record<Mode, Mode>> = { v1: 'v1', 'diff-v1': 'diff-v1', v2: 'v1', 'diff-v2': 'diff-v1' }

export function isMode(text: unknown): text is Mode {
  return (MODES as readonly unknown[]).includes(text)
}

export const otherSide = (side: Side): Side => (side === 'v1' ? 'v2' : 'v1')

/** An answer, and the side that gave it. */
export interface Served {
  readonly answer: Answer
  readonly by: Side
  /** The tables answered without a call to v2. */
  readonly unasked?: true
  /** v2's failed answer, if v1 answered in its place. */
  readonly failed?: Answer
  /** It is compared, so that its bytes are read after the client has them. */
  readonly isKept?: true
}

/** Takes what was served, or the error that the request ends with instead. */
export interface ServedReceiver {
  served(served: Served): void
  failed(thrown: unknown): void
}

/** Answers a request from v2, possibly at once. Throws the ApiError of an unreadable request. */
export type FromV2 = (receiver: ServedReceiver) => void

/** GET is v1's only read. Every other method may change something, and reaches exactly one side. */
export function isRead({ method }: Operation): boolean {
  return method === 'GET'
}

/** A 501 says that v1 never had the feature, or that only v1 has it, so it is no failure. */
export function hasFailed(status: number): boolean {
  return status >= 500 && status !== 501
}

/** True if a side accepted the request. */
export function isAccepted({ status }: { readonly status: number }): boolean {
  return status >= 200 && status <= 299
}

/** The header with which a tester chooses the mode of one request. */
export const MODE_HEADER = 'x-crosswalk-mode'

/** What is decided about a request before it is served. */
export interface Choice extends Identified {
  readonly mode: Mode
  /** The round of rollouts in which the mode was chosen. */
  readonly round?: number
}

/**
 * Why nothing of a request in a diff mode was kept. `bodyBytes`: its body is larger than what is translated. `bodyLength`: it may be.
 * `uncarried`: only gRPC says what it asks for. The others tell how v1 ended it besides.
 */
export type Unkept = 'bodyBytes' | 'bodyLength' | 'uncarried' | 'gone' | 'refused' | 'v1Failed'

/** How a request ended. */
export interface RequestEnd {
  /** It was refused without asking a service. */
  readonly refused: boolean
  /** Undefined for a request that could be compared, if its mode says so. */
  readonly unkept?: Unkept | undefined
  /** The side that answered. */
  readonly by: Side
  /** When it began, by the monotonic clock of the process, if it succeeded. */
  readonly started?: number | undefined
  /** Path and query, still encoded; undefined for a call of a function. */
  readonly url?: string | undefined
  /** `grpc`, `grpc-web` or `connect`; undefined for REST. */
  readonly protocol?: string | undefined
  /** The `User-Agent` of the client. */
  readonly agent?: string | undefined
}

/** Keeps the parameters of one request, redacted. The tables of `operation` know them. */
export type KeepRequest = (operation: Operation, request: V1Request) => void

/** Who answers a request. Serving asks; the modes of a migration are one that answers. */
export interface Sides {
  /** Chooses the mode of one request to an operation with a plan. Throws an ApiError if a tester's choice cannot be granted. */
  choose(operation: Operation, url: string, headers: IncomingHttpHeaders): Choice
  /** Identifies the caller of an operation that only v1 can answer. */
  identify(headers: IncomingHttpHeaders): Identified
  /** Answers in the chosen mode, possibly at once. Throws the ApiError of an unreadable request. */
  serve(mode: Mode, request: ClientRequest, fromV2: FromV2, receiver: ServedReceiver): void
  /** Notes a write until the returned function ends it. */
  writing(operation: Operation, params: Readonly<Record<string, string>>, choice: Choice): () => void
  /** Notes the status with which a service itself answered: only accepted callers count. */
  noteStatus(operation: Pick<Operation, 'takesNoToken'>, credential: string, status: number, by: Side): void
  /** Counts a finished request. One that was refused without asking a service is no traffic. */
  used(choice: Choice, operation: Operation, end: RequestEnd): KeepRequest | undefined
  /** Counts a request that v1 answered well at a path that no table has. */
  usedUnknown(method: string, path: string, headers: IncomingHttpHeaders): void
}
