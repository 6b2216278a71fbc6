import { text } from '../src/mapping/field.ts'
import type { Mapping } from '../src/mapping/operation.ts'
import { action, withoutToken } from '../src/mapping/operations.ts'
import { message } from '../src/mapping/resource.ts'

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
