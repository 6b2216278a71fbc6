import type { Socket } from 'node:net'

/** Only the method that opens an HTTP/2 connection begins like this (RFC 9113 §3.4). */
const PREFACE = Buffer.from('PRI')

/**
 * Detects HTTP/2 by the first bytes of a connection and puts them back.
 * A connection that ends or breaks earlier, or is silent for `patienceMs` milliseconds, is destroyed.
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
