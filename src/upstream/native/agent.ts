import http from 'node:http'
import https from 'node:https'
import type { Duplex } from 'node:stream'

/**
 * Keeps at most `connections` connections to a service; further requests wait.
 * A connection on which the service sends bytes without a request is closed: the bytes would be read as the answer to the next request.
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

/** Options and methods of an agent that Node documents (`http.Agent`) and its types omit. */
interface Keeping {
  keepSocketAlive(socket: Duplex): boolean
  reuseSocket(socket: Duplex, request: http.ClientRequest): void
}

function unasked(this: Duplex): void {
  this.destroy()
}
