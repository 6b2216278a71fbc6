import type { ModeRules } from '../../../migrate/modes/rules.ts'
import { ownHeaders } from '../live/ask-live.ts'

/** What the page can change. `tag` names the rules that the reader saw. */
export type Change =
  | { readonly what: 'modes'; readonly rules: ModeRules; readonly tag: string }
  | { readonly what: 'rollout'; readonly name: string; readonly command: 'pause' | 'resume' }

/** Sends a change to the proxy. Returns undefined, or a sentence that says why nothing was changed. */
export async function makeChange(change: Change): Promise<string | undefined> {
  try {
    const answer = await send(change)
    if (answer.ok) return undefined
    const { message = `HTTP ${answer.status}` } = (await answer.json().catch(() => ({}))) as { message?: string }
    return answer.status === 412 ? `Somebody else was faster: ${message}. Nothing was changed.` : `Nothing was changed: ${message}.`
  } catch {
    return 'The proxy cannot be reached, so it is not known whether something was changed. Look at what is in force.'
  }
}

function send(change: Change): Promise<Response> {
  const base = { cache: 'no-store', signal: AbortSignal.timeout(10_000) } as const
  if (change.what === 'rollout') {
    return fetch(`/rollouts/${encodeURIComponent(change.name)}/${change.command}`, { ...base, method: 'POST', headers: ownHeaders() })
  }
  const headers = { ...ownHeaders(), 'content-type': 'application/json', 'if-match': `"${change.tag}"` }
  return fetch('/modes', { ...base, method: 'PUT', headers, body: JSON.stringify(change.rules) })
}
