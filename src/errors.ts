/**
 * The one error of Crosswalk, and its two policies: what an answer of v2 becomes (`fromV2`), and how an error is said to a v1 client (`toV1`).
 *
 * In order: the codes of v1 with their statuses; `ApiError`; what asks a client to try again; what a mistake of configuration is;
 * the form of errors on the wire; from v2; to v1. It knows no request and no table, and it never shows a cause to a client.
 */
import { isWritable, SINGLE_VALUED } from './heads.ts'

/** The 17 canonical codes of google.rpc and the HTTP status that a gRPC gateway gives each (facts §15, semantics §4.2). */
export const CODES = {
  OK: { number: 0, http: 200 },
  CANCELLED: { number: 1, http: 499 },
  UNKNOWN: { number: 2, http: 500 },
  INVALID_ARGUMENT: { number: 3, http: 400 },
  DEADLINE_EXCEEDED: { number: 4, http: 504 },
  NOT_FOUND: { number: 5, http: 404 },
  ALREADY_EXISTS: { number: 6, http: 409 },
  PERMISSION_DENIED: { number: 7, http: 403 },
  RESOURCE_EXHAUSTED: { number: 8, http: 429 },
  FAILED_PRECONDITION: { number: 9, http: 400 },
  ABORTED: { number: 10, http: 409 },
  OUT_OF_RANGE: { number: 11, http: 400 },
  UNIMPLEMENTED: { number: 12, http: 501 },
  INTERNAL: { number: 13, http: 500 },
  UNAVAILABLE: { number: 14, http: 503 },
  DATA_LOSS: { number: 15, http: 500 },
  UNAUTHENTICATED: { number: 16, http: 401 },
} as const

export type CodeName = keyof typeof CODES

const byNumber = new Map<number, CodeName>(Object.entries(CODES).map(([name, { number }]) => [number, name as CodeName]))

/** Returns the name of a google.rpc code number; UNKNOWN for any other number. */
export function codeName(number: unknown): CodeName {
  return (typeof number === 'number' && byNumber.get(number)) || 'UNKNOWN'
}

/** One typed entry of a google.rpc.Status; `@type` names its type (specification §7). */
export interface Detail {
  readonly '@type': string
  readonly [member: string]: unknown
}

export interface FieldViolation {
  readonly field: string
  readonly description: string
}

interface ErrorOptions {
  readonly details?: readonly Detail[]
  /** Answer headers that belong to the error: `retry-after`, `www-authenticate`. */
  readonly headers?: Readonly<Record<string, string>>
  /** The real cause. It is logged and never sent. */
  readonly cause?: unknown
  /** True if a gateway or balancer before the service answered. It knows nothing about the service's resources. */
  readonly foreign?: true
  /** True if no byte of the call reached a service, so that nothing was done. */
  readonly unsent?: true
  /** True if another call of the same request had its answer before. */
  readonly late?: true
  /** The HTTP status as which the log and metrics count it: its client caused it, although gRPC gives it a code of failures. */
  readonly http?: number
}

/** Equal in every copy of this module. */
const IS_API_ERROR: unique symbol = Symbol.for('crosswalk.ApiError')

/**
 * The one error of the project: a google.rpc.Status. `message` and `details` reach the client, `cause` only the log.
 * The program is a bundle, and tables of somebody else import modules of the package: `instanceof` knows the errors of either.
 */
export class ApiError extends Error {
  readonly code: CodeName
  readonly details: readonly Detail[]
  readonly headers: Readonly<Record<string, string>>
  readonly foreign: boolean
  readonly unsent: boolean
  readonly late: boolean
  readonly http: number

  constructor(code: CodeName, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.name = 'ApiError'
    this.code = code
    this.details = options.details ?? []
    this.headers = options.headers ?? {}
    this.foreign = options.foreign === true
    this.unsent = options.unsent === true
    this.late = options.late === true
    this.http = options.http ?? CODES[code].http
  }

  get [IS_API_ERROR](): true {
    return true
  }

