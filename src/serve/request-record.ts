import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { ApiError } from '../errors/api-error.ts'
import type { Mode } from '../modes/choose/mode.ts'
import type { Operation } from '../tables/operations/operation.ts'
import type { RequestSpan } from '../tracing/tracing.ts'

/** How a request is answered: in a mode, from v1 because v2 failed, or by v2 itself without a translation. */
export type ServedBy = Mode | 'fallback' | 'native'

/** What is learnt about one request while it is served; read once, when it is over. */
export interface Exchange {
  readonly id: string
  /** Operation id, or what stands in its place: `native`, `unknown`. */
  operation: string
  mode: ServedBy
  /** What of v1 it asks for that v2 lacks, where that is not its whole operation. */
  onlyV1: Operation | undefined
  /** A service was asked, or had been: the answer is not the tables' alone. */
  asked: boolean
  /** v2 calls made. */
  calls: number
  /** Pages of lists that could not be turned into v1 as text. */
  parsedPages: number
  /** Query parameters that the operation does not know. */
  dropped: readonly string[]
  error: ApiError | undefined
  /** Its span, when it is traced. */
  span: RequestSpan | undefined
}

export function newExchange(id: string): Exchange {
  return {
    id,
    operation: 'unknown',
    mode: 'v2',
    onlyV1: undefined,
    asked: false,
    calls: 0,
    parsedPages: 0,
    dropped: [],
    error: undefined,
    span: undefined,
  }
}

/** Printable ASCII only: the id goes into logs and headers. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/

/** The client's request id where it can be used, else a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}

/** One word for the process, drawn by lot, and a number. */
const PROCESS = randomBytes(9).toString('base64url')
let last = 0

function newId(): string {
  last += 1
  return `${PROCESS}-${last}`
}
