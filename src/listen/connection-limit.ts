import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/**
 * Closes connections beyond a maximum at once. node:cluster takes `maxConnections` for "ask another worker": while all are full, it passes
 * a connection from one to the next and back without end, at the cost of a core. (Node 22.12 has `dropMaxConnection` against that, Node 20
 * has nothing.) Call it when all other listeners of the server are there.
 */
export function limitConnections(server: Server, most: number, dropped: () => void): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  let open = 0
  server.on('connection', (socket: Socket) => {
    if (open >= most) {
      dropped()
      return void socket.destroy()
    }
    open += 1
    socket.once('close', () => {
      open -= 1
    })
    for (const listener of listeners) listener.call(server, socket)
  })
}
