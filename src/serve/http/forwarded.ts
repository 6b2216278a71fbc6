import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP, isIPv4, isIPv6, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { ApiError } from '../../errors.ts'
import { namedBy } from '../heads.ts'

/** Returns the peer's address in the form that is compared and written: no IPv4 in IPv6, no zone. */
export function peerOf(remoteAddress: string | undefined): string {
  return (remoteAddress ?? 'unknown').replace(/^::ffff:(?=[\d.]+$)/i, '').replace(/%.*/s, '')
}

/**
 * Returns the address in a node of a forwarding header:
 * `192.0.2.1`, `192.0.2.1:80`, `[2001:db8::1]:80` (RFC 7239 §6); undefined if it names none.
 */
export function addressIn(node: string): string | undefined {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(node)?.[1] ?? /^([\d.]+):\d+$/.exec(node)?.[1] ?? node
  return isIP(address) ? peerOf(address) : undefined
}

/**
 * Returns the hops that trusted proxies vouch for, from the client to our peer. A hop is believed only if the hop after it is trusted. So
 * the walk goes left from our peer and ends at the first untrusted address. That client wrote everything further left, which is discarded.
 */
export function vouchedHops(peer: string, claimed: readonly string[], isTrusted: IsTrusted): readonly string[] {
  const nearestFirst = [peer]
  for (const node of claimed.toReversed()) {
    const address = isTrusted(nearestFirst.at(-1) ?? '') ? addressIn(node) : undefined
    if (address === undefined) break
    nearestFirst.push(address)
  }
  return nearestFirst.reverse()
}

/** One proxy's entry in a `Forwarded` header: names in lower case, values without quotes. */
export type Element = ReadonlyMap<string, string>

/** One parameter and its end: `;` before another parameter of the element, `,` before the next element. */
const PARAMETER = /[ \t]*([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*))[ \t]*([;,]|$)/y

/** An empty element of a list (RFC 9110 §5.6.1.2). */
const EMPTY = /[ \t]*(?:,|$)/y

/** Parses the elements of a `Forwarded` header (RFC 7239 §4). A malformed one has none, because half of it could say anything. */
export function parseForwarded(text: string): readonly Element[] {
  const elements: Map<string, string>[] = []
  let element = new Map<string, string>()
  for (let at = 0; at < text.length; ) {
    EMPTY.lastIndex = at
    if (element.size === 0 && EMPTY.test(text)) {
      at = EMPTY.lastIndex
      continue
    }
    PARAMETER.lastIndex = at
    const [whole, name = '', quoted, token = '', end] = PARAMETER.exec(text) ?? []
    if (whole === undefined) return []
    element.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? token)
    at += whole.length
    if (end === ';') continue
    elements.push(element)
    element = new Map()
  }
  return elements
}

