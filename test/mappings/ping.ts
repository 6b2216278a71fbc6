import { type Transcript, transcript } from './transcript.ts'

export const ping: readonly Transcript[] = [
  transcript('ping.ping.ping', 'pong')
    .sent('GET /ping/v1/ping')
    .asks('GET /ping/v2/ping', { response: 'pong' })
    .answers({ response: 'pong' }),
  transcript('ping.ping.ping', 'a silent one')
    .sent('GET /ping/v1/ping')
    .asks('GET /ping/v2/ping', { response: '' })
    .answers({ response: '' }),
]
