import type { AskedRequest } from '../judge/asked-request.ts'
import { recordedParameter } from './recorded-parameter.ts'
import type { Redacted } from './redacted.ts'

/** A v1 request as a client would send it, redacted. Its body is not kept. */
export interface SentRequest {
  readonly method: string
  /** Path and query. It ends with `…` if it was too long. */
  readonly url: string
}

/** Most characters of a URL, and most of its parameters. */
const LONGEST = 2_000
const MOST = 50

/** Returns the request of a comparison, with every parameter in the client's spelling. */
export function sentRequest({ operation, request: { params, query } }: AskedRequest, redacted: Redacted): SentRequest {
  const path = operation.template.replace(/\{([^{}=]+)(?:=[^{}]*)?\}/g, (_, name: string) => encoded(redacted.path(params[name] ?? '')))
  const pairs = [...query].flatMap(([name, values]) => values.map((value) => [name, value] as const))
  const parts = pairs
    .slice(0, MOST)
    .map(([name, value]) => `${encoded(redacted.key(name))}=${encoded(recordedParameter(value, name, redacted))}`)
  const url = parts.length === 0 ? path : `${path}?${parts.join('&')}`
  const isWhole = url.length <= LONGEST && pairs.length <= MOST
  return { method: operation.method, url: isWhole ? url : `${url.slice(0, LONGEST)}…` }
}

/** Characters that clients send as they are, because they separate nothing within a path segment of a uid or within a query. */
const PLAIN = /%(?:2F|3A|2C|40|5B|5D)/g

function encoded(text: string): string {
  // A text that was cut may end in half a character.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(PLAIN, decodeURIComponent)
}
