import type { Transcript } from './transcript.ts'

export const ping: readonly Transcript[] = [
  {
    title: 'pong',
    operation: 'ping.ping.ping',
    request: 'GET /ping/v1/ping',
    calls: [{ call: 'GET /ping/v2/ping', answer: { response: 'pong' } }],
    reply: { response: 'pong' },
  },
  {
    title: 'a silent one',
    operation: 'ping.ping.ping',
    request: 'GET /ping/v1/ping',
    calls: [{ call: 'GET /ping/v2/ping', answer: { response: '' } }],
    reply: { response: '' },
  },
]
