import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ApiError, CodeName } from '../errors.ts'
import type { Operation, V1Request } from '../tables/operation.ts'
import type { RequestSpan } from '../tracing/tracing.ts'
import type { Mode } from './sides.ts'

/** How a request is answered: in a mode, from v1 because v2 failed, or directly by v2 without translation. */
export type ServedBy = Mode | 'fallback' | 'native'

/** The record of one request while it is served. It is read once, at the end. */
export interface RequestRecord {
  readonly id: string
  /** The protocol of a call of gRPC services; undefined for a request of REST. */
  protocol: 'grpc' | 'grpc-web' | 'connect' | undefined
  /** The status of such a call, once it is known. */
  grpcStatus: CodeName | undefined
  /** The operation id, or `native` or `unknown` in its place. */
  operation: string
  mode: ServedBy
  /** The v1-only part that the request uses, unless its whole operation is v1-only. */
  onlyV1: Operation | undefined
  /** True if a service was asked, for this request or for one that it shares. Otherwise the tables alone gave the answer. */
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
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}

/** A random word for this process; a number follows it. */
const PROCESS = randomBytes(9).toString('base64url')
let last = 0

function newId(): string {
  last += 1
  return `${PROCESS}-${last}`
}
