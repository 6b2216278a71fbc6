import { FORM } from '../../request/route-request.ts'
import type { RecordedRequest } from './recorded-traffic.ts'

/** The formats `combined` and `common` of Apache and nginx; `common` only lacks the end. A quote within quotes is written `\"`. */
const LINE = /^(\S+) \S+ (\S+) \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) /

const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d\d)(\d\d)$/

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Maximum characters of a line. V8 records every character that a quoted group matches, and runs out of space at ten million. */
const LONGEST = 1_000_000

/** Reads the request of one line. Returns undefined for another format, and for a connection that sent no request. */
export function readLogLine(line: string): RecordedRequest | undefined {
  if (line.length > LONGEST) return undefined
  const [, address = '', user = '', time = '', request = '', status = ''] = LINE.exec(line) ?? []
  const [method = '', url = '', ...rest] = request.split(' ')
  if (rest.length > 1 || !/^[A-Z]+$/.test(method)) return undefined
  const target = targetOf(url)
  if (target === undefined) return undefined
  const at = timeOf(time)
  // The log has no headers. If v1 accepted a POST where it only has a GET, the request was a form.
  const headers = method === 'POST' && status.startsWith('2') ? { 'content-type': FORM } : {}
  const client = user === '-' ? address : user
  return { method, url: target, headers, client, status: Number(status), ...(at !== undefined && { at }) }
}

/** Returns the path of a path or of an absolute URL. */
function targetOf(url: string): string | undefined {
  if (url.startsWith('/')) return url
  if (!URL.canParse(url)) return undefined
  const { pathname, search } = new URL(url)
  return pathname + search
}

/** Reads `10/Oct/2026:13:55:36 +0200` as milliseconds since 1970. */
function timeOf(text: string): number | undefined {
  const [, day, month = '', year, clock, hours, minutes] = TIME.exec(text) ?? []
  const number = String(MONTHS.indexOf(month) + 1).padStart(2, '0')
  const at = Date.parse(`${year}-${number}-${day}T${clock}${hours}:${minutes}`)
  return Number.isNaN(at) ? undefined : at
}
