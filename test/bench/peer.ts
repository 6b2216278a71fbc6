import http from 'node:http'
import type { AddressInfo } from 'node:net'
import proxy from '@fastify/http-proxy'
import Fastify from 'fastify'
import { createProxyServer } from 'http-proxy-3'

/** A peer that passes everything through untranslated, a process of its own: `node peer.js <name> <upstream>`. */
const [name = '', upstream = ''] = process.argv.slice(2)

const PEERS: Readonly<Record<string, () => Promise<http.Server>>> = {
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

const server = await PEERS[name]?.()
if (!server) throw new Error(`no peer is called ${name}`)
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
