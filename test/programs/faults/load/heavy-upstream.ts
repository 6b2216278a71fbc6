import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listOf } from '../fault.ts'
import { BURDENS, type Burden, RESPOND } from './overload.ts'

const V2 = listOf(20)
const V1 = JSON.stringify({
  items: (JSON.parse(V2) as { groups: { uid: string; name: string }[] }).groups.map(({ uid, name }) => ({ id: uid, name })),
})

/** A process of its own: `node heavy-upstream.js`. `/-/NAME` sets the burden; then every answer is like that. */
let burden: Burden = 'none'
const server = createServer(({ url = '' }, response) => {
  const set = BURDENS.find((name) => url === `/-/${encodeURIComponent(name)}`)
  if (set !== undefined) {
    burden = set
    return void response.end()
  }
  response.on('error', () => {})
  RESPOND[burden](response, url.includes('/v2/') ? V2 : V1)
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
