import { text } from '../src/mapping/field.ts'
import type { Mapping } from '../src/mapping/operation.ts'
import { action } from '../src/mapping/operations.ts'
import { message } from '../src/mapping/resource.ts'

export const ping: Mapping = {
  domain: 'ping',
  operations: [
    action('ping.ping.ping', 'GET /ping/v1/ping', {
      v2: 'GET /ping/v2/ping',
      answer: message('ping', { response: text('response') }),
    }),
  ],
}
