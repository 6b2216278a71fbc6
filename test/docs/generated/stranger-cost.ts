import type { Config } from '../../../src/app/config/settings.ts'
import { count, inBytes, inTime, KIBIBYTE, MEBIBYTE } from './amounts.ts'

/**
 * Sizes in bytes, measured on Node 24.21, which uses more than 22 and 20. CONNECTION excludes the headers that the client sends. PASSED_ON
 * is an HTTP/2 request whose body waits for a service that does not read.
 */
const CONNECTION = 28 * KIBIBYTE
const PASSED_ON = 460 * KIBIBYTE

/** The memory of a body for each of its bytes: its text, its parsed values and the body of a v2 call. */
const BODY = 11

/** An idle process. */
const AT_REST = 135 * MEBIBYTE

/** The most memory, in bytes, that clients without a token can make a process hold. */
export function memoryOf(config: Config) {
  const heads = config['limits.clientConnections'] * (config['limits.headerBytes'] + CONNECTION)
  const passedOn = config['limits.requestsInFlight'] * PASSED_ON
  const bodies = config['limits.bodiesBytes'] * BODY
  return { heads, passedOn, bodies, all: AT_REST + heads + passedOn + bodies }
}

type Row = readonly [what: string, most: string, madeOf: string]

/** The highest cost that clients without a token can cause, as Markdown. */
export function costTable(config: Config): string {
  const memory = memoryOf(config)
  const perConnection = Math.min(config['limits.streams'], Math.floor(config['limits.requestsInFlight'] / 8))
  const rows: readonly Row[] = [
    ['Connections', count(config['limits.clientConnections']), '`limits.clientConnections`; further ones are closed at once'],
    ['– before a request, or a TLS handshake, has arrived', inTime(config['limits.headersTimeoutMs']), '`limits.headersTimeoutMs`'],
    ['– without a byte', inTime(config['limits.idleTimeoutMs']), '`limits.idleTimeoutMs`'],
    [
      'Requests in progress',
      count(config['limits.requestsInFlight']),
      '`limits.requestsInFlight`; further ones get 503 before they cost anything',
    ],
    ['– without a credential', count(Math.ceil(config['limits.requestsInFlight'] * 0.75)), 'three quarters of `limits.requestsInFlight`'],
    ['– of one connection', count(perConnection), '`limits.streams`, and an eighth of `limits.requestsInFlight`'],
    ['Time for a translated request', inTime(config['limits.deadlineMs']), '`limits.deadlineMs`, its body included'],
    ['Time for a body that passes through', inTime(config['limits.bodyTimeoutMs']), '`limits.bodyTimeoutMs`'],
    ['Time for a client to read a piece of an answer', inTime(config['limits.writeTimeoutMs']), '`limits.writeTimeoutMs`'],
    ['WebSockets', count(config['limits.webSockets']), '`limits.webSockets`; a silent one lasts `limits.webSocketIdleMs`'],
    [
      'Connections to v2',
      count(3 * config['upstream.connections']),
      '`upstream.connections`, for each of: translated and v1, native, gRPC; and one for each WebSocket',
    ],
    ['Memory for heads', inBytes(memory.heads), '`limits.clientConnections` × (`limits.headerBytes` + 28 KiB)'],
    [
      'Memory for requests that pass through',
      inBytes(memory.passedOn),
      '`limits.requestsInFlight` × 460 KiB: the window of an HTTP/2 stream and its objects',
    ],
    [
      'Memory for bodies that are translated',
      inBytes(memory.bodies),
      '`limits.bodiesBytes` × 11: bytes, text, values, and the body of the v2 call',
    ],
    ['Memory in all', inBytes(memory.all), 'the three above, and 135 MiB for an idle process'],
  ]
  return ['| What | At most | Made of |', '|---|---:|---|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n')
}
