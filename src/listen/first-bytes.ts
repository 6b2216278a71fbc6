import type { Socket } from 'node:net'

/** No method but the one that opens an HTTP/2 connection begins like this (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI')

/**
 * Tells from the first bytes of a connection whether it speaks HTTP/2, once there are enough of them, and puts them back. A connection
 * that ends or breaks before that, or says nothing for `patienceMs` milliseconds, is destroyed.
 */
export function readFirstBytes(socket: Socket, patienceMs: number, decided: (isHttp2: boolean) => void): void {
  let seen: Buffer = Buffer.alloc(0)
  const giveUp = () => socket.destroy()
  const look = () => {
    seen = Buffer.concat([seen, socket.read() ?? Buffer.alloc(0)])
    const isPreface = PREFACE.subarray(0, seen.length).equals(seen.subarray(0, PREFACE.length))
    if (isPreface && seen.length < PREFACE.length) return
    socket.off('readable', look).off('end', giveUp).off('error', giveUp).off('timeout', giveUp)
    socket.setTimeout(0)
    socket.unshift(seen)
    decided(isPreface)
  }
  socket.on('readable', look).on('end', giveUp).on('error', giveUp).on('timeout', giveUp)
  socket.setTimeout(patienceMs)
}
