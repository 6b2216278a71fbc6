import { identify } from '../../../serve/caller.ts'
import { FORM } from '../../../serve/route.ts'
import type { Item, RecordedRequest } from '../recorded-traffic.ts'

/** Reads a line: its requests, none for a line about no request, or undefined for a line that is not in the format. */
export type ReadLine = (line: string) => readonly Item[] | undefined

/** What a line of a log says about one request, as it stands there. */
export interface LineParts {
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
export function requestFrom({ method = '', target = '', status, time, client, type }: LineParts): RecordedRequest | undefined {
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
export function requestLine(text: string): Pick<LineParts, 'method' | 'target'> {
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
