import { z } from 'zod'
import { entryOf } from '../../migrate/records/read-entry.ts'
import type { Entry } from '../../migrate/records/record.ts'
import { identify } from '../../serve/request.ts'
import { FORM } from '../../serve/route.ts'
import { suggestion } from '../../tables/check.ts'
import { asText, isObject, type JsonObject } from '../../tables/json.ts'
import type { Counted, Format, Item, RecordedRequest } from './traffic.ts'

const header = z.object({ name: z.string(), value: z.string() })

/** A field of a form. Some archives write fields instead of the body's text. */
const field = z.object({ name: z.string(), value: z.string().default('') })

/** The parts of an entry that are read. Cookies, other headers and the contents of answers are ignored. */
const entry = z.object({
  startedDateTime: z.string().optional(),
  request: z.object({
    method: z.string(),
    url: z.string(),
    headers: z.array(header).default([]),
    postData: z.object({ text: z.string().optional(), params: z.array(field).optional() }).optional(),
  }),
  response: z
    .object({ status: z.number().optional().catch(undefined) })
    .optional()
    .catch(undefined),
})

const archive = z.object({ log: z.object({ entries: z.array(z.unknown()) }) })

/**
 * Reads the requests of an HTTP archive (HAR 1.2). It ignores their hosts, because v1's paths are the same at every address.
 * It keeps only the hash of a credential, which names the client as records do.
 */
export function readHar(text: string): { readonly items: readonly RecordedRequest[]; readonly unreadable: number } {
  const { log } = archive.parse(JSON.parse(text))
  const items = log.entries.flatMap(sentOf)
  return { items, unreadable: log.entries.length - items.length }
}

function sentOf(value: unknown): readonly RecordedRequest[] {
  const read = entry.safeParse(value)
  if (!read.success || !URL.canParse(read.data.request.url)) return []
  const { startedDateTime, request, response } = read.data
  const url = new URL(request.url)
  const at = Date.parse(startedDateTime ?? '')
  const headerOf = (wanted: string) => request.headers.find(({ name }) => name.toLowerCase() === wanted)?.value
  const [type, override] = [headerOf('content-type'), headerOf('x-http-method-override')]
  const body = request.postData && bodyOf(request.postData)
  return [
    {
      method: request.method.toUpperCase(),
      url: url.pathname + url.search,
      headers: {
        ...(type !== undefined && { 'content-type': type }),
        ...(override !== undefined && { 'x-http-method-override': override }),
      },
      client: identify(headerOf('authorization')).caller,
      ...(!Number.isNaN(at) && { at }),
      ...(body !== undefined && { body }),
      // Archives of requests without an answer have the status 0.
      ...(response?.status && { status: response.status }),
    },
  ]
}

function bodyOf({ text, params }: { readonly text?: string | undefined; readonly params?: readonly z.infer<typeof field>[] | undefined }) {
  if (text || !params?.length) return text
  return new URLSearchParams(params.map(({ name, value }): [string, string] => [name, value])).toString()
}

/** Reads a line: its requests, none for a line about no request, or undefined for a line that is not in the format. */
type ReadLine = (line: string) => readonly Item[] | undefined

/** What a line of a log says about one request, as it stands there. */
interface LineParts {
  readonly method?: string | undefined
  /** A path with its query, or an absolute URL. */
  readonly target?: string | undefined
  readonly status?: string | undefined
  /** `10/Oct/2026:13:55:36 +0200`, RFC 3339, or seconds, milliseconds, microseconds or nanoseconds since 1970. */
  readonly time?: string | undefined
  /** A user, an address (perhaps with a port, or the first of several), or a credential, of which only the hash is kept. */
  readonly client?: string | undefined
  /** The content type of the body, if the log has it. */
  readonly type?: string | undefined
}

