import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { ApiError } from '../../errors/api-error.ts'
import { hasPassed } from '../../upstream/loop.ts'

/** Why a request may be that of a web page that is not ours, or of a client of the proxy; undefined when it cannot be. */
export type Foreign = (request: Pick<IncomingMessage, 'url' | 'headers'>) => ApiError | undefined

/** What browsers say of a page of this very origin, and of an address that a person typed (Fetch Metadata). */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none'])

/**
 * A page can have its own name answered with the address of this machine (DNS rebinding). For its browser it then talks to itself, and only
 * the name that it asks for gives it away. So a name must be one of `names`; an address cannot be bound anew. What comes from another
 * origin says so itself. Clients that are no browsers are held to the name alone.
 */
export function createForeign(names: readonly string[]): Foreign {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())])
  return ({ url = '', headers }) => {
    if (hasPassed(headers)) return PROXIED
    const { host, origin, 'sec-fetch-site': site = 'none' } = headers
    if (/^[a-z][a-z\d+.-]*:/i.test(url)) return new ApiError('INVALID_ARGUMENT', 'the request target must be a path')
    // HTTP/1.0 has none, and no browser speaks that.
    if (host !== undefined && !isKnown(nameIn(host), known)) return unknownName(host)
    if (origin !== undefined && authorityOf(origin) !== host?.toLowerCase()) return OTHER_ORIGIN
    return OWN_SITES.has(String(site)) ? undefined : OTHER_ORIGIN
  }
}

/** An `upstream.v2` that leads here would let whoever reaches the proxy change its modes. */
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

/** The name in a Host header, without a port and the brackets of an IPv6 address; empty when it is none. */
function nameIn(host: string): string {
  const [, address, name = ''] = /^(?:\[([\da-f:.]+)\]|([^:@/\\[\]]+))(?::\d{1,5})?$/i.exec(host) ?? []
  return (address ?? name).toLowerCase()
}

/** Host and port of an origin; undefined for `null` and what is no web page. */
function authorityOf(origin: string): string | undefined {
  return /^https?:\/\/([^/]+)$/.exec(origin.toLowerCase())?.[1]
}
