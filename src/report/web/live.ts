import type { Report } from '../report.ts'

/** The tab forgets it when it is closed, and shows it to no other address. */
const KEPT = 'crosswalk.admin.token'

/** Keeps the token with which the proxy is asked from now on. */
export function keepToken(token: string): void {
  sessionStorage.setItem(KEPT, token)
}

export function hasToken(): boolean {
  return sessionStorage.getItem(KEPT) !== null
}

/** Gets the report of a running proxy anew; undefined when that asks for a token, or for another one. Throws what else went wrong. */
export async function askLive(live: string): Promise<Report | undefined> {
  const token = sessionStorage.getItem(KEPT)
  const answer = await fetch(live, { cache: 'no-store', headers: token === null ? {} : { authorization: `Bearer ${token}` } })
  if (answer.status === 401) return undefined
  if (!answer.ok) throw new Error(`the proxy answered ${answer.status}`)
  return (await answer.json()) as Report
}
