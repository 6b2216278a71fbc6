import net, { type AddressInfo, type Socket } from 'node:net'
import { BEHAVIOURS, type Behaviour } from './behaviours.ts'
import { type Head, headerOf, type Reading, readRequest } from './reading.ts'
import { readCredential } from './tokens.ts'

/** A request as it arrived at the last server. */
export interface Entry {
  readonly head: Head
  readonly id: string
  /** The bytes so far. */
  body: string
  /** True if the whole request has arrived. */
  whole: boolean
  /** The previous request on the connection, if its answer was less or more than one well-framed answer. */
  readonly after: string | undefined
}

export interface Journal {
  readonly port: number
  readonly entries: readonly Entry[]
  /** Bytes that are no request, and what is odd about them. */
  readonly oddities: readonly Oddity[]
  close(): Promise<void>
}

export interface Oddity {
  readonly why: string
  readonly bytes: string
}

/** Starts the last server, which records exactly what it receives. The credential of a request determines its answer. */
export async function startJournal(): Promise<Journal> {
  const entries: Entry[] = []
  const oddities: Oddity[] = []
  const sockets = new Set<Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    listen(socket, entries, oddities)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    for (const socket of sockets) socket.destroy()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  }
  return { port: (server.address() as AddressInfo).port, entries, oddities, close }
}

/** Reads the requests of one connection one after the other. */
function listen(socket: Socket, entries: Entry[], oddities: Oddity[]): void {
  let rest = ''
  let entry: Entry | undefined
  let last: Behaviour['leaves'] = 'kept'
  let broken: string | undefined
  const arrived = (reading: Exclude<Reading, { kind: 'odd' }>) => {
    if (!reading.head) return
    const { behaviour, id } = readCredential(headerOf(reading.head, 'authorization'))
    const { at, says, leaves } = behaviourFor(behaviour, reading.head)
    const isNew = entry === undefined
    entry ??= { head: reading.head, id, body: '', whole: false, after: broken }
    entry.body = reading.body
    entry.whole = reading.kind === 'whole'
    if (isNew) entries.push(entry)
    if (isNew && at === 'body' && !entry.whole && expectsToContinue(reading.head)) socket.write(CONTINUE)
    if (at === 'head' ? isNew : entry.whole) {
      const answer = says(id)
      socket.write(
        reading.head.method === 'HEAD' && leaves !== 'broken' ? answer.slice(0, answer.lastIndexOf('\r\n\r\n') + 4) : answer,
        'latin1',
      )
      last = leaves
      if (leaves === 'broken') broken = id
      if (leaves === 'closed' || wantsClose(reading.head)) socket.end()
    }
    if (entry.whole) entry = undefined
  }
  socket.setEncoding('latin1').on('error', () => socket.destroy())
  socket.on('data', (piece: string) => {
    rest += piece
    while (rest !== '' && last !== 'tunnel') {
      const reading = readRequest(rest)
      if (reading.kind === 'odd') {
        oddities.push({ why: reading.why, bytes: rest.slice(0, 300) })
        return void socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      }
      arrived(reading)
      if (reading.kind === 'waits') return
      rest = rest.slice(reading.length)
    }
  })
}

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n'
const expectsToContinue = (head: Head) => headerOf(head, 'expect')?.toLowerCase() === '100-continue'

/** A tunnel needs a request for one. */
function behaviourFor(name: string, head: Head): Behaviour {
  const asked = name === 'switch' && headerOf(head, 'upgrade') === undefined ? 'ok' : name
  return BEHAVIOURS[asked] ?? (BEHAVIOURS['ok'] as Behaviour)
}

function wantsClose({ version, headers }: Head): boolean {
  const connection = headers.filter(([name]) => name === 'connection').map(([, value]) => value.toLowerCase())
  return (
    connection.some((value) => value.includes('close')) || (version === '1.0' && !connection.some((value) => value.includes('keep-alive')))
  )
}
