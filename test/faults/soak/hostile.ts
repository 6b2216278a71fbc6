import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import { bytesOf, type FieldLine, frame, headers, PREFACE, TYPE, uint32 } from '../frames.ts'

/** Hostile clients; each act ends by itself within a few seconds. */
export interface Hostile {
  /** Never rejects. */
  act(): Promise<void>
  /** The number of acts so far, by kind. */
  readonly acts: Readonly<Record<string, number>>
}

/** Milliseconds for which an act holds its connection. */
const HOLDS = 2000

const get = (path: string, lines = '') => `GET ${path} HTTP/1.1\r\nhost: x\r\n${lines}\r\n`
const UPGRADE = 'connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n'
const H2C = 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n'

/** The path that the service answers before it has read the body. */
export const EARLY = '/early'

/** The beginning of a forged token, which no service accepts. */
export const FORGED = 'Bearer e30.'

type Act = (url: string, random: () => number) => Promise<void>

const ACTS: Readonly<Record<string, Act>> = {
  /** Requests a lot and reads nothing. */
  'slow readers': (url) => connected(url, (socket) => void socket.pause().write(get('/iam/v1/groups').repeat(20))),
  'no window': noWindow,
  'early answers': (url, random) =>
    connected(url, (socket) => {
      const path = random() < 0.5 ? EARLY : '/iam/v1/nothing'
      socket.resume().write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\npart`)
      if (random() < 0.5) socket.once('data', () => socket.destroy())
    }),
  'broken upgrades': (url, random) =>
    connected(url, (socket) => {
      const broken = [
        get('/socket', `${UPGRADE}content-length: 30\r\n`),
        get('/socket', `${UPGRADE}transfer-encoding: chunked\r\n`),
        get('/iam/v1/groups') + get('/socket', UPGRADE) + get('/iam/v1/groups'),
        get('/iam/v1/groups', H2C).repeat(5),
        get('/socket', UPGRADE).slice(0, -4),
      ]
      socket.resume().write(broken[Math.floor(random() * broken.length)] ?? '')
      if (random() < 0.5) setImmediate(() => socket.resetAndDestroy())
    }),
  'forged tokens': (url, random) =>
    connected(url, (socket) => {
      const claims = Buffer.from(JSON.stringify({ sub: `stranger-${random()}` })).toString('base64url')
      const path = random() < 0.5 ? '/iam/v1/groups?limit=abc' : '/registry/v1/vuln_reports'
      socket.resume().write(get(path, `authorization: ${FORGED}${claims}.\r\nconnection: close\r\n`))
    }),
  'a reset in the packet of its request': (url) => connected(url, (socket) => void socket.resume().write(RESET)),
}

/** Performs one hostile act after the other, each kind equally often. */
export function createHostile(url: string, random: () => number): Hostile {
  const acts: Record<string, number> = {}
  const kinds = Object.entries(ACTS)
  return {
    acts,
    async act() {
      const [kind, does] = kinds[Math.floor(random() * kinds.length)] as [string, Act]
      acts[kind] = (acts[kind] ?? 0) + 1
      await does(url, random)
    },
  }
}

/** Opens a connection and sends something. Ends it when the server closes it or the time to hold is over. */
function connected(url: string, speak: (socket: Socket) => void): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    const socket = net.connect(Number(port), hostname, () => speak(socket))
    const timer = setTimeout(() => socket.destroy(), HOLDS)
    socket.on('error', () => {})
    socket.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const STREAMS = 5

function noWindow(url: string): Promise<void> {
  return new Promise((resolve) => {
    const session = http2.connect(url, { settings: { initialWindowSize: 0 } })
    const timer = setTimeout(() => session.destroy(), HOLDS)
    session.on('error', () => {})
    session.once('remoteSettings', () => {
      for (let at = 0; at < STREAMS; at += 1) session.request({ ':path': '/iam/v1/groups' }).on('error', () => {})
    })
    session.once('close', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

const CALL: readonly FieldLine[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/test.Echo/Unary'],
  [':authority', 'x'],
  ['content-type', 'application/grpc'],
]
const CANCEL = 8

/** The head of a gRPC call and its reset: one write, one packet. */
const RESET = Buffer.concat([
  PREFACE,
  ...[frame(TYPE.SETTINGS, 0, 0), headers(1, CALL), frame(TYPE.RST_STREAM, 0, 1, uint32(CANCEL))].map(bytesOf),
])
