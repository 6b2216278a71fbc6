import type { Agent } from 'undici'

/** Milliseconds after which a ping counts as unanswered; a probe must not wait as long as a request. */
const PATIENCE = 2000

/** Asks whether the v2 service can be used: undefined, or the reason why not. Whoever asks meanwhile shares the answer, so that many cost one call. */
export function createReady(pool: Agent, base: string): () => Promise<string | undefined> {
  let asked: Promise<string | undefined> | undefined
  return () => {
    asked ??= whyNotReady(pool, base).finally(() => {
      asked = undefined
    })
    return asked
  }
}

/** Why the v2 service does not answer its ping, or undefined when it does. A refusal (401, 403) is an answer. */
async function whyNotReady(pool: Agent, base: string): Promise<string | undefined> {
  try {
    const { statusCode, body } = await pool.request({
      origin: new URL(base).origin,
      path: `${new URL(base).pathname.replace(/\/$/, '')}/ping/v2/ping`,
      method: 'GET',
      signal: AbortSignal.timeout(PATIENCE),
    })
    await body.dump()
    return statusCode < 500 ? undefined : `the v2 service answers its ping with HTTP ${statusCode}`
  } catch (error) {
    return `the v2 service does not answer its ping: ${(error as Error).message}`
  }
}
