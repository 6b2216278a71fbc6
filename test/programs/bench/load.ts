import net, { type Socket } from 'node:net'

/** The result of a load. */
export interface Load {
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

export interface LoadOptions {
  readonly url: string
  readonly path: string
  readonly connections: number
  readonly ms: number
  /** Milliseconds between two requests of one client. By default, one follows the other at once. */
  readonly every?: number
}

/**
 * Keeps `connections` clients busy for `ms` milliseconds, each with one request at a time. Throws if an answer is not a 200.
 * Each client is a caller of its own, so that no proxy gains by answering several with one call.
 * It uses bare sockets: a full HTTP client would need more time for a request than the proxies.
 */
export async function load({ url, path, connections, ms, every = 0 }: LoadOptions): Promise<Load> {
  const latencies: number[] = []
  const started = performance.now()
  const until = started + ms
  await Promise.all(
    Array.from({ length: connections }, (_, caller) => client({ url, request: head(path, caller), until, every }, latencies)),
  )
  const seconds = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  return { perSecond: latencies.length / seconds, p50: at(latencies, 0.5), p99: at(latencies, 0.99) }
}

function head(path: string, caller: number): string {
  return `GET ${path} HTTP/1.1\r\nhost: bench\r\naccept: application/json\r\nauthorization: Bearer caller-${caller}\r\n\r\n`
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

interface Client {
  readonly url: string
  readonly request: string
  readonly until: number
  readonly every: number
}

function client({ url, request, until, every }: Client, latencies: number[]): Promise<void> {
  const { hostname, port } = new URL(url)
  const asked = Buffer.from(request)
  return new Promise((resolve, reject) => {
    const socket: Socket = net.connect(Number(port), hostname)
    const answer = createAnswer()
    let sent = 0
    const ask = () => {
      sent = performance.now()
      socket.write(asked)
    }
    socket.setNoDelay(true)
    socket.once('connect', ask)
    socket.on('data', (bytes: Buffer) => {
      if (!answer.add(bytes)) return
      const now = performance.now()
      latencies.push(now - sent)
      const rest = sent + every - now
      if (now < until) rest > 0 ? setTimeout(ask, rest) : ask()
      else socket.end(() => resolve())
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`${url} closed a connection under load`)))
  })
}

const HEAD_END = Buffer.from('\r\n\r\n')
const LAST_CHUNK = Buffer.from('0\r\n\r\n')

/** Finds the ends of answers in the bytes of a connection. `add` returns true when one is complete. */
function createAnswer() {
  /** Bytes of the body still to come. undefined: the head is incomplete; -1: chunked. */
  let left: number | undefined
  let start: Buffer = Buffer.alloc(0)
  const readHead = (bytes: Buffer) => {
    start = start.length === 0 ? bytes : Buffer.concat([start, bytes])
    const end = start.indexOf(HEAD_END)
    if (end < 0) return
    const text = start.toString('latin1', 0, end).toLowerCase()
    if (!text.startsWith('http/1.1 200')) throw new Error(`the answer under load is ${start.toString('latin1', 0, 300)}`)
    const length = /content-length: (\d+)/.exec(text)?.[1]
    left = length === undefined ? -1 : Number(length) - (start.length - end - HEAD_END.length)
  }
  return {
    add(bytes: Buffer): boolean {
      if (left === undefined) readHead(bytes)
      else if (left > 0) left -= bytes.length
      const complete = left === 0 || (left === -1 && bytes.subarray(-LAST_CHUNK.length).equals(LAST_CHUNK))
      if (complete) {
        left = undefined
        start = Buffer.alloc(0)
      }
      return complete
    },
  }
}
