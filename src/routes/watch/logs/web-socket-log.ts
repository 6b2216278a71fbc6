import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import type { RequestRecord } from '../../../serve/request-record.ts'
import { credentialHash } from '../../../upstream/credential.ts'
import type { WebSocketEnd } from '../../carriers/web-sockets.ts'
import type { Forwarded } from '../../forwarded/forwarded.ts'
import { pathForLog } from './path-for-log.ts'

/** Writes one log line at the end of a WebSocket, in addition to that of its handshake. Neither holds a header, a message or a query. */
export function createWebSocketLog(log: Logger, forwarded: Forwarded) {
  return (request: IncomingMessage, { id }: RequestRecord, { seconds, received, sent }: WebSocketEnd): void => {
    const line = {
      reqId: id,
      path: pathForLog(request),
      seconds: Math.round(seconds * 10) / 10,
      received,
      sent,
      client: forwarded.clientOf(request),
      caller: credentialHash(request.headers.authorization),
    }
    log.info(line, 'websocket')
  }
}
