import http2, { type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'

/**
 * The least that a relay of gRPC costs with Node's HTTP/2: `node bare-relay.js <service>`. It passes headers, data and trailers on. It has no
 * limits, log, metrics or errors, and a call that breaks off hangs.
 */
const [service = ''] = process.argv.slice(2)
const { host } = new URL(service)

/** Bytes, as Crosswalk has them. */
const WINDOW = 256 * 1024
const CONNECTION_WINDOW = 16 * 1024 * 1024

const session = http2.connect(service, { settings: { initialWindowSize: WINDOW, enablePush: false } })
session.once('connect', () => session.setLocalWindowSize(CONNECTION_WINDOW))

/** The date is the service's to send. */
const BEGUN = { waitForTrailers: true, sendDate: false }

function flow(from: Duplex, to: Duplex): void {
  from.on('data', (piece: Buffer) => {
    if (to.destroyed || to.write(piece)) return
    from.pause()
    to.once('drain', () => from.resume())
  })
}

function relay(client: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  headers[':authority'] = host
  const call: ClientHttp2Stream = session.request(headers)
  let last: OutgoingHttpHeaders = {}
  flow(client, call)
  client.on('end', () => call.end())
  call.on('response', (head) => {
    client.respond(head, BEGUN)
    flow(call, client)
  })
  call.on('trailers', (trailers) => {
    last = trailers
  })
  call.on('end', () => client.end())
  client.on('wantTrailers', () => client.sendTrailers(last))
}

const server = http2.createServer({ settings: { initialWindowSize: WINDOW } })
server.on('stream', relay)
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