/** Returns the request, or undefined if method or target are missing or are none. */
function requestFrom({ method = '', target = '', status, time, client, type }: LineParts): RecordedRequest | undefined {
  const url = urlOf(target)
  if (url === undefined || !/^[A-Z]+$/.test(method)) return undefined
  const [at, code, who] = [timeOf(time), statusOf(status), clientOf(client)]
  // Without headers, a POST that v1 accepted where it only has a GET was a form.
  const inferred = method === 'POST' && code !== undefined && code >= 200 && code < 300 ? FORM : undefined
  const content = isGiven(type) ? type : inferred
  return {
    method,
    url,
    headers: content === undefined ? {} : { 'content-type': content },
    ...(who !== undefined && { client: who }),
    ...(code !== undefined && { status: code }),
    ...(at !== undefined && { at }),
  }
}

/** Splits `GET /path HTTP/1.1`. The protocol may be missing. */
function requestLine(text: string): Pick<LineParts, 'method' | 'target'> {
  const [method, target, ...rest] = text.split(' ')
  return rest.length > 1 ? {} : { method, target }
}

function isGiven(text: string | undefined): text is string {
  return text !== undefined && text !== '' && text !== '-'
}

/** Returns the path and the query of a path or of an absolute URL. */
function urlOf(target: string): string | undefined {
  if (target.startsWith('/')) return target
  if (!URL.canParse(target)) return undefined
  const { pathname, search } = new URL(target)
  return pathname + search
}

/** Proxies write 0 or - if no answer began. */
function statusOf(text: string | undefined): number | undefined {
  return text !== undefined && /^[1-9]\d\d$/.test(text) ? Number(text) : undefined
}

const WITH_PORT = /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\]):\d+$/i
const CREDENTIAL = /^(?:bearer|basic) /i

function clientOf(text: string | undefined): string | undefined {
  if (!isGiven(text)) return undefined
  if (CREDENTIAL.test(text)) return identify(text).caller
  const [first = ''] = text.split(',')
  return first.trim().replace(WITH_PORT, '$1')
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const OF_SERVERS = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/
const NUMBER = /^\d{9,19}(?:\.\d+)?$/

/** Returns milliseconds since 1970. */
function timeOf(text: string | undefined): number | undefined {
  if (!isGiven(text)) return undefined
  if (NUMBER.test(text)) return sinceEpoch(Number(text))
  const [, day, month = '', year, clock, hours, minutes] = OF_SERVERS.exec(text) ?? []
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
  const at = Date.parse(day === undefined ? text : `${year}-${number}-${day}T${clock}${hours}:${minutes}`)
  return Number.isNaN(at) ? undefined : at
}

/** Milliseconds of one unit, from the smallest number that is meant in it. */
const UNITS = [
  [1e17, 1e-6],
  [1e14, 1e-3],
  [1e11, 1],
  [0, 1000],
] as const

/** The size of a number tells its unit: seconds have ten digits today, milliseconds thirteen, and so on. */
function sinceEpoch(value: number): number {
  const [, ms] = UNITS.find(([least]) => value >= least) ?? UNITS[3]
  return Math.round(value * ms)
}

/**
 * The members of a line of JSON that are read. `path` has its query, or is an absolute URL; `query`, if `path` lacks it, is a text or an
 * object of parameters. `request` is `GET /path HTTP/1.1`, in place of method and path.
 */
const FIELD_NAMES = ['method', 'path', 'query', 'request', 'status', 'time', 'client', 'type'] as const

/** The names that each of them may have, best first; a dot goes into an object. */
type JsonFields = Partial<Readonly<Record<(typeof FIELD_NAMES)[number], readonly string[]>>>

/** The access log of Traefik in JSON. */
const TRAEFIK: JsonFields = {
  method: ['RequestMethod'],
  path: ['RequestPath'],
  status: ['DownstreamStatus', 'OriginStatus'],
  time: ['StartUTC', 'time'],
  client: ['ClientUsername', 'ClientHost', 'ClientAddr'],
  type: ['request_Content-Type'],
}

/** What the plugins file-log and http-log of Kong write. */
const KONG: JsonFields = {
  method: ['request.method'],
  path: ['request.uri'],
  query: ['request.querystring'],
  status: ['response.status'],
  time: ['started_at'],
  client: ['consumer.username', 'consumer.custom_id', 'consumer.id', 'authenticated_entity.id', 'client_ip'],
  type: ['request.headers.content-type'],
}

/** Envoy's JSON under the names that Istio and Envoy Gateway give its values. */
const ENVOY_JSON: JsonFields = {
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
function createReadJson(fields: JsonFields, claims: readonly string[] = []): ReadLine {
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
    [given].flat().map((one): [string, string] => [name, one === true ? '' : asText(one)]),
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

/** The formats `combined` and `common` of Apache, nginx and Traefik; `common` only lacks the end. A quote within quotes is written `\"`. */
const ACCESS_LOG = /^(?<address>\S+) \S+ (?<user>\S+) \[(?<time>[^\]]+)\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>\d{3}) /

/** The default format of Envoy, and that of Istio, which has four values more after the status. The client is the first address of X-Forwarded-For. */
const ENVOY =
  /^\[(?<time>[^\]]+)\] "(?<request>(?:[^"\\]|\\.)*)" (?<status>\d{1,3}) \S+ (?:\S+ \S+ "[^"]*" )?\d+ \d+ \S+ \S+ "(?<client>[^"]*)" /

