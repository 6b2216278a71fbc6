import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ApiError } from '../../errors/api-error.ts'
import { askAgain } from '../../errors/ask-again.ts'
import { unrelayable } from '../../errors/from-v2.ts'
import { type Handshake, SWITCHED } from '../../listen/upgrades.ts'
import { relayableHeaders } from '../../relay/head.ts'
import { endToEndRaw } from '../../upstream/hop-by-hop.ts'
import type { Native } from '../../upstream/native/native.ts'

/** Bounds of WebSockets; the names are those of the configuration. */
export interface WebSocketLimits {
  /** Open at the same time, handshakes among them; 0: no bound. */
  readonly webSockets: number
  /** Milliseconds without a byte in either direction; also for v2 to answer a handshake. */
  readonly webSocketIdleMs: number
}

/** What became of a WebSocket. */
export interface WebSocketEnd {
  readonly seconds: number
  /** Bytes from the client, and to it. */
  readonly received: number
  readonly sent: number
}

/** Told when a handshake came to nothing. */
export type Refuse = (response: ServerResponse, error: ApiError, status?: number) => void

/** The WebSockets between clients and v2. */
export interface WebSockets {
  /** Carries a handshake to v2, and what follows it when v2 agrees; `ended` is told at the end of that. */
  open(request: IncomingMessage, response: ServerResponse, handshake: Handshake, ended: (end: WebSocketEnd) => void): void
  /** Ends all of them: they have no end of their own that a shutdown could wait for. */
  end(): void
  count(): number
}

export function createWebSockets(native: Native, { webSockets, webSocketIdleMs }: WebSocketLimits, refuse: Refuse): WebSockets {
  const open = new Set<Socket>()
  return {
    open(request, response, { socket, head, taken }, ended) {
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
    end() {
      for (const socket of open) socket.destroySoon()
    },
    count: () => open.size,
  }
}

const BAD_GATEWAY = 502

function tooMany(webSockets: number): ApiError {
  return askAgain('UNAVAILABLE', `more than limits.webSockets (${webSockets}) WebSockets are open`)
}

/** Answers the handshake. The answer is over then for everybody who waits for that; its connection goes on. */
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
 * Each connection ends with the other, from the moment on at which nobody else listens to that of v2: the client may be slow to take the
 * answer, v2 may break off meanwhile, and an error that nobody hears ends the process.
 */
function endTogether(client: Socket, upstream: Socket): void {
  client.once('close', () => upstream.destroy())
  upstream.on('error', () => {}).once('close', () => client.destroySoon())
}

/** Carries bytes both ways until both ends are closed, or one of them breaks. */
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
