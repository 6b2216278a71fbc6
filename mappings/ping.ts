import { action, isObject, type Mapping, message, type Tables, text, withoutToken } from '../src/tables/language.ts'

export const ping: Mapping = {
  domain: 'ping',
  operations: [
    withoutToken(
      action('ping.ping.ping', 'GET /ping/v1/ping', {
        v2: 'GET /ping/v2/ping',
        answer: message('ping', { response: text('response') }),
      }),
    ),
  ],
}

/** Both services answer it with `{response: string}` (facts §9). */
const probe = (version: 'v1' | 'v2') => ({ path: `/ping/${version}/ping`, isAnswer: isPong, expected: '{"response": …} in JSON' })

export const probes: NonNullable<Tables['probes']> = { v1: probe('v1'), v2: probe('v2') }

function isPong(text: string): boolean {
  try {
    const pong: unknown = JSON.parse(text)
    return isObject(pong) && typeof pong['response'] === 'string'
  } catch {
    return false
  }
}
