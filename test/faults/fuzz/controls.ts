import { type OpenAskers, overGrpc, overHttp1, overHttp2, overWebSocket } from './heads/askers.ts'
import { keysIn } from './upstream/script.ts'
import type { Victim } from './victim.ts'

/** Requests afterwards, one after the other on each way. */
const CONTROLS = 100

const EVERY_WAY: readonly (readonly [name: string, open: OpenAskers, path: string])[] = [
  ['native over HTTP/1.1', overHttp1, '/iam/v2/groups'],
  ['native over HTTP/2', overHttp2, '/iam/v2/groups'],
  ['v1 over HTTP/1.1', overHttp1, '/iam/v1/groups'],
  ['v1 over HTTP/2', overHttp2, '/iam/v1/groups'],
  ['gRPC', overGrpc, '/test.Echo/Unary'],
  ['WebSocket', overWebSocket, '/iam/v2/socket'],
]

/** Returns the wrong answers: not 200 (101 for a handshake), or not of the request; undefined if there are none. */
export async function controls({ upstream, url }: Pick<Victim, 'upstream' | 'url'>): Promise<string | undefined> {
  for (const [name, open, path] of EVERY_WAY) {
    const [client] = open(url(), 1)
    for (let nth = 0; nth < CONTROLS; nth++) {
      const key = upstream.newKey()
      const given = await client?.ask({ method: 'GET', path, key, body: '' })
      const keys = new Set(keysIn(given?.text ?? ''))
      const isRight = (given?.status === 200 || given?.status === 101) && keys.size === 1 && keys.has(key) && !given.isBroken
      if (!isRight) return `control ${nth} ${name}, ${key}: ${JSON.stringify(given)}`
    }
    client?.close()
  }
  return undefined
}
