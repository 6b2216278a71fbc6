import { once } from 'node:events'
import http2, { type ClientHttp2Session, type Http2Server } from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createHttp2 } from '../../src/serve/listen/http2.ts'

const LIMITS = { headerBytes: 65_536, headersTimeoutMs: 10_000, idleTimeoutMs: 60_000, maxStreams: 100, connections: 0 }

let server: net.Server
let session: ClientHttp2Session

beforeAll(async () => {
  const served: Http2Server = createHttp2(
    (_, response) => void response.end('request'),
    (stream) => stream.end('call'),
    LIMITS,
    () => {},
  )
  server = net.createServer((socket) => void served.emit('connection', socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})

afterAll(() => {
  session.destroy()
  server.close()
})

it.each([
  ['POST', 'application/grpc', 'call'],
  ['POST', 'application/grpc+proto', 'call'],
  ['POST', 'application/grpc;charset=utf-8', 'call'],
  ['POST', 'Application/gRPC', 'call'],
  ['POST', 'application/grpc-web', 'request'],
  ['POST', 'application/grpc-web+proto', 'request'],
  ['POST', 'application/grpc-web-text', 'request'],
  ['POST', 'application/grpcx', 'request'],
  ['PUT', 'application/grpc', 'request'],
])('takes a %s of %s for a %s', async (method, type, kind) => {
  const stream = session.request({ ':method': method, 'content-type': type }).end()
  expect((await stream.setEncoding('utf8').toArray()).join('')).toBe(kind)
})
