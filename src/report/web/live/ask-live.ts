import type { AdminAddress } from '../../next-step/admin-command.ts'
import type { Report } from '../../report.ts'
import type { LiveAnswer } from './poll.ts'

/** Key in the tab's storage, which ends with the tab and is private to this origin. */
const KEPT = 'crosswalk.admin.token'

/** Keeps the token for further requests to the proxy. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token)
}

export function hasToken(): boolean {
  return sessionStorage.getItem(KEPT) !== null
}

/** Returns how this page reached the admin port. */
export function adminAddress(): AdminAddress {
  return { origin: location.origin, hasToken: hasToken() }
}

/** The headers of a request to the admin port. */
export function ownHeaders(): Record<string, string> {
  const token = sessionStorage.getItem(KEPT)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** What the token permits, as the proxy says. */
const RIGHT = 'x-crosswalk-right'

/** A proxy that takes longer does not answer. */
const LONGEST_MS = 20_000

/**
 * Returns a function that gets the current report of a running proxy, if it changed since the last call. It throws a sentence if it cannot.
 * A person gets a new report: one that is a second old may not show what the person has just changed.
 */
export function createAsk(live: string): (isPerson: boolean) => Promise<LiveAnswer> {
  let etag: string | undefined
  return async (isPerson) => {
    const headers = { ...ownHeaders(), ...(etag !== undefined && !isPerson && { 'if-none-match': etag }) }
    const answer = await fetch(live, { cache: 'no-store', headers, signal: AbortSignal.timeout(LONGEST_MS) })
    const at = Date.parse(answer.headers.get('date') ?? '') || Date.now()
    if (answer.status === 304) return { kind: 'same', at }
    if (answer.status === 401) return { kind: 'token' }
    if (!answer.ok) throw new Error(`it answers with HTTP ${answer.status}`)
    const report = (await answer.json()) as Report
    etag = answer.headers.get('etag') ?? undefined
    return { kind: 'report', report, at, mayChange: hasToken() && answer.headers.get(RIGHT) === 'change' }
  }
}
