import http from 'node:http'
import https from 'node:https'
import { isIP, type OnReadOpts, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import tls from 'node:tls'
import type { Client } from 'undici'
import { buildConnector } from './undici.ts'

/** What proves a service to us, and what proves us to it, as PEM texts. */
export interface Identity {
  /** The authorities that may sign its certificate, in place of those that Node trusts. */
  readonly ca?: string
  readonly key?: string
  readonly cert?: string
}

/** What is proven to each service, by the origin of the service. */
export type Identities = ReadonlyMap<string, Identity>

interface DialSettings {
  readonly identities: Identities
  /** An HTTP proxy that all connections go through; it may have a user and a password. */
  readonly proxy?: string | undefined
  /** Names that are asked directly, with all names below them; `*` is every name. */
  readonly noProxy: readonly string[]
  /** Milliseconds until the proxy must have answered. */
  readonly connectTimeoutMs: number
}

/** How a connection to a service opens, whatever its protocol. */
export interface Dial {
  /** What is proven to the service at an origin. It is the same object until `identify`. */
  identityOf(origin: string): Identity
  /** Proves something else on connections from now on. */
  identify(identities: Identities): void
  /** Opens a way through the proxy to an origin; undefined if none is between. Rejects with what stopped it. */
  tunnel(origin: string): Promise<Socket> | undefined
}

const NOTHING: Identity = {}

export function createDial({ identities, proxy, noProxy, connectTimeoutMs }: DialSettings): Dial {
  let known = identities
  const through = proxy === undefined ? undefined : new URL(proxy)
  return {
    identityOf: (origin) => known.get(origin) ?? NOTHING,
    identify(others) {
      known = others
    },
    tunnel(origin) {
      const url = new URL(origin)
      return through && !isDirect(url.hostname, noProxy) ? openTunnel(through, url, connectTimeoutMs) : undefined
    },
  }
}

/** Opens every connection directly, and trusts whom Node trusts. */
export const DIRECT: Dial = createDial({ identities: new Map(), noProxy: [], connectTimeoutMs: 0 })

const THIS_MACHINE = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** True for a service on this machine, and for a name of the list. */
function isDirect(name: string, noProxy: readonly string[]): boolean {
  if (THIS_MACHINE.test(name)) return true
  const bare = name.replace(/^\[|\]$/g, '')
  return noProxy.some((entry) => {
    const own = entry.toLowerCase().replace(/^\*?\./, '')
    return own === '*' || own === bare || bare.endsWith(`.${own}`)
  })
}

const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** Asks the proxy for a connection by CONNECT (RFC 9110 §9.3.6), for `http:` too. Nothing of a request was sent if that fails. */
function openTunnel(proxy: URL, { hostname, protocol, port }: URL, timeoutMs: number): Promise<Socket> {
  const path = `${hostname}:${port || PORTS[protocol]}`
  const { username, password } = proxy
  const basic = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const headers = { host: path, ...(username + password !== '' && { 'proxy-authorization': `Basic ${basic}` }) }
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown) => reject(Object.assign(new Error(why, { cause }), { syscall: 'connect' }))
    const request = (proxy.protocol === 'https:' ? https : http).request({
      hostname: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || PORTS[proxy.protocol],
      method: 'CONNECT',
      path,
      headers,
      agent: false,
    })
    const late = setTimeout(() => request.destroy(new Error(`it did not answer within ${timeoutMs} ms`)), timeoutMs)
    request.once('close', () => clearTimeout(late))
    request.once('connect', ({ statusCode = 0 }, socket, head) => {
      clearTimeout(late)
      // A service of HTTP/2 speaks first.
      if (head.length > 0) socket.unshift(head)
      if (statusCode >= 200 && statusCode <= 299) return resolve(socket as Socket)
      socket.destroy()
      fail(`upstream.proxy answers HTTP ${statusCode} to a connection to ${path}`)
    })
    request.once('error', (error) => fail(`upstream.proxy gives no connection to ${path}: ${error.message}`, error))
    request.end()
  })
}

/** Opens TLS on a connection, as the options of `tls.connect` say. */
function secured(socket: Socket, options: tls.ConnectionOptions): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = tls.connect({ ...options, socket }, () => resolve(secure.off('error', reject)))
    secure.once('error', reject)
  })
}

/** The type of undici's own index: the parts have none in the package. */
export type Connect = Extract<Client.Options['connect'], (...asked: never[]) => unknown>

/** Returns how undici's clients connect. `timeout` and `onread` are those of undici; a tunnel cannot have the second. */
export function connectorOf(dial: Dial, { onread, timeout }: { readonly onread: OnReadOpts; readonly timeout: number }): Connect {
  const made = new WeakMap<Identity, { readonly direct: Connect; readonly inTunnel: Connect }>()
  const connectors = (identity: Identity) => {
    // A connector remembers sessions of TLS. Another identity must not resume them.
    const own = made.get(identity) ?? {
      direct: buildConnector({ ...identity, timeout, onread }),
      inTunnel: buildConnector({ ...identity, timeout }),
    }
    made.set(identity, own)
    return own
  }
  return (options, done) => {
    const origin = `${options.protocol}//${options.host}`
    const { direct, inTunnel } = connectors(dial.identityOf(origin))
    const tunnel = dial.tunnel(origin)
    if (tunnel === undefined) return direct(options, done)
    const isSecure = options.protocol === 'https:'
    const opened = (socket: Socket) => (isSecure ? inTunnel({ ...options, httpSocket: socket }, done) : done(null, socket))
    tunnel.then(opened, (error: Error) => done(error, null))
  }
}

/** Returns the options by which `http2.connect` connects. */
export function http2Options(dial: Dial, origin: string): Identity | { readonly createConnection: () => Duplex } {
  const tunnel = dial.tunnel(origin)
  if (tunnel === undefined) return dial.identityOf(origin)
  const { protocol, hostname } = new URL(origin)
  const servername = isIP(hostname.replace(/^\[|\]$/g, '')) ? '' : hostname
  const options = { ...dial.identityOf(origin), servername, host: hostname, ALPNProtocols: ['h2'] }
  const opened = protocol === 'https:' ? tunnel.then((socket) => secured(socket, options)) : tunnel
  return { createConnection: () => new Awaited(opened) }
}

/** A connection that is still opening, for a caller that wants one at once. */
class Awaited extends Duplex {
  readonly #opening: Promise<Duplex>
  #opened: Duplex | undefined

  constructor(opening: Promise<Duplex>) {
    super()
    this.#opening = opening
  }

  override _construct(done: (error?: Error) => void): void {
    const opened = (socket: Duplex) => {
      this.#opened = socket
      socket.on('data', (piece) => void (this.push(piece) || socket.pause()))
      socket.once('end', () => this.push(null))
      socket.once('error', (error) => this.destroy(error))
      // What came before the end is read first, as from any socket.
      socket.once('close', () => (socket.readableEnded && !this.readableEnded ? this.once('end', () => this.destroy()) : this.destroy()))
      done()
    }
    this.#opening.then(opened, done)
  }

  override _read(): void {
    this.#opened?.resume()
  }

  override _write(piece: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#opened?.write(piece, encoding, done)
  }

  override _final(done: () => void): void {
    this.#opened?.end(done)
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#opened?.destroy()
    done(error)
  }

  /** TCP probes the proxy, which is the other end. */
  setKeepAlive(isOn: boolean, after: number): void {
    if (this.#opened && 'setKeepAlive' in this.#opened) (this.#opened as Socket).setKeepAlive(isOn, after)
  }
}