/** Writes parameters as one element; values that are no tokens are quoted. */
export function elementText(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}=${/^[\w!#$%&'*+.^`|~-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`}`)
    .join(';')
}

type IsTrusted = (address: string) => boolean

/**
 * Returns a test whether an address is in one of these networks, which are valid. Without any, no address is trusted. A colon tells IPv6:
 * compiling the expression by which Node tells it takes 4 ms of each start.
 */
export function createTrust(networks: readonly string[]): IsTrusted {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', prefix] = network.split('/')
    const family = address.includes(':') ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (address) => (isIPv4(address) ? list.check(address, 'ipv4') : isIPv6(address) && list.check(address, 'ipv6'))
}

/** True if only this machine can reach the address. */
export const isLoopback: IsTrusted = createTrust(['127.0.0.0/8', '::1'])

interface ForwardedSettings {
  /** Addresses and networks of trusted proxies in front of us. */
  readonly trusted: readonly string[]
  /** The headers that those proxies write. Only these are read: the proxies pass the others on as the client wrote them. */
  readonly header: 'x-forwarded' | 'forwarded'
}

type Arrived = Pick<IncomingMessage, 'headers' | 'socket'>

export interface Forwarded {
  /** Returns the address of the client. */
  clientOf(request: Arrived): string
  /**
   * Corrects the forwarding headers of a request in place. Every carrier that copies them calls this first.
   * What an untrusted peer claims is replaced by what we see; what a trusted peer says is kept and extended.
   * Headers that the client's `Connection` names are dropped first, because it could name the ones written here.
   */
  rewrite(request: Arrived): void
}

export function createForwarded({ trusted, header }: ForwardedSettings): Forwarded {
  const isTrusted = createTrust(trusted)
  const { read, write } = HEADER_FAMILIES[header]
  const connectionOf = createConnections(isTrusted)
  const wayOf = ({ headers, socket }: Arrived) => {
    const { peer, isProxy } = (socket as Known)[CONNECTION] ?? connectionOf(socket)
    const claim = isProxy ? read(headers) : NO_CLAIM
    return { claim, hops: vouchedHops(peer, claim.hops, isTrusted) }
  }
  return {
    clientOf(request) {
      const { peer, isProxy } = (request.socket as Known)[CONNECTION] ?? connectionOf(request.socket)
      return isProxy ? (wayOf(request).hops[0] ?? peer) : peer
    },
    rewrite(request) {
      const { headers, socket } = request
      const { claim, hops } = wayOf(request)
      dropNamed(headers)
      const depth = hops.length - 1
      const proto = vouchedValue(claim.protos, depth, PROTO) ?? ((socket as TLSSocket).encrypted ? 'https' : 'http')
      const host = vouchedValue(claim.hosts, depth, HOST) ?? headers.host
      drop(headers)
      Object.assign(headers, write(hops, proto.toLowerCase(), host))
    },
  }
}

/** The peer of a connection, and whether it is a trusted proxy. */
interface Connection {
  readonly peer: string
  readonly isProxy: boolean
}

const CONNECTION = Symbol('connection')

type Known = Socket & { [CONNECTION]?: Connection }

/** Examines a connection once, not at every request: its peer does not change. */
function createConnections(isTrusted: IsTrusted): (socket: Socket) => Connection {
  return (socket) => {
    const known: Known = socket
    if (!known[CONNECTION]) {
      const peer = peerOf(socket.remoteAddress)
      known[CONNECTION] = { peer, isProxy: isTrusted(peer) }
    }
    return known[CONNECTION]
  }
}

const PROTO = /^(https?|wss?)$/i
const HOST = /^[\w.~:[\]-]{1,255}$/

/** The claims of the proxies in front, in their order. */
interface Claim {
  readonly hops: readonly string[]
  readonly protos: readonly string[]
  readonly hosts: readonly string[]
}

const NO_CLAIM: Claim = { hops: [], protos: [], hosts: [] }

/**
 * Returns the value from the proxy that talked to the client. Its position from the right is that of the client, or it is the only value.
 * Our peer talked to the client if it names no address.
 */
function vouchedValue(values: readonly string[], depth: number, valid: RegExp): string | undefined {
  const value = values.at(-Math.min(Math.max(depth, 1), values.length))
  return value !== undefined && valid.test(value) ? value : undefined
}

interface Family {
  read(headers: IncomingHttpHeaders): Claim
  write(hops: readonly string[], proto: string, host: string | undefined): Record<string, string>
}

const HEADER_FAMILIES: Readonly<Record<ForwardedSettings['header'], Family>> = {
  'x-forwarded': {
    read: (headers) => ({
      hops: list(headers['x-forwarded-for']),
      protos: list(headers['x-forwarded-proto']),
      hosts: list(headers['x-forwarded-host']),
    }),
    write: (hops, proto, host) => ({
      'x-forwarded-for': hops.join(', '),
      'x-forwarded-proto': proto,
      ...(host !== undefined && { 'x-forwarded-host': host }),
    }),
  },
  forwarded: {
    read(headers) {
      const elements = parseForwarded(headers.forwarded ?? '')
      const all = (name: string) => elements.map((element) => element.get(name) ?? '')
      return { hops: all('for'), protos: all('proto'), hosts: all('host') }
    },
    write: ([client = '', ...others], proto, host) => ({
      forwarded: [elementText({ for: nodeOf(client), ...(host !== undefined && { host }), proto })]
        .concat(others.map((hop) => elementText({ for: nodeOf(hop) })))
        .join(', '),
    }),
  },
}

/** Node joins repeated headers with commas, but its types allow arrays. Empty elements count as absent (RFC 9110 §5.6.1.2). */
function list(value: string | readonly string[] | undefined): readonly string[] {
  const text = typeof value === 'string' ? value : (value ?? []).join(',')
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

function nodeOf(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}

/** The headers that a client's `Connection` names are for us alone (RFC 9110 §7.6.1). Afterwards it has nothing left to name. */
function dropNamed(headers: IncomingHttpHeaders): void {
  if (headers.connection === undefined) return
  for (const name of namedBy(headers.connection)) delete headers[name]
  delete headers.connection
}

function drop(headers: IncomingHttpHeaders): void {
  for (const name of Object.keys(headers)) {
    if (name === 'forwarded' || name === 'x-real-ip' || name.startsWith('x-forwarded-')) delete headers[name]
  }
}

/** The status of a request in a loop (RFC 5842 §7.2). */
export const LOOP_DETECTED = 508

const HEADER = 'cdn-loop'
const NAME = 'crosswalk-'

/** Marks a request that Crosswalk sends for itself, so that no admin port obeys it. */
export const FROM_CROSSWALK = { [HEADER]: `${NAME}notify` } as const

/**
 * Detects requests that have come back. `enter` returns the error of a request that has passed through here before. It marks every other
 * request, in place: with a random word of this process in `CDN-Loop` (RFC 8586).
 * `Via` has side effects: nginx, for example, stops compressing its answers. Every carrier of requests passes this header on.
 */
export function createLoopGuard() {
  const mark = NAME + randomBytes(9).toString('base64url')
  return {
    enter(headers: IncomingHttpHeaders): ApiError | undefined {
      const passed = headers[HEADER]
      if (passed?.includes(mark)) {
        return new ApiError('INTERNAL', 'this request has passed through here before: upstream.v2 or upstream.v1 leads back to this proxy')
      }
      headers[HEADER] = passed === undefined ? mark : `${passed}, ${mark}`
      return undefined
    },
  }
}

/** True if a request has passed through any Crosswalk. */
export function hasPassed({ [HEADER]: passed }: IncomingHttpHeaders): boolean {
  return passed?.includes(NAME) ?? false
}
