import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'

/**
 * Connections to a service that are kept for the next request, `connections` of them at most; further requests wait. A service that says
 * anything on a connection while nobody asks has lost its place: what it says would be taken for the answer to the next request.
 */
export function createAgent(base: string, connections: number): http.Agent {
  const settings = { keepAlive: true, maxSockets: connections }
  const agent = base.startsWith('https:') ? new https.Agent(settings) : new http.Agent(settings)
  const { keepSocketAlive, reuseSocket } = agent as unknown as Keeping
  return Object.assign<http.Agent, Keeping>(agent, {
    keepSocketAlive(socket) {
      socket.on('data', unasked)
      return keepSocketAlive.call(agent, socket)
    },
    reuseSocket(socket, request) {
      socket.off('data', unasked)
      reuseSocket.call(agent, socket, request)
    },
  })
}

/** What an agent may be given of one's own (Node's documentation of `http.Agent`); the types leave it out. */
interface Keeping {
  keepSocketAlive(socket: Duplex): boolean
  reuseSocket(socket: Duplex, request: http.ClientRequest): void
}

function unasked(this: Duplex): void {
  this.destroy()
}
