import { queryText } from '../serve/upstream/exchange.ts'
import { shellQuoted } from '../tables/check.ts'
import type { Call } from '../tables/turn.ts'
import { type Marker, replaceMarkers } from './marker.ts'

/** Writes a value of an earlier answer: as a shell variable, or as words in a comment. */
export type WriteMarker = (marker: Marker) => string

/** A request that curl can send: a call to v2, or a request of v1. */
type CurledRequest = Pick<Call, 'path' | 'query'> & { readonly method: string; readonly body?: unknown }

/** Returns a request as one curl command. The token comes from `$TOKEN`; `options` are short options of curl, such as `-sS`. */
export function curl(base: string, call: CurledRequest, options: string, write: WriteMarker): string {
  const method = call.method === 'GET' ? '' : ` -X ${call.method}`
  const body = call.body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${bodyText(call.body, write)}`
  return `curl ${options}${method} -H "Authorization: Bearer $TOKEN"${body} "${urlText(base, call, write)}"`
}

/** `!` is the only character of an encoded URL that an interactive shell still expands between double quotes. */
function urlText(base: string, call: CurledRequest, write: WriteMarker): string {
  const query = queryText(call)
  return replaceMarkers(`${base}${call.path}${query && `?${query}`}`.replaceAll('!', '%21'), write)
}

function bodyText(body: unknown, write: WriteMarker): string {
  return replaceMarkers(shellQuoted(JSON.stringify(body)), (marker) => {
    const text = write(marker)
    return text.startsWith('$') ? `'"${text}"'` : text
  })
}
