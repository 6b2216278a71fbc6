import type { Report } from '../report.ts'

/** Key in the tab's storage, which ends with the tab and is private to this origin. */
const KEPT = 'crosswalk.admin.token'

/** Keeps the token for further requests to the proxy. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token)
}

export function hasToken(): boolean {
  return sessionStorage.getItem(KEPT) !== null
}

/**
 * Gets the current report of a running proxy. Returns undefined if the proxy asks for a token or rejects this one. Throws for other
 * failures.
 */
export async function askLive(live: string): Promise<Report | undefined> {
  const token = sessionStorage.getItem(KEPT)
  const answer = await fetch(live, { cache: 'no-store', headers: token === null ? {} : { authorization: `Bearer ${token}` } })
  if (answer.status === 401) return undefined
  if (!answer.ok) throw new Error(`the proxy answered ${answer.status}`)
  return (await answer.json()) as Report
}
