import net, { type Socket } from 'node:net'
import type { Fault } from '../fault.ts'
import { type Behaviour, inWorld, serving, type World } from '../world.ts'

const HEAD = 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n'
const WRITE = `POST /iam/v1/groups/${'a'.repeat(40)} HTTP/1.1\r\nhost: x\r\ncontent-length: 12\r\n\r\n`

function connect({ proxy }: World, then: (socket: Socket) => void): Socket {
  const { hostname, port } = new URL(proxy.url)
  const socket = net.connect(Number(port), hostname, () => then(socket))
  socket.on('error', () => {})
  return socket
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

/** A list without end, 200 rows a page. */
const endless: Behaviour = (request, response) => {
  const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '0')
  const groups = Array.from({ length: 200 }, (_, row) => ({ uid: String(at * 200 + row).padStart(40, '0') }))
  response.end(JSON.stringify({ groups, nextPageToken: String(at + 1) }))
}

/** A service that answers nothing. `arrived` resolves with a request, `ended` when its connection is gone. */
function holding() {
  let ended = Promise.resolve()
  let tell = () => {}
  const arrived = new Promise<void>((resolve) => {
    tell = resolve
  })
  const behaviour: Behaviour = ({ socket }) => {
    ended = closed(socket)
    tell()
  }
  return { behaviour, arrived, ended: () => ended }
}

export const goneFaults: readonly Fault[] = [
  {
    name: 'gone in its headers',
    expected: '0 passed on',
    see: () =>
      inWorld(serving(3), {}, async (world) => {
        await closed(connect(world, (socket) => socket.resume().end(HEAD.slice(0, 20))))
        return `${world.upstream.seen.length} passed on`
      }),
  },
  {
    name: 'gone in its body',
    expected: '0 passed on, logged as 499',
    see: () =>
      inWorld(serving(3), {}, async (world) => {
        connect(world, (socket) => socket.write(`${WRITE}{"na`, () => socket.destroy()))
        const { status } = await world.proxy.logged(() => true)
        return `${world.upstream.seen.length} passed on, logged as ${status}`
      }),
  },
  ...[HEAD, `${WRITE}{"name":"x"}`].map((bytes): Fault => {
    const { behaviour, arrived, ended } = holding()
    return {
      name: `gone before the answer of a ${bytes.slice(0, 4).trim()}`,
      expected: '1 passed on and cancelled, logged as 499',
      see: () =>
        inWorld(behaviour, {}, async (world) => {
          const socket = connect(world, () => socket.write(bytes))
          await arrived
          socket.destroy()
          await ended()
          const { status } = await world.proxy.logged(() => true)
          return `${world.upstream.seen.length} passed on and cancelled, logged as ${status}`
        }),
    }
  }),
  {
    name: 'gone in the answer',
    expected: 'the list is no longer read, logged as 499',
    see: () =>
      inWorld(endless, { 'limits.bufferedRows': 0 }, async (world) => {
        const socket = connect(world, () => socket.write(HEAD))
        socket.once('data', () => socket.destroy())
        const { status, calls } = await world.proxy.logged(() => true)
        return `${world.upstream.seen.length <= Number(calls) ? 'the list is no longer read' : 'the list is read on'}, logged as ${status}`
      }),
  },
  {
    name: 'a slow reader',
    expected: 'fewer than 300 pages are read ahead, ended by its deadline, logged as 504',
    see: () =>
      inWorld(endless, { 'limits.bufferedRows': 0, 'limits.deadlineMs': 1500 }, async (world) => {
        const socket = connect(world, () => socket.pause().write(HEAD))
        const { status } = await world.proxy.logged(() => true)
        const pages = world.upstream.seen.length
        socket.destroy()
        return `${pages < 300 ? 'fewer than 300' : pages} pages are read ahead, ended by its deadline, logged as ${status}`
      }),
  },
]