  static override [Symbol.hasInstance](value: unknown): value is ApiError {
    return typeof value === 'object' && value !== null && IS_API_ERROR in value
  }
}

/** The same error after v2 had answered another call of the request: NOT_FOUND then means no longer that there is nothing. */
export function lateError(thrown: unknown): unknown {
  if (!(thrown instanceof ApiError) || thrown.code !== 'NOT_FOUND') return thrown
  const { code, message, details, headers, cause, foreign } = thrown
  return new ApiError(code, message, { details, headers, cause, late: true, ...(foreign && { foreign: true }) })
}

/**
 * True if the service itself answered with one of these codes. Plans that replace an error ask this.
 * The 403 of a gateway says nothing about a resource and is passed on unchanged.
 */
export function isSaid(error: unknown, ...codes: readonly CodeName[]): error is ApiError {
  return error instanceof ApiError && !error.foreign && codes.includes(error.code)
}

const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest'

/** The maximum number of violations in one error. A small body can hold millions, and each costs work and a line of the answer. */
export const MOST_VIOLATIONS = 100

/** Code 3, HTTP 400: one error for all failing fields, worded by specification §7 rule 1. Callers pass at most `MOST_VIOLATIONS`. */
export function invalidArgument(...violations: readonly FieldViolation[]): ApiError {
  const text = violations.map(({ field, description }) => `${field}: ${description}`).join('; ')
  return new ApiError('INVALID_ARGUMENT', `Invalid argument: ${text}`, { details: [{ '@type': BAD_REQUEST, fieldViolations: violations }] })
}

/** Returns the field violations of a BadRequest detail in order; no other detail has any. */
export function fieldViolations(detail: Detail): readonly FieldViolation[] {
  return detail['@type'] === BAD_REQUEST && Array.isArray(detail.fieldViolations) ? detail.fieldViolations.filter(isViolation) : []
}

function isViolation(value: unknown): value is FieldViolation {
  const violation = value as Partial<FieldViolation> | null
  return typeof violation?.field === 'string' && typeof violation.description === 'string'
}

/** Seconds before a retry if no better value is known. */
export const RETRY_AFTER = 1

