import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { ApiError } from '../../errors.ts'
import { hasPassed } from '../../serve/upstream/v1.ts'

/** Returns why a request may come from another site's page or through the proxy; undefined if it cannot. */
export type Foreign = (request: Pick<IncomingMessage, 'url' | 'headers'>) => ApiError | undefined

/** What browsers send for a page of this origin, and for an address that a person typed (Fetch Metadata). */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * Detects requests of foreign pages. A page can make its own name resolve to this machine (DNS rebinding). Its browser then sees one
 * origin, and only the name in the request differs. So the name must be one of `names`; an address cannot be rebound. A request from
 * another origin says so in its headers. Clients that are no browsers are checked by name only.
 */
export function createForeign(names: readonly string[]): Foreign {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
  return ({ url = '', headers }) => {
    if (hasPassed(headers)) return PROXIED
    const { host, origin, 'sec-fetch-site': site = 'none' } = headers
    if (/^[a-z][a-z\d+.-]*:/i.test(url)) return new ApiError('INVALID_ARGUMENT', 'the request target must be a path')
    // Only HTTP/1.0 has no Host header, and no browser speaks it.
    if (host !== undefined && !isKnown(nameIn(host), known)) return unknownName(host)
    if (origin !== undefined && authorityOf(origin) !== host?.toLowerCase()) return OTHER_ORIGIN
    return OWN_SITES.has(String(site)) ? undefined : OTHER_ORIGIN
  }
}

/** If `upstream.v2` led here, every client of the proxy could change its modes. */
const PROXIED = new ApiError('PERMISSION_DENIED', 'the admin port is not for what has come through a Crosswalk')

const OTHER_ORIGIN = new ApiError(
  'PERMISSION_DENIED',
  'a page of another origin may not ask the admin port; to look at it, type its address instead of following a link',
)

function unknownName(host: string): ApiError {
  const message = `the admin port does not go by the name ${JSON.stringify(host)}; list its names in admin.names (CROSSWALK_ADMIN_NAMES)`
  return new ApiError('PERMISSION_DENIED', message)
}

function isKnown(name: string, known: ReadonlySet<string>): boolean {
  return isIP(name) !== 0 || known.has(name)
}

/** Returns the name in a Host header without port and IPv6 brackets; empty if there is none. */
function nameIn(host: string): string {
  const [, address, name = ''] = /^(?:\[([\da-f:.]+)\]|([^:@/\\[\]]+))(?::\d{1,5})?$/i.exec(host) ?? []
  return (address ?? name).toLowerCase()
}

/** Returns host and port of an origin; undefined for `null` and for anything that is no web page. */
function authorityOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1]
}
