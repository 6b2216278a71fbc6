import net, { type AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { rawExchange } from '../stage/raw-exchange.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
  proxy = await startProxy({ 'upstream.v2': v2.url, 'upstream.v1': v2.url })
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

beforeEach(() => {
  v2.seen.length = 0
})

const HIDDEN = 'GET /hidden HTTP/1.1\r\nhost: x\r\n\r\n'
/** One path for each carrier: translated, passed to v1, passed to v2. */
const PATHS = ['/iam/v1/groups', '/registry/v1/vuln_reports', '/iam/v2/groups']

describe.each(PATHS)('%s', (path) => {
  const hiddenSeen = () => v2.seen.some(({ url }) => url.includes('hidden'))

  it.each([
    ['a length and chunks', `content-length: ${HIDDEN.length + 5}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ['two lengths', `content-length: 0\r\ncontent-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`],
    ['an odd transfer coding', `transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${HIDDEN}`],
    ['a space before the colon', `content-length : ${HIDDEN.length}\r\n\r\n${HIDDEN}`],
    ['a folded header', `x: 1\r\n content-length: 0\r\n\r\n${HIDDEN}`],
  ])('refuses %s in v1’s form', async (_, rest) => {
    const answer = await rawExchange(proxy.url, `POST ${path} HTTP/1.1\r\nhost: x\r\n${rest}`)
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n.*\{"code":3,"message":"the request is not well-formed HTTP","details":\[\]\}$/s)
    expect(hiddenSeen()).toBe(false)
  })

  it.each(['GET', 'POST', 'DELETE'])('frames the body of a %s even if Connection names its length', async (method) => {
    const head = `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close, content-length, transfer-encoding\r\n`
    await rawExchange(proxy.url, `${head}content-length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`)
    await rawExchange(proxy.url, `${head}transfer-encoding: chunked\r\n\r\n${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`)
    await fetch(`${proxy.url}/iam/v2/roles`)
    expect(hiddenSeen()).toBe(false)
  })
})

it('refuses headers that are too large in v1’s form', async () => {
  const answer = await rawExchange(proxy.url, `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nx-large: ${'x'.repeat(70_000)}\r\n\r\n`)
  expect(answer).toMatch(
    /^HTTP\/1\.1 431 .*"message":"the request line and headers are larger than limits\.headerBytes \(65536\) allows","details":\[\]\}$/s,
  )
})

it('lets no answer of v2 become a second answer', async () => {
  const server = net.createServer((socket) => {
    socket.once('data', () =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecond'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const other = await startProxy({ 'upstream.v2': `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  for (const path of ['/iam/v2/groups', '/iam/v1/groups']) {
    const answer = await rawExchange(other.url, `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect(answer).not.toContain('second')
  }
  await other.close()
  await new Promise((resolve) => server.close(resolve))
})
