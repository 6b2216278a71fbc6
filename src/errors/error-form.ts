import type { ApiError, Detail } from './api-error.ts'
import { CODES, type CodeName, codeName } from './codes.ts'

/** A failed answer of v2. */
export interface V2Failure {
  readonly status: number
  readonly text: string
}

/** What a failed answer of v2 says. */
export interface Said {
  readonly code: CodeName
  readonly message: string
  readonly details: readonly Detail[]
  /** True if something before the service answered, which knows nothing about its resources. */
  readonly foreign: boolean
  /** True if the log should have the text that was read. */
  readonly isLogged?: true
}

/** An error with v1's field names. */
export interface ErrorOfV1 extends Pick<ApiError, 'code' | 'message' | 'details'> {
  /** The status that a gRPC gateway gives its code. */
  readonly http: number
}

/**
 * How an API writes its errors. An API that wraps each of them:
 *
 *     const errors: ErrorForm = {
 *       read: ({ status, text }) => wrappedIn(text, status),
 *       write: ({ code, http, message }) => ({ status: http, body: { error: { code: http, status: code, message } } }),
 *     }
 */
export interface ErrorForm {
  /** Reads a failed answer of v2. Undefined if it is none of its error bodies; its HTTP status then decides. */
  readonly read: (failure: V2Failure) => Said | undefined
  /** Writes an error as v1 does. */
  readonly write: (error: ErrorOfV1) => { readonly status: number; readonly body: unknown }
}

/**
 * The form of a gRPC gateway: the body is a google.rpc.Status, in both versions. An error of the service itself has an ErrorInfo. NOT_FOUND
 * remains only if the answer names the missing resource. Any other 404 means that v2 is not at the expected address, and v1 clients read
 * "not found" as "gone".
 */
export const STATUS_FORM: ErrorForm = {
  read({ status, text }) {
    const said = parseStatus(text)
    if (!said) return undefined
    const foreign = !said.details.some(({ '@type': type }) => type === ERROR_INFO)
    if (said.code !== 'NOT_FOUND') return { ...said, foreign }
    if (status === CODES.NOT_FOUND.http && !foreign && said.details.some(isResource)) return { ...said, foreign }
    return {
      code: 'UNAVAILABLE',
      message: `the v2 service answered HTTP ${status} without naming a missing resource`,
      details: [],
      foreign,
    }
  },
  write: ({ code, http, message, details }) => ({ status: http, body: { code: CODES[code].number, message, details } }),
}

/** Every error of the service itself has it. An error of a gateway has no details (specification §7). */
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo'

const RESOURCE_INFO = 'type.googleapis.com/google.rpc.ResourceInfo'

const isResource = ({ '@type': type }: Detail) => type === RESOURCE_INFO

function parseStatus(text: string) {
  try {
    const body = JSON.parse(text) as { code?: unknown; message?: unknown; details?: unknown } | null
    if (typeof body?.code !== 'number' || body.code === CODES.OK.number) return undefined
    const details = Array.isArray(body.details) ? body.details.filter(isDetail) : []
    return { code: codeName(body.code), message: typeof body.message === 'string' ? body.message : '', details }
  } catch {
    return undefined
  }
}

function isDetail(value: unknown): value is Detail {
  return typeof (value as Detail | null)?.['@type'] === 'string'
}
