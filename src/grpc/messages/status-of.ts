import { readFileSync } from 'node:fs'
import { type DescMessage, fromBinary, fromJson, type JsonValue, type Registry, toJson } from '@bufbuild/protobuf'
import { AnySchema } from '@bufbuild/protobuf/wkt'
import { ApiError, CODES, type CodeName, codeName, type Detail, namesMissing, type V2Failure } from '../../errors.ts'
import { type Answer, bytesOf } from '../../serve/answer.ts'
import { isObject } from '../../tables/json.ts'
import type { RpcVersion } from '../proto-files.ts'
import type { WireStatus } from '../wire/call.ts'
import { codeOfHttp } from '../wire/status.ts'

/** Details of v2 that v1 has in another package: name in v2 → name in v1. */
type DetailNames = Readonly<Record<string, string>>

let names: DetailNames | undefined

/** Returns the name that a version gives a detail of v2: v1 knows `chainguard.platform.iam.TermsNotAcceptedDetail`. */
function detailName(type: string, version: RpcVersion): string {
  if (version === 'v2') return type
  if (version === 'v2beta1') return type.replace('.v2.', '.v2beta1.')
  names ??= readNames()
  return Object.hasOwn(names, type) ? (names[type] ?? type) : type
}

function readNames(): DetailNames {
  return JSON.parse(readFileSync(new URL('../../../mappings/grpc/error-details.json', import.meta.url), 'utf8')) as DetailNames
}

const PREFIX = 'type.googleapis.com/'
const ERROR_INFO = 'google.rpc.ErrorInfo'

/** Returns the error that a status of v2 says, as REST would have said it. A detail of an unknown type is left out. */
export function errorOfStatus({ code, message, details }: WireStatus, registry: Registry, asksFor: V2Failure['asksFor']): ApiError {
  const known = details.flatMap(({ type, value }) => {
    const described = registry.getMessage(type)
    return described ? [detailOf(described, value, registry)] : []
  })
  const foreign = details.some(({ type }) => type === ERROR_INFO) ? {} : { foreign: true as const }
  const said = known.filter((one) => one !== undefined)
  if (code === CODES.NOT_FOUND.number && !namesMissing(said, asksFor)) {
    return new ApiError('UNAVAILABLE', 'the v2 service answered NOT_FOUND without naming a missing resource', {
      ...foreign,
      cause: message,
    })
  }
  return new ApiError(codeName(code), message, { details: said, ...foreign })
}

function detailOf(type: DescMessage, value: Uint8Array, registry: Registry): Detail | undefined {
  try {
    return { '@type': PREFIX + type.typeName, ...(toJson(type, fromBinary(type, value), { registry }) as object) }
  } catch {
    return undefined
  }
}

/** What knows the types of details, and the version whose names the client knows. */
interface StatusContext {
  readonly registry: Registry
  readonly version: RpcVersion
}

/** Returns an error as a status. */
export function statusOfError({ code, message, details }: ApiError, context: StatusContext): WireStatus {
  return statusFrom(code, message, details, context)
}

/**
 * Returns an answer of status 400 or more as a status. Its body is a google.rpc.Status, with its code as a number or by name. Anything else
 * comes from something before the service, and only its HTTP status says something.
 */
export async function statusOfAnswer(answer: Answer, context: StatusContext): Promise<WireStatus> {
  const body = 'body' in answer ? answer.body : parsed(await textOf(answer))
  const code = isObject(body) ? codeOf(body.code) : undefined
  if (!isObject(body) || code === undefined) {
    const { status } = answer
    return statusFrom(
      codeOfHttp('rest', status) ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL'),
      `the service answered HTTP ${status} without an error body`,
      [],
      context,
    )
  }
  const details = Array.isArray(body.details) ? body.details.filter(isDetail) : []
  return statusFrom(code, typeof body.message === 'string' ? body.message : '', details, context)
}

/** Returns the code that a number or a name means; undefined for OK and for anything else. */
function codeOf(code: unknown): CodeName | undefined {
  const name = typeof code === 'string' && Object.hasOwn(CODES, code) ? (code as CodeName) : codeName(code)
  return name === 'OK' || (name === 'UNKNOWN' && code !== 'UNKNOWN' && code !== CODES.UNKNOWN.number) ? undefined : name
}

function isDetail(value: unknown): value is Detail {
  return isObject(value) && typeof value['@type'] === 'string'
}

/** Bytes of an error that are read. */
const MOST = 64 * 1024

async function textOf(answer: Exclude<Answer, { readonly body: unknown }>): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of 'stream' in answer ? answer.stream : bytesOf(answer.text)) {
    size += piece.length
    if (size > MOST) break
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Bytes of all details. They travel in headers, and C-core refuses more than 8 KiB of them. A detail is sent whole or not at all. */
const DETAILS = 3000

function statusFrom(code: CodeName, message: string, details: readonly Detail[], context: StatusContext): WireStatus {
  let room = DETAILS
  const fitting = details
    .flatMap((detail) => encoded(detail, context) ?? [])
    .filter(({ type, value }) => {
      const size = type.length + value.length
      const fits = size <= room
      if (fits) room -= size
      return fits
    })
  return { code: CODES[code].number, message, details: fitting }
}

/** Returns a detail as bytes; undefined if its type or its form is not known. */
function encoded({ '@type': url, ...members }: Detail, { registry, version }: StatusContext): WireStatus['details'][number] | undefined {
  const type = detailName(url.slice(url.lastIndexOf('/') + 1), version)
  try {
    const json = { '@type': `type.googleapis.com/${type}`, ...members } as JsonValue
    return { type, value: fromJson(AnySchema, json, { registry, ignoreUnknownFields: true }).value }
  } catch {
    return undefined
  }
}
