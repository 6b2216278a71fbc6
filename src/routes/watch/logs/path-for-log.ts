import type { IncomingMessage } from 'node:http'
import { pathOf } from '../../../request/classify.ts'

/**
 * Returns the path of a request for a log, without the query, which may hold secrets.
 * HTTP/1.1 refuses a target with bytes outside printable ASCII. HTTP/2 does not, and a terminal that shows the log may obey them.
 */
export function pathForLog({ url = '', httpVersionMajor }: Pick<IncomingMessage, 'url' | 'httpVersionMajor'>): string {
  return httpVersionMajor === 1 ? pathOf(url) : pathOf(url).replaceAll(/[^\x21-\x7e]/g, encodeURIComponent)
}
