import type { Socket } from 'node:net'
import { buildConnector } from 'undici'

/** Bytes that a connection reads at once. */
const READ = 64 * 1024

/** Bytes of a piece that is copied; a longer one keeps the memory that it was read into. */
const SHORT = 4096

/** The piece that is being handed over, null once it has been taken; undefined at any other time. */
const PIECE = Symbol('piece')
type Handing = Socket & { [PIECE]?: Buffer | null | undefined }

/**
 * Connects as undici does; what arrives is handed over at once. A socket gives every piece 64 KiB of memory of its own, and to whoever reads
 * it a turn later; undici takes a piece as soon as it is told of one, and answers are short. What it does not take, because whoever reads
 * from it is slow, waits in the stream as ever and holds the other side back.
 */
export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, onread: createReading() })
  return (target, done) =>
    connect(target, (...made) => {
      if (made[1]) made[1].read = readerOf(made[1])
      done(...made)
    })
}

/** Node asks for memory when a socket is made, and again after each of its pieces. */
function createReading() {
  let next: Uint8Array | undefined
  const buffer = (): Uint8Array => {
    const memory = next ?? Buffer.allocUnsafeSlow(READ)
    next = undefined
    return memory
  }
  /** Called as a method of the socket. False: no more for now. */
  function callback(this: Handing, length: number, memory: Uint8Array): boolean {
    const arrived = Buffer.from(memory.buffer, memory.byteOffset, length)
    const isShort = length <= SHORT
    const piece = isShort ? Buffer.from(arrived) : arrived
    const goesOn = (this.readableLength === 0 && isTaken(this, piece)) || this.push(piece)
    if (isShort) next = memory
    return goesOn
  }
  return { buffer, callback }
}

function isTaken(socket: Handing, piece: Buffer): boolean {
  socket[PIECE] = piece
  socket.emit('readable')
  const taken = socket[PIECE] === null
  socket[PIECE] = undefined
  return taken
}

/** `read` of a socket; while a piece is handed over, that one and no more. */
function readerOf(socket: Handing): Socket['read'] {
  const { read } = socket
  return (size) => {
    const piece = socket[PIECE]
    if (piece === undefined) return read.call(socket, size)
    socket[PIECE] = null
    return piece
  }
}
