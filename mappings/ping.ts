import { action, type Mapping, message, text, withoutToken } from '../src/tables/language.ts'

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
