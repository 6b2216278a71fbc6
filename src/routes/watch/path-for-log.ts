import type { IncomingMessage } from 'node:http'
import { pathOf } from '../../request/classify.ts'

/**
 * The path of a request as a log may hold it, without the query, which may hold secrets. HTTP/1.1 refuses a target with other bytes than
 * those of printable ASCII; HTTP/2 does not, and a terminal that shows the log may obey them.
 */
export function pathForLog({ url = '', httpVersionMajor }: Pick<IncomingMessage, 'url' | 'httpVersionMajor'>): string {
  return httpVersionMajor === 1 ? pathOf(url) : pathOf(url).replaceAll(/[^\x21-\x7e]/g, encodeURIComponent)
}
