import { text } from '../src/tables/language/field.ts'
import type { Mapping } from '../src/tables/language/operation.ts'
import { action, withoutToken } from '../src/tables/language/operations.ts'
import { message } from '../src/tables/language/resource.ts'

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
