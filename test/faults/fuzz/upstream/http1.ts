import type { Socket } from 'node:net'
import { readBody } from '../../wire.ts'
import { type Connection, keyIn, NO_KEY, type Script1, type ScriptOf } from './script.ts'

interface Request {
  readonly head: string
  readonly isWhole: boolean
  /** The bytes of the request so far. */
  readonly length: number
}

/** Returns the request at the beginning of a text once its head is complete. */
function requestIn(text: string): Request | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end + 4)
  const headers = new Map(
    head.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  if (!headers.has('content-length') && !headers.has('transfer-encoding')) return { head, isWhole: true, length: end + 4 }
  const { broken, length } = readBody(headers, text.slice(end + 4), false)
  return { head, isWhole: !broken, length: end + 4 + length }
}

/** Answers the requests of one connection as their scripts say; `seen` gets the head of each. */
export function serve1(socket: Socket, first: Buffer, scriptOf: ScriptOf, seen: (head: string) => void): Connection {
  let received = ''
  let answered = false
  let isWriting = false
  let isTunnel = false

  /** A request is answered first and removed when it is complete. */
  const next = () => {
    const request = isWriting || isTunnel ? undefined : requestIn(received)
    if (!request) return
    const key = keyIn(request.head)
    const script = (scriptOf(key ?? '') as Script1 | undefined) ?? answerTo(request.head, key ?? NO_KEY)
    if (!answered && script && (request.isWhole || script.early)) {
      answered = true
      isWriting = true
      seen(request.head)
      const done = () => {
        isWriting = false
        isTunnel =
          script.afterwards === 'keep' &&
          /\r\nupgrade:/i.test(request.head) &&
          script.pieces[0]?.subarray(0, 12).toString() === 'HTTP/1.1 101'
        next()
      }
      if (script.delayMs > 0) setTimeout(() => write(socket, script, done), script.delayMs)
      else write(socket, script, done)
      return
    }
    if (!request.isWhole || !answered) return
    received = received.slice(request.length)
    answered = false
    next()
  }
  const read = (bytes: Buffer) => {
    received += bytes.toString('latin1')
    next()
  }
  read(first)
  socket.on('data', read)
  return { isBusy: () => received !== '' || isWriting || isTunnel }
}

/** Ends the connection in a separate step: the last write must arrive first. */
function write(socket: Socket, script: Script1, done: () => void): void {
  const [piece, ...rest] = script.pieces
  if (piece && !socket.destroyed) {
    socket.write(piece)
    if (rest.length > 0) return void setImmediate(() => write(socket, { ...script, pieces: rest }, done))
  }
  if (script.afterwards === 'end') socket.end()
  if (script.afterwards === 'reset') setImmediate(() => socket.resetAndDestroy())
  done()
}

/** Milliseconds that `/slow` takes: longer than the requests after it. */
const SLOW = 20

const WELL = (text: string): Script1 => ({ pieces: [Buffer.from(text, 'latin1')], afterwards: 'keep', early: false, delayMs: 0 })

/**
 * Answers well, with the key of the request.
 * `/hang` gets no answer, `/slow` a late one, `/early` one before the body, a handshake a tunnel.
 */
function answerTo(head: string, key: string): Script1 | undefined {
  const target = head.slice(0, head.indexOf('\r\n'))
  if (target.includes('/hang')) return undefined
  if (/\r\nupgrade: *websocket/i.test(head)) {
    return WELL(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-case: ${key}\r\n\r\n${key}`)
  }
  const body = target.startsWith('HEAD') ? '' : bodyTo(target, key)
  const early = target.includes('/early')
  const fields = `content-type: application/json\r\nx-case: ${key}\r\ncontent-length: ${body.length}\r\n`
  const answer = WELL(`HTTP/1.1 ${early ? '401 No' : '200 OK'}\r\n${fields}\r\n${body}`)
  return { ...answer, early, delayMs: target.includes('/slow') ? SLOW : 0 }
}

/** A list of one row, in the form of v2 or v1. */
export function bodyTo(target: string, key: string): string {
  if (target.includes('/v1/')) return JSON.stringify({ items: [{ id: '0'.repeat(40), name: key }] })
  return JSON.stringify({ groups: [{ uid: '0'.repeat(40), name: key }], nextPageToken: '' })
}
