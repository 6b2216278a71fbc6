import type { Server } from 'node:http'
import type { Http2Server } from 'node:http2'
import type { Socket } from 'node:net'

/** No request of HTTP/1.1 begins like a connection of HTTP/2 (RFC 9113 §3.4). */
const PREFACE = 'PRI'

/** Reads until the first bytes tell the protocol, and puts them back. */
const isHttp2 = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    let seen: Buffer = Buffer.alloc(0)
    const look = (): void => {
      seen = Buffer.concat([seen, socket.read() ?? Buffer.alloc(0)])
      const begun = seen.toString('latin1', 0, PREFACE.length)
      if (begun.length < PREFACE.length && PREFACE.startsWith(begun)) return
      socket.off('readable', look)
      socket.unshift(seen)
      resolve(begun === PREFACE)
    }
    socket.on('readable', look)
  })

/**
 * Lets an HTTP/1.1 server share its port with an HTTP/2 server, which `open` makes at the first connection that asks for one. `closing`
 * ends the connections that the HTTP/1.1 server does not know.
 */
export const shareWithHttp2 = (server: Server, closing: AbortSignal, open: () => Promise<Http2Server>): Server => {
  const serveHttp1 = server.listeners('connection') as ((socket: Socket) => void)[]
  const mine = new Set<Socket>()
  let opened: Promise<Http2Server> | undefined
  const sort = async (socket: Socket): Promise<void> => {
    const lost = (): void => void socket.destroy()
    mine.add(socket)
    socket
      .once('close', () => mine.delete(socket))
      .on('error', lost)
      .once('end', lost)
    const other = await isHttp2(socket)
    opened ??= other ? open() : undefined
    const http2 = other ? await opened : undefined
    socket.off('error', lost).off('end', lost)
    if (socket.destroyed) return
    if (http2) return void http2.emit('connection', socket)
    mine.delete(socket)
    for (const listener of serveHttp1) listener.call(server, socket)
  }
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => void sort(socket))
  closing.addEventListener('abort', () => {
    for (const socket of mine) socket.destroy()
  })
  return server
}
