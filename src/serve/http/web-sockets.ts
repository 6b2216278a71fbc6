import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ApiError, askAgain, unrelayable } from '../../errors.ts'
import { relayableHeaders } from '../../heads.ts'
import { endToEndRaw } from '../heads.ts'
import { type Handshake, SWITCHED } from '../listen/upgrades.ts'
import { BAD_GATEWAY, type Native } from '../upstream/native.ts'

/** Limits of WebSockets, named as in the configuration. */
export interface WebSocketLimits {
  /** The maximum number that is open, including handshakes; 0 = unlimited. */
  readonly webSockets: number
  /** Milliseconds without a byte in either direction, and for v2 to answer a handshake. */
  readonly webSocketIdleMs: number
}

/** How a WebSocket ended. */
export interface WebSocketEnd {
  readonly seconds: number
  /** Bytes from the client, and bytes to it. */
  readonly received: number
  readonly sent: number
}

/** Answers a failed handshake. */
export type Refuse = (response: ServerResponse, error: ApiError, status?: number) => void

/** Carries the WebSockets between clients and v2. */
export function createWebSockets(native: Native, { webSockets, webSocketIdleMs }: WebSocketLimits, refuse: Refuse) {
  const open = new Set<Socket>()
  return {
    /** Carries a handshake to v2 and, if v2 agrees, the bytes after it. Calls `ended` at the end of the WebSocket. */
    open(request: IncomingMessage, response: ServerResponse, { socket, head, taken }: Handshake, ended: (end: WebSocketEnd) => void) {
      if (webSockets > 0 && open.size >= webSockets) return refuse(response, tooMany(webSockets))
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      socket.setTimeout(webSocketIdleMs, () => socket.destroy())
      native.shakeHands(request, response, (answer, upstream, first) => {
        const headers = relayableHeaders(1, endToEndRaw(answer.rawHeaders))
        if ('problem' in headers) {
          upstream.destroy()
          return refuse(response, unrelayable('v2', headers.problem), BAD_GATEWAY)
        }
        taken()
        endTogether(socket, upstream)
        if (first.length > 0) upstream.unshift(first)
        if (head.length > 0) socket.unshift(head)
        switchOver(response, headers.headers, socket, () => join(socket, upstream, ended))
      })
    },
    /** Ends all of them: a shutdown cannot wait for them, because they have no end of their own. */
    end(): void {
      for (const socket of open) socket.destroySoon()
    },
    count: () => open.size,
  }
}

function tooMany(webSockets: number): ApiError {
  return askAgain('UNAVAILABLE', `more than limits.webSockets (${webSockets}) WebSockets are open`)
}

/** Answers the handshake. The answer counts as complete then, but its connection goes on. */
function switchOver(response: ServerResponse, headers: readonly string[], socket: Socket, done: () => void): void {
  response.sendDate = false
  response.writeHead(SWITCHED, 'Switching Protocols', ['connection', 'Upgrade', 'upgrade', 'websocket', ...headers])
  response.end(() => {
    response.detachSocket(socket)
    response.emit('close')
    done()
  })
}

/**
 * Ends each connection with the other, from the moment when nothing else listens to v2's connection.
 * The client may read the answer slowly while v2 breaks off, and an error without a listener ends the process.
 */
function endTogether(client: Socket, upstream: Socket): void {
  client.once('close', () => upstream.destroy())
  upstream.on('error', () => {}).once('close', () => client.destroySoon())
}

/** Carries bytes both ways until both ends are closed or one breaks. */
function join(client: Socket, upstream: Socket, ended: (end: WebSocketEnd) => void): void {
  const began = performance.now()
  const [readBefore, writtenBefore] = [client.bytesRead, client.bytesWritten]
  client.once('close', () => {
    ended({
      seconds: (performance.now() - began) / 1000,
      received: client.bytesRead - readBefore,
      sent: client.bytesWritten - writtenBefore,
    })
  })
  client.pipe(upstream).pipe(client)
}
