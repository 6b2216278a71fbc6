import { isObject, type JsonObject } from '../../../tables/json.ts'
import type { RecordedRequest } from '../recorded-traffic.ts'
import { type LineParts, type ReadLine, requestFrom, requestLine } from './line-parts.ts'

/** The members of a line of JSON that are read. Each has the names that it may have, best first; a dot goes into an object. */
export interface JsonFields {
  readonly method?: readonly string[]
  /** The path with its query, or an absolute URL. */
  readonly path?: readonly string[]
  /** The query, if `path` lacks it: a text, or an object of parameters. */
  readonly query?: readonly string[]
  /** `GET /path HTTP/1.1`, in place of method and path. */
  readonly request?: readonly string[]
  readonly status?: readonly string[]
  readonly time?: readonly string[]
  readonly client?: readonly string[]
  readonly type?: readonly string[]
}

export const FIELD_NAMES = [
  'method',
  'path',
  'query',
  'request',
  'status',
  'time',
  'client',
  'type',
] as const satisfies (keyof JsonFields)[]

/** The access log of Traefik in JSON. */
export const TRAEFIK: JsonFields = {
  method: ['RequestMethod'],
  path: ['RequestPath'],
  status: ['DownstreamStatus', 'OriginStatus'],
  time: ['StartUTC', 'time'],
  client: ['ClientUsername', 'ClientHost', 'ClientAddr'],
  type: ['request_Content-Type'],
}

/** What the plugins file-log and http-log of Kong write. */
export const KONG: JsonFields = {
  method: ['request.method'],
  path: ['request.uri'],
  query: ['request.querystring'],
  status: ['response.status'],
  time: ['started_at'],
  client: ['consumer.username', 'consumer.custom_id', 'consumer.id', 'authenticated_entity.id', 'client_ip'],
  type: ['request.headers.content-type'],
}

/** Envoy's JSON under the names that Istio and Envoy Gateway give its values. */
export const ENVOY_JSON: JsonFields = {
  method: ['method', ':method'],
  path: ['x-envoy-original-path', 'x_envoy_original_path', 'x-envoy-origin-path', 'path', ':path'],
  status: ['response_code'],
  time: ['start_time'],
  client: ['x-forwarded-for', 'x_forwarded_for', 'downstream_remote_address'],
}

/**
 * Reads lines of JSON: an object each, or a list of them. `claims` names members of which a line must have one, so that the lines of other
 * programs are told apart.
 */
export function createReadJson(fields: JsonFields, claims: readonly string[] = []): ReadLine {
  return (line) => {
    const value = parsed(line)
    const objects = Array.isArray(value) ? value : [value]
    const requests = objects.map((one) => (isObject(one) && isClaimed(one, claims) ? requestOf(one, fields) : undefined))
    return requests.length > 0 && requests.every((one) => one !== undefined) ? requests : undefined
  }
}

function isClaimed(line: JsonObject, claims: readonly string[]): boolean {
  return claims.length === 0 || claims.some((name) => memberOf(line, name) !== undefined)
}

function requestOf(line: JsonObject, fields: JsonFields): RecordedRequest | undefined {
  const text = (name: keyof JsonFields) => fields[name]?.map((member) => textOf(memberOf(line, member))).find((one) => one && one !== '-')
  const split: Pick<LineParts, 'method' | 'target'> = requestLine(text('request') ?? '')
  const path = text('path') ?? split.target
  const query = fields.query?.map((member) => queryOf(memberOf(line, member))).find((one) => one !== '') ?? ''
  return requestFrom({
    method: text('method') ?? split.method,
    target: path === undefined || path.includes('?') || query === '' ? path : `${path}?${query}`,
    status: text('status'),
    time: text('time'),
    client: text('client'),
    type: text('type'),
  })
}

/** Returns the member of this name, or what the parts of the name between its dots lead to. */
function memberOf(line: JsonObject, name: string): unknown {
  if (Object.hasOwn(line, name)) return line[name]
  const dot = name.indexOf('.')
  if (dot < 0) return undefined
  const inner = memberOf(line, name.slice(0, dot))
  return isObject(inner) ? memberOf(inner, name.slice(dot + 1)) : undefined
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}

function queryOf(value: unknown): string {
  if (typeof value === 'string') return value.replace(/^\?/, '')
  if (!isObject(value)) return ''
  const pairs = Object.entries(value).flatMap(([name, given]) =>
    [given].flat().map((one): [string, string] => [name, one === true ? '' : String(one)]),
  )
  return new URLSearchParams(pairs).toString()
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
