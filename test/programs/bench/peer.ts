import http from 'node:http'
import type { AddressInfo } from 'node:net'
import proxy from '@fastify/http-proxy'
import Fastify from 'fastify'
import { createProxyServer } from 'http-proxy-3'
import { Agent } from 'undici'

/** A peer, a process of its own: `node peer.js <name> <upstream>`. All but the bare one pass everything on untranslated. */
const [name = '', upstream = ''] = process.argv.slice(2)

const PEERS: Readonly<Record<string, () => Promise<http.Server>>> = {
  bare,
  async '@fastify/http-proxy'() {
    const app = Fastify()
    await app.register(proxy, { upstream })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return app.server
  },
  async 'http-proxy-3'() {
    const through = createProxyServer({ target: upstream, agent: new http.Agent({ keepAlive: true, maxSockets: 64 }) })
    const server = http.createServer((request, response) => through.web(request, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  },
}

/**
 * The parts of Crosswalk without Crosswalk: Fastify, undici's `dispatch`, one renamed resource. It is the upper bound of what can be
 * reached.
 * It has no limits, metrics, modes or log, shares nothing, and handles no errors.
 */
async function bare(): Promise<http.Server> {
  const pool = new Agent({ connections: 64 })
  const app = Fastify()
  app.get('/*', ({ raw, headers }, reply) => {
    const path = `/registry/v2/tags/${raw.url?.slice(raw.url.indexOf('=') + 1)}`
    const pieces: Buffer[] = []
    reply.hijack()
    pool.dispatch(
      { origin: upstream, path, method: 'GET', headers: { accept: 'application/json', authorization: headers.authorization ?? '' } },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_, piece) => void pieces.push(piece),
        onResponseEnd() {
          const { uid, updateTime, ...rest } = JSON.parse(Buffer.concat(pieces).toString('utf8'))
          const text = JSON.stringify({ items: [{ id: uid, ...rest, last_updated: updateTime }] })
          const length = Buffer.byteLength(text)
          reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(text)
        },
        onResponseError: (_, error) => void reply.raw.destroy(error),
      },
    )
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

const server = await PEERS[name]?.()
if (!server) throw new Error(`no peer is called ${name}`)
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
