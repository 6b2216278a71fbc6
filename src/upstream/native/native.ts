import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { ProxyServer } from 'http-proxy-3'
import { ApiError } from '../../errors/api-error.ts'
import { fromTransport, unrelayable } from '../../errors/from-v2.ts'
import { giveHead } from '../../relay/give.ts'
import { guarded } from '../../relay/guard.ts'
import { endsHere, endToEndRaw } from '../hop-by-hop.ts'
import { createAgent } from './agent.ts'

/** Carries bytes to the v2 service and back without looking at them. */
export interface Native {
  /** One request; it must not be `isUnframable`. `connected` is told when it has a connection to v2. */
  web(request: IncomingMessage, response: ServerResponse, connected: () => void): void
  /** A WebSocket handshake; `switched` is told when v2 agrees, and with what head. Every other answer goes to `response`. */
  shakeHands(request: IncomingMessage, response: ServerResponse, switched: Switched): void
  close(): void
}

/** Told of a call that has a connection. */
type OnCall = (call: ClientRequest) => void

/** v2 has switched over: the answer that says so, the connection, and the first bytes that came on it. */
export type Switched = (answer: IncomingMessage, socket: Socket, head: Buffer) => void

/** Told when a request could not be carried, or its answer not be passed on (`status` 502); must end the response. */
export type Failed = (response: ServerResponse, error: ApiError, status?: number) => void

const BAD_GATEWAY = 502

export interface NativeSettings {
  /** Address of the v2 service. */
  readonly base: string
  /** Connections to it; further requests wait. */
  readonly connections: number
}

/**
 * http-proxy-3 with its measured traps closed (design §6.3): one keep-alive agent, TLS verified (its default), an error listener,
 * hop-by-hop headers taken out both ways. The request target goes out as it came (`toProxy`), the answer's headers as v2 wrote them. A
 * connection goes back to the agent after a whole exchange only; a handshake has one of its own, because nobody knows what follows it.
 */
export function createNative({ base, connections }: NativeSettings, failed: Failed): Native {
  const agent = createAgent(base, connections)
  const proxy = new ProxyServer({ target: base, agent, changeOrigin: true, toProxy: true, selfHandleResponse: true })
  const waiting = new WeakMap<ServerResponse, OnCall>()
  const careful = <A>(handler: (event: A, request: IncomingMessage, response: ServerResponse) => void) =>
    guarded(handler, (_, __, ___, response) => response.destroy())
  const onError = (error: Error, _: IncomingMessage, response: ServerResponse) => {
    // An answer that has begun tells of its own end; v2 may have answered before it had read everything, and hung up.
    if (!response.headersSent) failed(response, fromTransport(error))
  }
  const onCall = (call: ClientRequest, _: IncomingMessage, response: ServerResponse) => {
    endWith(call, response)
    waiting.get(response)?.(call)
  }
  const onAnswer = (answer: IncomingMessage, _: IncomingMessage, response: ServerResponse) => {
    const problem = carryAnswer(answer, response)
    if (problem !== undefined) failed(response, unrelayable('v2', problem), BAD_GATEWAY)
  }
  proxy.on('error', careful(onError) as never)
  proxy.on('proxyReq', careful(onCall))
  proxy.on('proxyRes', careful(onAnswer))
  return {
    web(request, response, connected) {
      prepare(request)
      waiting.set(response, (call) => {
        const { socket } = call
        // Without a listener Node ends the connection and tells nobody.
        call.once('upgrade', (_, switched) => {
          switched.destroy()
          failed(response, unrelayable('v2', 'its status 101, which nobody asked for'), BAD_GATEWAY)
        })
        if (socket?.connecting) socket.once('connect', connected)
        else connected()
      })
      try {
        proxy.web(request, response)
      } catch (cause) {
        // HTTP/2 takes more into a path than HTTP/1.1 does.
        failed(response, new ApiError('INVALID_ARGUMENT', 'the request cannot be written as HTTP/1.1', { cause }))
      }
    },
    shakeHands(request, response, switched) {
      const onUpgrade = (answer: IncomingMessage, socket: Socket, head: Buffer) => {
        const protocol = answer.headers.upgrade?.toLowerCase()
        if (protocol === 'websocket') return switched(answer, socket, head)
        socket.destroy()
        failed(response, unrelayable('v2', `its protocol ${protocol}`), BAD_GATEWAY)
      }
      const thrown = (_: unknown, __: IncomingMessage, socket: Socket) => {
        socket.destroy()
        response.destroy()
      }
      prepare(request)
      Object.assign(request.headers, { connection: 'Upgrade', upgrade: 'websocket' })
      waiting.set(response, (call) => void call.once('upgrade', guarded(onUpgrade, thrown) as never))
      proxy.web(request, response, { agent: false, buffer: Readable.from([]) })
    },
    close: () => agent.destroy(),
  }
}

/** A call whose request is not whole when its answer is over will never be: its connection cannot be used again. */
function endWith(call: ClientRequest, response: ServerResponse): void {
  const end = () => {
    if (!call.writableFinished) call.destroy()
  }
  if (response.closed) call.destroy()
  else response.once('close', end)
}

/**
 * In place, because HTTP/2 requests read their target from their headers; http-proxy-3 leaves those aside (`:path`). How a body is framed
 * is said in our words, because a service may read another coding into the client's. Our own server has answered what the client expects.
 */
function prepare({ headers }: IncomingMessage): void {
  const isChunked = headers['transfer-encoding'] !== undefined
  const ends = endsHere(headers.connection)
  for (const name of Object.keys(headers)) if ((ends(name) && !name.startsWith(':')) || name === 'expect') delete headers[name]
  if (isChunked) headers['transfer-encoding'] = 'chunked'
}

/** http-proxy-3 would send such a body without its framing, so that it became the next request on the connection (design §6.3). */
export function isUnframable({ method, headers }: IncomingMessage): boolean {
  return (method === 'DELETE' || method === 'OPTIONS') && headers['content-length'] === undefined && 'transfer-encoding' in headers
}

/** The answer as v2 sent it, or what of its head nobody could be given; when v2 breaks off, so do we. */
function carryAnswer(answer: IncomingMessage, response: ServerResponse): string | undefined {
  response.sendDate = false
  const { statusCode: status = 0, statusMessage: reason = '' } = answer
  const refused = giveHead(response, { status, reason, headers: endToEndRaw(answer.rawHeaders) })
  if (refused) answer.destroy()
  else pipeline(answer, response, () => {})
  return refused?.problem
}