/**
 * An Application Load Balancer of AWS: type, time, load balancer, client, target, three durations, two status codes, two sizes, and the
 * request with an absolute URL.
 */
const ALB = /^(?:https?|h2|grpcs|wss?) (?<time>\S+) \S+ (?<client>\S+) \S+ \S+ \S+ \S+ (?<status>\d{3}|-) \S+ \d+ \d+ "(?<request>[^"]*)" /

/** Returns what reads lines of such a format. A connection that sent no request has none: its line counts as unreadable. */
function createReadText(pattern: RegExp): ReadLine {
  return (line) => {
    const found = pattern.exec(line)?.groups
    if (!found) return undefined
    const { request: sent = '', status, time, address, user, client = user === '-' ? address : user } = found
    const request = requestFrom({ ...requestLine(sent), status, time, client })
    return request && [request]
  }
}

type Variable = (value: string) => Partial<Record<keyof LineParts | 'query', string | undefined>>

/** The variables of nginx that are read. Every other one is skipped. */
const VARIABLES: Readonly<Record<string, Variable>> = {
  request: requestLine,
  request_method: (method) => ({ method }),
  request_uri: (target) => ({ target }),
  uri: (target) => ({ target }),
  document_uri: (target) => ({ target }),
  args: (query) => ({ query }),
  query_string: (query) => ({ query }),
  status: (status) => ({ status }),
  time_local: (time) => ({ time }),
  time_iso8601: (time) => ({ time }),
  msec: (time) => ({ time }),
  content_type: (type) => ({ type }),
  http_content_type: (type) => ({ type }),
}

/** Variables that name the client, weakest first. */
const CLIENTS = ['remote_addr', 'proxy_protocol_addr', 'http_x_forwarded_for', 'remote_user']

/** Variables of which one must tell the target, and one the method. */
const TARGETS = ['request', 'request_uri', 'uri', 'document_uri']
const METHODS = ['request', 'request_method']

/** Makes a reader of a format of nginx (`log_format`), or returns a sentence about a format that cannot be read. */
function readNginxFormat(format: string): { readonly read: ReadLine } | { readonly problem: string } {
  const parts = partsOf(format)
  const { texts, names } = parts
  const joined = names.findIndex((_, at) => at > 0 && texts[at] === '')
  if (joined >= 0)
    return { problem: `$${names[joined - 1]} and $${names[joined]} have no text between them, so nobody can tell them apart.` }
  if (!names.some((name) => TARGETS.includes(name))) return { problem: '$request or $request_uri is missing, so no path is known.' }
  if (!names.some((name) => METHODS.includes(name))) return { problem: '$request or $request_method is missing, so no method is known.' }
  return {
    read(line) {
      const values = valuesIn(line, parts)
      const request = values && requestFrom(combined(names, values))
      return request && [request]
    },
  }
}

