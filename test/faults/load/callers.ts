import net, { type Socket } from 'node:net'

/** The result of one request. */
export interface Outcome {
  /** 0 if the connection ended before an answer. */
  readonly status: number
  readonly ms: number
  readonly retryAfter: boolean
}

/** A client with a connection of its own that sends one request at a time. */
export interface Caller {
  ask(): Promise<Outcome>
  close(): void
}

/** Uses bare sockets: an HTTP client would need more time for a request than the proxy. Every caller has its own credential. */
export function createCaller(url: string, path: string, name: string): Caller {
  const { hostname, port } = new URL(url)
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nhost: load\r\nauthorization: Bearer ${name}\r\n\r\n`)
  let socket: Socket | undefined
  let received = ''
  let done = (_: number) => {}

  const connect = (): Socket => {
    const fresh = net.connect(Number(port), hostname)
    fresh.setNoDelay(true)
    fresh.setEncoding('latin1')
    fresh.on('data', (text: string) => {
      received += text
      const status = completeStatus(received)
      if (status !== undefined) done(status)
    })
    fresh.on('error', () => {})
    fresh.on('close', () => {
      socket = undefined
      done(0)
    })
    return fresh
  }
  return {
    ask() {
      socket ??= connect()
      received = ''
      const begun = performance.now()
      const asked = socket
      return new Promise((resolve) => {
        done = (status) => {
          done = () => {}
          resolve({ status, ms: performance.now() - begun, retryAfter: /\r\nretry-after: /i.test(received) })
        }
        asked.write(request)
      })
    },
    close: () => socket?.destroy(),
  }
}

/** Returns the status of a complete answer, with a known length or in chunks. */
function completeStatus(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  const complete = length === undefined ? text.endsWith('0\r\n\r\n') : text.length >= end + 4 + Number(length)
  return complete ? Number(head.slice(9, 12)) : undefined
}

/** As many callers as there are parallel requests; more are created when all are busy. */
export interface Callers {
  /** Sends a request with an idle caller. */
  ask(): Promise<Outcome>
  close(): void
}

export function createCallers(url: string, path: string): Callers {
  const all: Caller[] = []
  const idle: Caller[] = []
  return {
    async ask() {
      let caller = idle.pop()
      if (!caller) {
        caller = createCaller(url, path, `caller-${all.length}`)
        all.push(caller)
      }
      const outcome = await caller.ask()
      idle.push(caller)
      return outcome
    },
    close() {
      for (const caller of all) caller.close()
    },
  }
}
