import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCors } from '../../src/grpc/wire/connect.ts'

const OURS = 'https://console.example.com'
const cors = createCors([OURS])
const server = http.createServer((request, response) => {
  cors.open(request, response)
  if (!cors.preflight(request, response)) response.writeHead(200, { 'x-own': '1' }).end('answered')
})
let url = ''

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

const ask = async (method: string, headers: http.OutgoingHttpHeaders) => {
  const [response] = (await once(http.request(url, { method, headers, agent: false }).end(), 'response')) as [http.IncomingMessage]
  response.resume()
  return response
}
const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type, x-grpc-web' }

describe('a page of an allowed origin', () => {
  it('gets what it wants to send allowed', async () => {
    const { statusCode, headers } = await ask('OPTIONS', { origin: OURS, ...PREFLIGHT })
    expect([statusCode, headers]).toMatchObject([
      204,
      {
        'access-control-allow-origin': OURS,
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': 'content-type, x-grpc-web',
        'access-control-max-age': '7200',
        vary: 'origin',
      },
    ])
  })

  it('reads the answer and its status', async () => {
    const { statusCode, headers } = await ask('POST', { origin: OURS })
    const exposed = '*, grpc-status, grpc-message, grpc-status-details-bin'
    expect([statusCode, headers]).toMatchObject([
      200,
      { 'access-control-allow-origin': OURS, 'access-control-expose-headers': exposed, 'x-own': '1' },
    ])
  })

  it('may ask for no header whose name could not be one', async () => {
    const { headers } = await ask('OPTIONS', { origin: OURS, ...PREFLIGHT, 'access-control-request-headers': 'x-a: "b"' })
    expect(headers['access-control-allow-headers']).toBe(undefined)
  })
})

describe('another request', () => {
  it.each([
    ['of a page of another origin', 'OPTIONS', { origin: 'https://console.example.com.evil.test', ...PREFLIGHT }],
    ['of the origin null', 'OPTIONS', { origin: 'null', ...PREFLIGHT }],
    ['of no page', 'POST', {}],
  ])('%s is allowed nothing', async (_, method, headers) => {
    const answer = await ask(method, headers)
    expect(answer.statusCode).toBe(200)
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
  })

  it('is no preflight without the method that is wanted', async () => {
    expect((await ask('OPTIONS', { origin: OURS })).statusCode).toBe(200)
  })
})

it('allows every origin for *', () => {
  const given: string[] = []
  const response = { appendHeader() {}, setHeader: (_: string, value: string) => given.push(value) }
  createCors(['*']).open({ headers: { origin: 'https://a.test' } } as never, response as never)
  expect(given).toContain('https://a.test')
})