/** `texts` are those before the first variable, and after each. */
function partsOf(format: string) {
  const texts: string[] = []
  const names: string[] = []
  let from = 0
  for (const { 0: found, 1: bare, 2: braced, index } of format.matchAll(/\$(?:([a-z_]\w*)|\{([a-z_]\w*)\})/gi)) {
    texts.push(format.slice(from, index))
    names.push(bare ?? braced ?? '')
    from = index + found.length
  }
  return { texts: [...texts, format.slice(from)], names }
}

/** Returns the values of the variables, from one text of the format to the next. It looks at each character once. */
function valuesIn(line: string, { texts, names }: ReturnType<typeof partsOf>): readonly string[] | undefined {
  const [first = '', ...others] = texts
  if (!line.startsWith(first)) return undefined
  const values: string[] = []
  let from = first.length
  for (const [at, text] of others.entries()) {
    const end = text === '' ? line.length : endOf(line, text, from)
    if (end < 0 || (text === '' && at < names.length - 1)) return undefined
    values.push(line.slice(from, end))
    from = end + text.length
  }
  return values
}

/** Returns where a text begins. A quote behind a backslash belongs to the value before it. */
function endOf(line: string, text: string, from: number): number {
  let at = line.indexOf(text, from)
  while (at > from && text.startsWith('"') && line[at - 1] === '\\') at = line.indexOf(text, at + 1)
  return at
}

function combined(names: readonly string[], values: readonly string[]): LineParts {
  const given = new Map(names.map((name, at) => [name, values[at] ?? '']))
  const read = Object.assign({}, ...names.map((name, at) => VARIABLES[name]?.(values[at] ?? ''))) as ReturnType<Variable>
  const { query = '', target, ...parts } = read
  const client = CLIENTS.map((name) => given.get(name)).findLast((one) => one && one !== '-')
  const isWhole = target === undefined || target.includes('?') || query === '' || query === '-'
  return { ...parts, client, target: isWhole ? target : `${target}?${query}` }
}

/**
 * Reads the requests behind one line that Crosswalk wrote: a record, or a line of its log.
 * A sum of traffic includes requests that are recorded as comparisons and unsent writes too. Those have `times` 0 and only add their
 * shapes.
 * A line about no request has none; a line that Crosswalk did not write is not read.
 */
const readRecordLine: ReadLine = (line) => {
  const entry = entryOf(line)
  if (entry) return recordedIn(entry)
  const value = parsed(line)
  if (!isObject(value) || value.kind !== undefined) return undefined
  const { operation, reqId, caller, time } = value
  if (typeof operation !== 'string') return isOwnLine(value) ? [] : undefined
  if (typeof reqId !== 'string') return undefined
  const at = typeof time === 'number' ? new Date(time).getTime() : Number.NaN
  return [{ operation, times: 1, ...(typeof caller === 'string' && { client: caller }), ...(!Number.isNaN(at) && { at }) }]
}

function recordedIn(entry: Entry): readonly Counted[] {
  if (entry.kind !== 'traffic' && entry.kind !== 'comparison' && entry.kind !== 'would-send') return []
  const { operation, caller: client } = entry
  const counted = { operation, client, at: Date.parse(entry.at) }
  if (entry.kind !== 'traffic') return [{ ...counted, times: 0, shape: entry.shape }]
  return [{ ...counted, times: entry.calls, ...(entry.requests && { requests: entry.requests }) }]
}

/** The log of Crosswalk names neither its process nor a request object, as logs of other programs with the same logger do. */
function isOwnLine(value: Readonly<Record<string, unknown>>): boolean {
  return typeof value.msg === 'string' && !('pid' in value) && !('req' in value)
}

