import http from 'node:http'
import type { AddressInfo } from 'node:net'
import proxy from '@fastify/http-proxy'
import Fastify, { type FastifyReply } from 'fastify'
import { createProxyServer } from 'http-proxy-3'
import { Agent, type Dispatcher } from 'undici'

/** A peer, a process of its own: `node peer.js <name> <upstream>`. All but the bare one pass everything on untranslated. */
const [name = '', upstream = ''] = process.argv.slice(2)

type Row = Readonly<Record<string, unknown>>

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
 * The parts of Crosswalk without Crosswalk: Fastify, undici's `dispatch`, renamed members. It is the upper bound of what can be reached.
 * It has no limits, metrics, modes or log, shares nothing, and handles no errors.
 */
async function bare(): Promise<http.Server> {
  const pool = new Agent({ connections: 64 })
  const app = Fastify()
  const tag = ({ uid, updateTime, ...rest }: Row) => ({ id: uid, ...rest, last_updated: updateTime })
  const role = ({ uid, createTime, updateTime, ...rest }: Row) => ({ id: uid, ...rest, created_at: createTime, updated_at: updateTime })
  app.get('/*', ({ raw, headers }, reply) => {
    const [name, value] = raw.url?.slice(raw.url.indexOf('?') + 1).split('=') ?? []
    const path = name === 'id' ? `/registry/v2/tags/${value}` : `/registry/v2/tags?page_size=${value}`
    const read = (body: Row & { readonly tags: readonly Row[] }) => ({ items: name === 'id' ? [tag(body)] : body.tags.map(tag) })
    ask({ method: 'GET', path, headers: { accept: 'application/json', authorization: headers.authorization ?? '' } }, reply, read)
  })
  app.put('/*', ({ raw, headers, body }, reply) => {
    const path = `${raw.url?.replace('/v1/', '/v2/')}?updateMask=*`
    const given = { accept: 'application/json', 'content-type': 'application/json', authorization: headers.authorization ?? '' }
    ask({ method: 'PATCH', path, headers: given, body: JSON.stringify(body) }, reply, role)
  })
  function ask(call: Omit<Dispatcher.DispatchOptions, 'origin'>, reply: FastifyReply, read: (body: never) => object): void {
    const pieces: Buffer[] = []
    reply.hijack()
    pool.dispatch(
      { origin: upstream, ...call },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_, piece) => void pieces.push(piece),
        onResponseEnd() {
          const text = JSON.stringify(read(JSON.parse(Buffer.concat(pieces).toString('utf8')) as never))
          const length = Buffer.byteLength(text)
          reply.raw.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(text)
        },
        onResponseError: (_, error) => void reply.raw.destroy(error),
      },
    )
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server
}

const server = await PEERS[name]?.()
if (!server) throw new Error(`no peer is called ${name}`)
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
