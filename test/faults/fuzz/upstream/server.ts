import net, { type AddressInfo, type Socket } from 'node:net'
import { PREFACE } from '../../frames.ts'
import { serve1 } from './http1.ts'
import { serve2 } from './http2.ts'
import { type Connection, EVIL_KEY, keyOf, keysIn, numberOf, type Script } from './script.ts'

/** A server in the place of v2 and v1 that answers every request as its case says, byte for byte. */
export interface ScriptedUpstream {
  readonly url: string
  /** Answers the requests of `key` with a script. */
  play(key: string, script: Script): void
  forget(key: string): void
  /** Returns a key that no request has had. */
  newKey(): string
  /**
   * Returns a known key in the text that is not in `own`.
   * An extra answer may be part of an answer to one of `own`: a body without an end runs into it.
   */
  foreignIn(text: string, own: readonly string[]): string | undefined
  /** Ends idle connections; returns the number of the remaining ones. */
  endIdle(): number
  /** Breaks every connection. */
  cut(): void
  close(): Promise<void>
}

/** `seen` gets the head of every request over HTTP/1.1. */
export async function startScripted(seen: (head: string) => void = () => {}): Promise<ScriptedUpstream> {
  const scripts = new Map<string, Script>()
  const connections = new Map<Socket, Connection | undefined>()
  let keys = 0
  const server = net.createServer({ noDelay: true }, (socket) => {
    connections.set(socket, undefined)
    socket.on('error', () => {})
    socket.once('close', () => connections.delete(socket))
    socket.once('data', (first) => {
      const isHttp2 = first[0] === PREFACE[0] && first.subarray(0, 3).equals(PREFACE.subarray(0, 3))
      const scriptOf = (key: string) => scripts.get(key)
      connections.set(socket, isHttp2 ? serve2(socket, first, scriptOf) : serve1(socket, first, scriptOf, seen))
    })
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve))
  const cut = () => {
    for (const socket of connections.keys()) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play: (key, script) => scripts.set(key, script),
    forget: (key) => scripts.delete(key),
    newKey() {
      keys += 1
      return keyOf(keys)
    },
    foreignIn(text, own) {
      const found = keysIn(text)
      const isOwn = found.some((key) => own.includes(key))
      const isIssued = (nth: number) => nth > 0 && nth <= keys
      const isKnown = (key: string) => (key === EVIL_KEY ? !isOwn : isIssued(numberOf(key) ?? 0))
      return found.find((key) => isKnown(key) && !own.includes(key))
    },
    endIdle() {
      for (const [socket, connection] of connections) if (!connection?.isBusy()) socket.end()
      return connections.size
    },
    cut,
    close() {
      cut()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