/** The formats of lines that are recognized, in the order in which they are tried: the lines of a program with more marks come first. */
const LINE_FORMATS = {
  traefik: { about: "Traefik's access log in JSON", read: createReadJson(TRAEFIK, ['RequestMethod']) },
  kong: { about: "Kong's file-log and http-log", read: createReadJson(KONG, ['request.uri']) },
  'envoy-json': { about: "Envoy's JSON with the names of Istio or Envoy Gateway", read: createReadJson(ENVOY_JSON, ['response_code']) },
  records: { about: 'records or a log of Crosswalk', read: readRecordLine },
  'access-log': { about: 'a combined or common access log (Apache, nginx, Traefik)', read: createReadText(ACCESS_LOG) },
  envoy: { about: "Envoy's default text", read: createReadText(ENVOY) },
  alb: { about: 'the access log of an AWS Application Load Balancer', read: createReadText(ALB) },
} as const satisfies Partial<Record<Format, { readonly about: string; readonly read: ReadLine }>>

const KNOWN = Object.keys(LINE_FORMATS) as (keyof typeof LINE_FORMATS)[]

/** How to read lines, under the name of its format. */
export interface LineReader {
  readonly format: Exclude<Format, 'har'>
  readonly read: ReadLine
}

/** An archive has no lines: it is read whole. */
export interface ArchiveReader {
  readonly format: 'har'
}

/** Returns the reader that reads one of the first lines. The first line may be torn or from another program, but not all of them. */
export function recognized(lines: readonly string[]): LineReader | undefined {
  const format = KNOWN.find((name) => lines.some((line) => LINE_FORMATS[name].read(line) !== undefined))
  return format && { format, read: LINE_FORMATS[format].read }
}

/** Says what a file may be. */
export function formatsText(): string {
  const known = KNOWN.map((name) => `${name} (${LINE_FORMATS[name].about})`)
  return `The formats are har (an HTTP archive), ${known.join(', ')}. Give JSON with --fields, and a log_format of nginx with --format.`
}

/**
 * Returns the reader that the flags of a person name, undefined if they name none, or a sentence about what is wrong with them:
 * `chosenReader('$remote_addr "$request" $status', undefined)`, `chosenReader('alb', undefined)`, `chosenReader(undefined, 'method=m,path=p')`.
 */
export function chosenReader(
  format: string | undefined,
  fields: string | undefined,
): LineReader | ArchiveReader | undefined | { readonly problem: string } {
  if (format !== undefined && fields !== undefined) return { problem: '--format and --fields describe the same lines; give one of them.' }
  if (fields !== undefined) return fieldsReader(fields)
  if (format === undefined) return undefined
  if (format.includes('$')) {
    const made = readNginxFormat(format)
    return 'problem' in made ? { problem: `--format cannot be read: ${made.problem}` } : { format: 'nginx', read: made.read }
  }
  if (format === 'har') return { format }
  const name = KNOWN.find((known) => known === format)
  if (name) return { format: name, read: LINE_FORMATS[name].read }
  return { problem: `--format ${JSON.stringify(format)} is unknown; ${suggestion(format, ['har', ...KNOWN], formatsText())}` }
}

const FORMAT_NAME = 'method=req.method,path=req.url,status=res.status'

function fieldsReader(text: string): LineReader | { readonly problem: string } {
  const fields: Partial<Record<keyof JsonFields, readonly string[]>> = {}
  for (const pair of text.split(',')) {
    const [given = '', member = '', ...rest] = pair.split('=').map((part) => part.trim())
    const name = FIELD_NAMES.find((known) => known === given)
    if (!name || member === '' || rest.length > 0) {
      return { problem: `--fields must be pairs such as ${FORMAT_NAME}, of ${FIELD_NAMES.join(', ')}; ${JSON.stringify(pair)} is none.` }
    }
    fields[name] = [...(fields[name] ?? []), member]
  }
  const hasTarget = fields.request !== undefined || (fields.method !== undefined && fields.path !== undefined)
  if (!hasTarget) return { problem: `--fields must name method and path, or request: ${FORMAT_NAME}.` }
  return { format: 'json', read: createReadJson(fields) }
}