/** Refuses a request that exceeds a limit at the moment; `message` names the limit. */
export function askAgain(
  code: 'UNAVAILABLE' | 'RESOURCE_EXHAUSTED',
  message: string,
  { seconds = RETRY_AFTER, headers = {} }: { readonly seconds?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): ApiError {
  return new ApiError(code, `${message}; ask again later`, { headers: { ...headers, 'retry-after': String(seconds) } })
}

/** One detail of a google.rpc.Status, encoded. */
interface EncodedDetail {
  readonly type: string
  readonly value: Uint8Array
}

export const RETRY_INFO = 'google.rpc.RetryInfo'

/** The tags of `retry_delay` in google.rpc.RetryInfo and of `seconds` in google.protobuf.Duration. */
const RETRY_DELAY = 0x0a
const SECONDS = 0x08

/** The most seconds that are told. Clients wait no longer anyway. */
const MOST = 86_400

/**
 * Returns a `retry-after` in whole seconds as the detail by which gRPC says it; none for a date or anything else.
 * Written by hand: a refused call must not load the descriptors.
 */
export function retryInfo(retryAfter: unknown): readonly EncodedDetail[] {
  if (typeof retryAfter !== 'string' || !/^\d{1,6}$/.test(retryAfter)) return []
  const duration = [SECONDS, ...varint(Math.min(Number(retryAfter), MOST))]
  return [{ type: RETRY_INFO, value: Buffer.from([RETRY_DELAY, duration.length, ...duration]) }]
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

/** Returns an error that ends a command with exit code 2 and the sentence: what the command was given makes no sense. */
export function misuse(sentence: string): Error {
  return Object.assign(new Error(sentence), { isMisuse: true })
}

/** Tells whether a command was given what makes no sense. */
export function isMisuse(error: unknown): error is Error {
  return error instanceof Error && 'isMisuse' in error && error.isMisuse === true
}

/** Why the system refused, by its code, and what a person can do where that is not plain. `at` is the file or the address, if it is known. */
const REASONS: Readonly<Record<string, (at: string) => string>> = {
  ENOENT: (at) => `there is no such file or folder${at}`,
  EACCES: (at) => `this user may not open it${at}; change its rights, or run as another user`,
  EPERM: (at) => `this user may not do that${at}; change its rights, or run as another user`,
  EISDIR: (at) => `it is a folder${at}; name a file`,
  ENOTDIR: (at) => `a folder of its path is a file${at}`,
  ENOSPC: (at) => `the disk is full${at}`,
  EROFS: (at) => `its file system is read-only${at}`,
  EMFILE: (at) => `this process has too many open files${at}; raise LimitNOFILE or ulimit -n`,
  ENAMETOOLONG: (at) => `its name is too long${at}`,
  ELOOP: (at) => `its links lead in a circle${at}`,
  ECONNREFUSED: (at) => `nothing listens${at}`,
  EPIPE: (at) => `the connection was broken${at}`,
  ECONNRESET: (at) => `the connection was broken${at}`,
  ETIMEDOUT: (at) => `nothing answered in time${at}`,
  EHOSTUNREACH: (at) => `no way leads there${at}`,
  ENETUNREACH: (at) => `no way leads there${at}`,
  ENOTFOUND: (at) => `no machine has that name${at}`,
  EAI_AGAIN: (at) => `the name cannot be looked up now${at}`,
  ERR_SSL_WRONG_VERSION_NUMBER: () => 'it speaks plain text there: give the address as http://, or another port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: () => 'it speaks plain text there: give the address as http://, or another port',
  ERR_SSL_UNSUPPORTED_PROTOCOL: () => 'it speaks only versions of TLS that Node refuses',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: () => 'it speaks only versions of TLS that Node refuses',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: () => `it asks for a certificate${OWN_CERTIFICATE}`,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: () => `it ends the handshake of TLS; perhaps it asks for a certificate${OWN_CERTIFICATE}`,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: () => `it does not trust the authority of the certificate that it is shown${OWN_CERTIFICATE}`,
  DEPTH_ZERO_SELF_SIGNED_CERT: () => `self-signed certificate${AUTHORITY}`,
  SELF_SIGNED_CERT_IN_CHAIN: () => `its certificate is of an authority that is not trusted here${AUTHORITY}`,
  UNABLE_TO_GET_ISSUER_CERT: () => `its certificate is of an authority that is not trusted here${AUTHORITY}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: () => `its certificate is of an authority that is not trusted here${AUTHORITY}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: () => `its certificate is of an authority that is not trusted here, or it sends no chain${AUTHORITY}`,
  CERT_HAS_EXPIRED: () => 'its certificate has expired',
  CERT_NOT_YET_VALID: () => 'its certificate is not valid yet; look at the clock of this machine too',
  ERR_TLS_CERT_ALTNAME_INVALID: () => 'its certificate is for another name; give the address by a name that the certificate has',
  ERR_OSSL_UNSUPPORTED: () => 'one of them is not in PEM, or is damaged',
  ERR_OSSL_PEM_NO_START_LINE: () => 'one of them does not begin as PEM does',
  ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED: () => ENCRYPTED,
  ERR_MISSING_PASSPHRASE: () => ENCRYPTED,
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: () => 'they do not belong together',
}

const ENCRYPTED = 'the key asks for a passphrase, and nobody can give it; write it without one: openssl pkey -in KEY -out PLAIN'
const AUTHORITY = '; name its authority in NODE_EXTRA_CA_CERTS, or in upstream.v2Ca or upstream.v1Ca if it is a service'
const OWN_CERTIFICATE = '; if it is a service, look at upstream.v2Cert and upstream.v2Key, or those of v1'

type SystemError = NodeJS.ErrnoException & { readonly address?: string; readonly port?: number; readonly hostname?: string }

/** Returns the end of a sentence about an error of the system, without its code; the message of any other error. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code = '', path, address, port, hostname } = error as SystemError
  const reason = REASONS[code] ?? REASONS[codeIn(error.message)]
  if (!reason) return error.message || code || error.name
  const host = address?.includes(':') ? `[${address}]` : address
  const at = path ?? hostname ?? (host === undefined || port === undefined ? host : `${host}:${port}`)
  return reason(at === undefined ? '' : ` (${at})`)
}

/**
 * Libraries put the message of the system into one of their own, without its code: `Last error: connect ECONNREFUSED 127.0.0.1:6379`.
 * OpenSSL gives no code where a write failed: `write EPROTO 80…:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:…`.
 */
function codeIn(message: string): string {
  const ofTls = /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1]
  if (ofTls !== undefined) return `ERR_SSL_${ofTls.toUpperCase().replaceAll(' ', '_')}`
  return /\bE[A-Z_]{3,}\b/.exec(message)?.[0] ?? ''
}

/** True for an error of the system that `systemReason` explains. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  if (!(error instanceof Error)) return false
  const { code = '', message } = error as NodeJS.ErrnoException
  return Object.hasOwn(REASONS, code) || Object.hasOwn(REASONS, codeIn(message))
}

/** Names the file in an error of the system: one of an open file, such as a folder that is read, does not name it. */
export function named(error: unknown, path: string): unknown {
  if (isSystemError(error)) error.path ??= path
  return error
}

/** A failed answer of v2. */
export interface V2Failure {
  readonly status: number
  readonly text: string
  /** Whether the call asked for a resource of this name; any name counts as asked for where it is absent. */
  readonly asksFor?: ((name: string) => boolean) | undefined
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
  /** Writes an error as v1 does, with its content type if that is not `application/json`. */
  readonly write: (error: ErrorOfV1) => { readonly status: number; readonly body: unknown; readonly type?: string }
}

/**
 * The form of a gRPC gateway: the body is a google.rpc.Status, in both versions. An error of the service itself has an ErrorInfo. NOT_FOUND
 * remains only if the answer names the missing resource. Any other 404 means that v2 is not at the expected address, and v1 clients read
 * "not found" as "gone".
 */
export const STATUS_FORM: ErrorForm = {
  read({ status, text, asksFor }) {
    const said = parseStatus(text)
    if (!said) return undefined
    const foreign = !said.details.some(isErrorInfo)
    if (said.code !== 'NOT_FOUND') return { ...said, foreign }
    if (status === CODES.NOT_FOUND.http && namesMissing(said.details, asksFor)) return { ...said, foreign }
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

const isErrorInfo = ({ '@type': type }: Detail) => type === ERROR_INFO

/**
 * True if the service itself says that it does not find what a call asked for: by ErrorInfo, and by a ResourceInfo with its type and its name.
 * That is what NOT_FOUND means over REST and over gRPC. Any other one comes from something before the service.
 */
export function namesMissing(details: readonly Detail[], asksFor: V2Failure['asksFor'] = isName): boolean {
  const isAsked = (detail: Detail) => {
    const { '@type': type, resourceType, resourceName = '' } = detail as Detail & { resourceType?: unknown; resourceName?: unknown }
    if (type !== RESOURCE_INFO || typeof resourceType !== 'string' || resourceType === '') return false
    return typeof resourceName === 'string' && asksFor(resourceName)
  }
  return details.some(isErrorInfo) && details.some(isAsked)
}

const isName = (name: string) => name !== ''

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

interface Failed extends V2Failure {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** The headers of a failure that clients act on. All others are dropped. */
const KEPT_HEADERS = ['retry-after', 'www-authenticate'] as const

/**
 * Turns a failed v2 answer into an ApiError: what its body says in the API's form. Any other body (a balancer's HTML page, a truncated
 * body) is INTERNAL, unless its HTTP status has a plain meaning.
 */
export function fromV2({ status, headers, text, asksFor }: Failed, { read }: Pick<ErrorForm, 'read'> = STATUS_FORM): ApiError {
  const kept: Record<string, string> = {}
  for (const name of KEPT_HEADERS) {
    const values = [headers[name] ?? []].flat()
    // Several challenges are one list (RFC 9110 §11.6.1).
    const value = SINGLE_VALUED.has(name) ? values[0] : values.join(', ')
    if (value && isWritable(value)) kept[name] = value
  }
  const said = read({ status, text, asksFor })
  const options = { headers: kept, cause: text.slice(0, 500), ...(said?.foreign !== false && { foreign: true as const }) }
  if (!said) {
    return new ApiError(PLAIN_STATUS[status] ?? 'INTERNAL', `the v2 service answered HTTP ${status} without an error body`, options)
  }
  const { code, message, details, isLogged } = said
  return new ApiError(code, message, { ...options, details, ...(!isLogged && { cause: undefined }) })
}

/** Statuses with the same meaning in every body: permission, size, rate and outage. */
const PLAIN_STATUS: Readonly<Record<number, keyof typeof CODES>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNAVAILABLE',
  413: 'INVALID_ARGUMENT',
  414: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  431: 'INVALID_ARGUMENT',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

const CANNOT_BE_PASSED_ON = 'service sent an answer that cannot be passed on'

/** An answer whose head cannot be relayed to a client; `problem` names the reason (`relayable`). It is logged and never sent. */
export function unrelayable(service: 'v1' | 'v2', problem: string): ApiError {
  return new ApiError('INTERNAL', `the ${service} ${CANNOT_BE_PASSED_ON}`, { cause: problem })
}

export function isUnrelayable({ message }: ApiError): boolean {
  return message.endsWith(CANNOT_BE_PASSED_ON)
}

/** A 2xx v2 answer that is not a JSON object: code 13, HTTP 500 (facts §15). */
export function brokenAnswer(cause: unknown): ApiError {
  return new ApiError('INTERNAL', 'the v2 service sent an answer that is not JSON', { cause })
}

/** A 2xx v2 answer without a required member: a gateway answered in v2's place. Its member names are logged. */
export function notAnswer(body: object): ApiError {
  const members = Object.keys(body).slice(0, 20).join(', ')
  return new ApiError('INTERNAL', 'the v2 service sent an answer without what it must hold', { cause: `members: ${members || 'none'}` })
}

/** A 2xx v2 answer with a member of a wrong type, by its path in the answer. */
export function wrongMember(member: string, must: string): ApiError {
  return new ApiError('INTERNAL', `the v2 service sent a wrong answer: ${member} ${must}`)
}

/** Error codes of Node and undici for an expired time limit. */
const TIMEOUTS = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

/** Error codes of Node and undici for a connection that ended under a request. */
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Maps a call of a service without an answer. Time-out: 504; client gone: 499; everything else (refused, reset, DNS, TLS): 503. */
export function fromTransport(error: unknown, service: 'v1' | 'v2' = 'v2'): ApiError {
  if (error instanceof ApiError) return error
  const { code, name } = error as { code?: string; name?: string }
  const options = { cause: error, ...(isUnsent(error) && { unsent: true as const }) }
  if (name === 'TimeoutError' || TIMEOUTS.has(code ?? '')) {
    return new ApiError('DEADLINE_EXCEEDED', `the ${service} service did not answer in time`, options)
  }
  if (name === 'AbortError') return new ApiError('CANCELLED', 'the client went away', options)
  const isBroken = BROKEN.has(code ?? '') && !options.unsent
  const message = isBroken ? `the connection to the ${service} service broke` : `the ${service} service cannot be reached`
  return new ApiError('UNAVAILABLE', message, options)
}

/** True if the connection failed before anything could be sent on it: its name is unknown, or nothing answers at its address. */
function isUnsent(error: unknown): boolean {
  const { code, syscall, errors } = error as { code?: string; syscall?: string; errors?: readonly unknown[] }
  return code === 'UND_ERR_CONNECT_TIMEOUT' || syscall === 'connect' || syscall === 'getaddrinfo' || errors?.every(isUnsent) === true
}

/** What a v1 client gets for a missing resource (facts §14, specification §7 rule 3): an empty answer, an error, or success. */
export type Missing = 'empty' | 'error' | 'done'

export interface V1Manners {
  readonly missing: Missing
  /** Of a success; 200 unless it is given. */
  readonly status?: number | undefined
  /** Its media type; `application/json` unless it is given. */
  readonly type?: string | undefined
  /** The answer of a read that finds nothing, in the client's dialect. */
  readonly empty: unknown
  /** v2 field path → v1 field name, for the violations of a BadRequest. */
  readonly fieldName: (v2Path: string) => string
}

export interface V1Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

type Rule = 'error' | 'nothing'

/** The whole policy: how each code is answered for each value of `missing`. Codes that are not listed are always errors. */
const POLICY: Partial<Record<CodeName, Record<Missing, Rule>>> = {
  NOT_FOUND: { empty: 'nothing', done: 'nothing', error: 'error' },
}

/** What v2 began to show and then did not find is not empty. */
const GONE_MEANWHILE = new ApiError('ABORTED', 'the v2 service no longer finds what it has shown a part of; ask again')

/**
 * Turns an ApiError into v1's answer. Where v1 had no error, that is the empty answer of a success. Elsewhere it is the gateway's HTTP
 * status and `{code, message, details}`. `notFound: 'error'` (setting `errors.notFound`) passes every NOT_FOUND on as 404.
 */
export function toV1(
  error: ApiError,
  manners: V1Manners,
  notFound: 'empty' | 'error' = 'empty',
  { write }: Pick<ErrorForm, 'write'> = STATUS_FORM,
): V1Error {
  const rule = notFound === 'error' ? 'error' : (POLICY[error.code]?.[manners.missing] ?? 'error')
  if (rule === 'nothing' && manners.missing === 'empty' && error.late) return toV1(GONE_MEANWHILE, manners, notFound, { write })
  if (rule === 'nothing') {
    const { status = 200, type, missing, empty } = manners
    return { status, headers: type ? { 'content-type': type } : {}, body: missing === 'done' ? {} : empty }
  }
  return written(error, { write }, renamed(error, manners.fieldName))
}

/** An error in v1's form, with its own message and details unless others are given. */
export function written(
  error: ApiError,
  { write }: Pick<ErrorForm, 'write'> = STATUS_FORM,
  { message, details }: Pick<ErrorOfV1, 'message' | 'details'> = error,
): V1Error {
  const { type, ...answer } = write({ code: error.code, http: error.http, message, details })
  return { ...answer, headers: { ...error.headers, ...(type !== undefined && { 'content-type': type }) } }
}

/** The same error with v1 field names, in the violations and where the message repeats them. */
function renamed(error: ApiError, fieldName: V1Manners['fieldName']): { message: string; details: readonly Detail[] } {
  const fields: Renamed[] = []
  const details = error.details.map((detail) => {
    const violations = fieldViolations(detail)
    if (violations.length === 0) return detail
    const inV1 = violations.map((violation) => ({ ...violation, field: fieldName(violation.field) }))
    violations.forEach((violation, at) => {
      fields.push({ ...violation, inV1: inV1[at]?.field ?? violation.field })
    })
    return { ...detail, fieldViolations: inV1 }
  })
  return { message: renamedIn(error.message, fields), details }
}

interface Renamed extends FieldViolation {
  readonly inV1: string
}

/** A message repeats its violations in order. One pass over the text therefore finds them all. */
function renamedIn(message: string, fields: readonly Renamed[]): string {
  const pieces: string[] = []
  let at = 0
  for (const { field, description, inV1 } of fields.slice(0, MOST_VIOLATIONS)) {
    const found = message.indexOf(`${field}: ${description}`, at)
    if (found < 0) continue
    pieces.push(message.slice(at, found), inV1)
    at = found + field.length
  }
  return pieces.join('') + message.slice(at)
}

/** Turns any exception into an ApiError. An internal failure becomes INTERNAL and keeps its cause for the log. */
export function asApiError(thrown: unknown): ApiError {
  return thrown instanceof ApiError ? thrown : new ApiError('INTERNAL', 'internal error', { cause: thrown })
}
