import { ApiError } from '../errors.ts'
import { grouped, relayableHeaders } from '../heads.ts'
import type { WireMetadata } from './wire-call.ts'

/** Names that the protocols write themselves. */
const OWN = /^(?::|grpc-|connect-|trailer-|(?:content-(?:type|length|encoding)|accept-encoding|trailer|vary)$)/

/**
 * Returns metadata of a handler as headers, without the names that belong to the protocols. It is INTERNAL if a head cannot carry it.
 * Nothing in it is folded: a list of values stays a list.
 */
export function metadata(given: WireMetadata | undefined): Record<string, string | string[]> {
  if (!given) return {}
  const headers: string[] = []
  for (const [name, value] of Object.entries(given)) {
    const lower = name.toLowerCase()
    if (OWN.test(lower)) continue
    if (typeof value === 'string') headers.push(lower, value)
    else for (const one of value) headers.push(lower, one)
  }
  const checked = relayableHeaders(2, headers)
  if ('problem' in checked) throw new ApiError('INTERNAL', 'the answer has metadata that no header can carry')
  return grouped(checked.headers)
}
