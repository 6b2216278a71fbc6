import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { ApiError, CodeName } from '../errors.ts'
import { createOnlyV1, type OnlyV1, type Operation, type V1Request } from '../tables/operation.ts'
import { spellings } from '../tables/query.ts'
import type { Turn } from '../tables/turn.ts'
import type { TranslateSettings } from './answer.ts'
import { createRouter, type Found, type Router } from './route.ts'
import type { Mode, Sides } from './sides.ts'
import type { SendIn } from './upstream/send.ts'
import type { RequestMetrics } from './watch/access-log.ts'
import type { RequestSpan } from './watch/spans.ts'

/** How a request is answered: in a mode, from v1 because v2 failed, or directly by v2 without translation. */
type ServedBy = Mode | 'fallback' | 'native'

/** The record of one request while it is served. It is read once, at the end. */
export interface RequestRecord {
  readonly id: string
  /** When it began, by the monotonic clock of the process, in milliseconds. */
  readonly started: number
  /** The protocol of a call of gRPC services; undefined for a request of REST. */
  protocol: 'grpc' | 'grpc-web' | 'connect' | undefined
  /** The status of such a call, once it is known. */
  grpcStatus: CodeName | undefined
  /** The operation id, or `native` or `unknown` in its place. */
  operation: string
  mode: ServedBy
  /** The v1-only part that the request uses, unless its whole operation is v1-only. */
  onlyV1: Operation | undefined
  /** True if a service was asked for this v1 request, or for one that it shares. Otherwise the tables alone gave the answer. */
  asked: boolean
  /** True if a service may have done a write for this request. */
  written: boolean
  /** The number of v2 calls. */
  calls: number
  /** The number of list pages that could not be translated as text. */
  parsedPages: number
  /** Query parameters that the operation does not know. */
  dropped: readonly string[]
  error: ApiError | undefined
  /** Reads the request again, body and all. Undefined if the proxy did not read its body. */
  read: (() => V1Request) | undefined
  /** Its span, if the request is traced. */
  span: RequestSpan | undefined
}

export function newRequestRecord(id: string): RequestRecord {
  return {
    id,
    started: performance.now(),
    protocol: undefined,
    grpcStatus: undefined,
    operation: 'unknown',
    mode: 'v2',
    onlyV1: undefined,
    asked: false,
    written: false,
    calls: 0,
    parsedPages: 0,
    dropped: [],
    error: undefined,
    read: undefined,
    span: undefined,
  }
}

/** Printable ASCII only: the id goes into logs and headers. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** The client's request id if it is usable, otherwise a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  if (typeof given === 'string' && REQUEST_ID.test(given)) return given
  last += 1
  return `${PROCESS}-${last}`
}

/** A random word for this process; a number follows it. */
const PROCESS = randomBytes(9).toString('base64url')
let last = 0

/** The meaning of a read's URL according to the tables. It was classified as v1's (`Target`). It holds nothing about the caller. */
export interface KnownRead {
  readonly kind: 'v1'
  /** Decoded. */
  readonly path: string
  readonly routed: Found
  /** What the tables read of it. */
  readonly request: V1Request
  /** Returns its first turn. Throws the ApiError with which the tables refuse it. */
  readonly first: () => Turn
  /** Query parameters that the operation does not know. */
  readonly unknown: readonly string[]
}

interface Asked {
  readonly method?: string | undefined
  readonly url?: string | undefined
}

/** The number of URLs that are kept, and the maximum length of one in characters. */
const KEPT = 1000
const LONGEST = 1000

/** Known reads by URL. Clients repeat the same requests. Reading a URL anew takes about a tenth of the work of a small request. */
export class KnownReads {
  readonly #known = new LRUCache<string, KnownRead>({ max: KEPT })

  find({ method, url = '' }: Asked): KnownRead | undefined {
    return method === 'GET' ? this.#known.get(url) : undefined
  }

  keep({ method, url = '' }: Asked, read: KnownRead): void {
    if (method === 'GET' && url.length <= LONGEST) this.#known.set(url, read)
  }

  /** Forgets all of them, because settings changed by which URLs are read. */
  forget(): void {
    this.#known.clear()
  }
}

/** Returns the name of a query parameter in a form that a log may hold. */
type NameForLog = (name: string) => string

/**
 * An unknown parameter may be anything, even a pasted key, and its form does not reveal that.
 * The log therefore names only parameters that some operation knows.
 */
export function createNameForLog(operations: readonly Operation[]): NameForLog {
  const names = new Set(operations.flatMap(({ params, ownParams }) => [...Object.keys(params), ...ownParams].flatMap(spellings)))
  return (name) => (names.has(name) ? name : '(no name)')
}

export interface CoreSettings extends TranslateSettings {
  readonly limits: TranslateSettings['limits'] & { readonly requestBytes: number }
}

interface CoreParts {
  readonly operations: readonly Operation[]
  readonly send: SendIn
  readonly modes: Sides
  /** Counts a finished call to v2. */
  readonly endCall: RequestMetrics['endCall']
  /** True if a v1 service also stands behind the proxy. */
  readonly hasV1: boolean
  readonly settings: CoreSettings
}

/** The parts that serve v1 requests, independent of the protocol. */
export interface Core extends CoreParts {
  readonly router: Router
  readonly onlyV1: OnlyV1
  readonly reads: KnownReads
  readonly nameForLog: NameForLog
}

export function createCore(parts: CoreParts): Core {
  const { operations, hasV1 } = parts
  return {
    ...parts,
    router: createRouter(operations),
    onlyV1: createOnlyV1(hasV1 ? operations : []),
    reads: new KnownReads(),
    nameForLog: createNameForLog(operations),
  }
}
