/** The view that the reader has open. It is the part of the address after `#`, so that links and the back button work. */
export type Route =
  | { readonly view: 'operations' | 'clients' | 'timeline' | 'declared' }
  | { readonly view: 'operation'; readonly operation: string }
  | { readonly view: 'difference'; readonly operation: string; readonly difference: string }

const PLAIN = ['operations', 'clients', 'timeline', 'declared'] as const

export function parseRoute(hash: string): Route {
  const [first = '', ...rest] = hash.replace(/^#\/?/, '').split('/').map(decoded)
  const [operation, difference] = rest
  if (first === 'operation' && operation) {
    return difference ? { view: 'difference', operation, difference } : { view: 'operation', operation }
  }
  return { view: PLAIN.find((view) => view === first) ?? 'operations' }
}

export function hashOf(route: Route): string {
  if (route.view === 'operation') return `#/operation/${encodeURIComponent(route.operation)}`
  if (route.view === 'difference') return `#/operation/${encodeURIComponent(route.operation)}/${encodeURIComponent(route.difference)}`
  return `#/${route.view}`
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
