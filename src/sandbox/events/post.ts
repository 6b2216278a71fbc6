import { Agent, request } from 'undici'

/** The outcome of one attempt. `again` asks for another attempt. */
export type Outcome = { readonly verdict: 'delivered' | 'again' | 'refused'; readonly detail: string }

/** Sends one event; never rejects. */
export type Post = (url: URL, headers: Readonly<Record<string, string>>, content: string, closing: AbortSignal) => Promise<Outcome>

/** Milliseconds for the whole exchange (semantics §7.4). */
const TIMEOUT_MS = 5_000

/** The most bytes read of a response. Responses are read so that the connection can be reused, but not without limit. */
const ANSWER_LIMIT = 64 * 1024

const isRetryable = (status: number): boolean => status === 408 || status === 429 || status >= 500

const verdictOf = (status: number): Outcome['verdict'] => {
  if (status >= 200 && status < 300) return 'delivered'
  return isRetryable(status) ? 'again' : 'refused'
}

/** Posts over HTTP. It does not follow redirects, which could lead off this machine. */
export const createPost = (): { readonly post: Post; readonly close: () => Promise<void> } => {
  const agent = new Agent({ connections: 8, keepAliveTimeout: 1_000 })
  const post: Post = async (url, headers, body, closing) => {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)])
    try {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal })
      await answer.body.dump({ limit: ANSWER_LIMIT, signal })
      return { verdict: verdictOf(answer.statusCode), detail: `HTTP ${answer.statusCode}` }
    } catch (error) {
      return { verdict: 'again', detail: error instanceof Error ? error.message : String(error) }
    }
  }
  return { post, close: () => agent.destroy() }
}
