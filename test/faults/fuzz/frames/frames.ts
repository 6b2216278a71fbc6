import type { Socket } from 'node:net'
import { setTimeout as delay, setImmediate } from 'node:timers/promises'
import { bytesOf, FLAG, frame, readFrames, TYPE } from '../../frames.ts'
import { dial } from '../../wire.ts'
import type { Prey } from '../prey.ts'
import { drawSequence, type SequenceCase } from './draw.ts'

const PING = Buffer.from('are you?')

/** Milliseconds that a client stays after its frames have been read, so that answers arrive. */
const LINGER = 20

/** Sequences of frames, each sent twice: one write for every frame, and one write for all. */
export const sequences: Prey<SequenceCase> = {
  name: 'frames',
  draw: drawSequence,
  show: ({ parts, ends }) => `${parts.map((part) => `  ${part.toString('hex')}`).join('\n')}\n  ${ends}`,
  players: ({ url }, count) =>
    Array.from({ length: count }, () => ({
      async play({ parts, ends }) {
        await send(url(), parts, ends)
        await send(url(), [Buffer.concat(parts)], ends)
        return undefined
      },
      close() {},
    })),
}

/** Resolves when either side has closed the connection. */
export async function send(url: string, writes: readonly Buffer[], ends: SequenceCase['ends']): Promise<void> {
  const socket = dial(url, 'h2')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const { answered, dismissed } = listen(socket)
  socket.on('error', () => {})
  for (const bytes of writes) {
    if (socket.destroyed) break
    socket.write(bytes)
    await setImmediate()
  }
  if (ends === 'ping' || ends === 'linger') {
    socket.write(bytesOf(frame(TYPE.PING, 0, 0, PING)))
    await Promise.race([answered, dismissed, closed])
    if (ends === 'linger') await Promise.race([delay(LINGER), closed])
    socket.destroy()
  } else if (ends === 'fin') {
    socket.end()
    await Promise.race([dismissed, closed])
    socket.destroy()
  } else socket.resetAndDestroy()
  await closed
}

/**
 * Resolves when the server has answered our ping and so has read everything before it, or when it has told us to leave.
 * The latter counts as its end of the connection: after an error, some versions of Node wait for ours.
 */
function listen(socket: Socket): { readonly answered: Promise<void>; readonly dismissed: Promise<void> } {
  const [answered, dismissed] = [deferred(), deferred()]
  let received: Buffer = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    const { frames, rest } = readFrames(Buffer.concat([received, bytes]))
    received = rest
    if (frames.some(({ type, flags, payload }) => type === TYPE.PING && (flags & FLAG.ACK) !== 0 && payload.equals(PING)))
      answered.resolve()
    if (frames.some(({ type }) => type === TYPE.GOAWAY)) dismissed.resolve()
  })
  return { answered: answered.promise, dismissed: dismissed.promise }
}

function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
