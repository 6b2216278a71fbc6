import type { Call } from '../tables/plan/plan.ts'
import { queryText } from '../upstream/v2/make-call.ts'
import { type Marker, replaceMarkers } from './marker.ts'

/** How a value of an earlier answer is written: as a shell variable, or as words in a comment. */
export type Write = (marker: Marker) => string

/** A call as one curl command. The token comes from `$TOKEN`; `options` are curl's short ones, such as `-sS`. */
export function curl(base: string, call: Call, options: string, write: Write): string {
  const method = call.method === 'GET' ? '' : ` -X ${call.method}`
  const body = call.body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${bodyText(call.body, write)}`
  return `curl ${options}${method} -H "Authorization: Bearer $TOKEN"${body} "${urlText(base, call, write)}"`
}

/** `!` is the one character of an encoded URL that an interactive shell would still expand between double quotes. */
function urlText(base: string, call: Call, write: Write): string {
  const query = queryText(call)
  return replaceMarkers(`${base}${call.path}${query && `?${query}`}`.replaceAll('!', '%21'), write)
}

function bodyText(body: unknown, write: Write): string {
  return replaceMarkers(quoted(JSON.stringify(body)), (marker) => `'"${write(marker)}"'`)
}

/** A text between single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
