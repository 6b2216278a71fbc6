import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { inTurn, whenAnswered } from '../../../src/serve/listen/upgrades.ts'
import { listening } from '../../stage/upstream.ts'

type Begun = readonly [request: IncomingMessage, response: ServerResponse]

/** A server that holds every request that it begins, and a client that has sent these bytes. */
async function startHolding(bytes: string) {
  const begun: Begun[] = []
  const server = http.createServer(inTurn((...one) => void begun.push(one), 10))
  const { port } = await listening(server)
  const connected = once(server, 'connection') as Promise<[Socket]>
  const client = net.connect(port, '127.0.0.1')
  client.setEncoding('latin1').on('error', () => {})
  client.write(bytes)
  return { begun, client, socket: (await connected)[0] }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
const urls = (begun: readonly Begun[]) => begun.map(([{ url }]) => url)
const turn = () => new Promise((resolve) => setImmediate(resolve))

it('begins a request when the one before it is answered', async () => {
  const { begun, client } = await startHolding(get('/1') + get('/2') + get('/3'))
  let seen = ''
  client.on('data', (text: string) => {
    seen += text
  })
  for (const path of ['/1', '/2', '/3']) {
    while (begun.length === 0 || urls(begun).at(-1) !== path) await turn()
    begun.at(-1)?.[1].end(`answer to ${path}`)
  }
  while (!seen.includes('/3')) await turn()
  expect(seen.match(/answer to \/\d/g)).toEqual(['answer to /1', 'answer to /2', 'answer to /3'])
})

it('begins nothing on a connection that is gone', async () => {
  const { begun, client, socket } = await startHolding(get('/1') + get('/2'))
  while (begun.length === 0) await turn()
  const closed = once(socket, 'close')
  client.destroy()
  await closed
  await turn()
  expect(urls(begun)).toEqual(['/1'])
})

it('ends a connection on which too many requests wait', async () => {
  const { begun, client } = await startHolding(get('/1').repeat(12))
  await once(client, 'close')
  expect(begun.length).toBeLessThanOrEqual(1)
})

it('reports when every complete request of a connection is answered', async () => {
  const { begun, socket } = await startHolding(`${get('/1')}POST /2 HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\nhal`)
  while (begun.length === 0) await turn()
  const told: string[] = []
  whenAnswered(socket, () => told.push(urls(begun).join()))
  await turn()
  expect(told).toEqual([])
  begun[0]?.[1].end()
  while (told.length === 0) await turn()
  expect(told).toEqual(['/1,/2'])
})
