import type { ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Fault } from '../fault.ts'
import { messageIn, say } from '../say.ts'
import { talk } from '../wire.ts'
import { inWorld } from '../world.ts'

const MEBIBYTE = 2 ** 20
const BYTES = 100 * MEBIBYTE

/** 100 MB of JSON, no faster than the reader reads. */
const behaviour = (_: unknown, response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(BYTES) })
  const pieces = Array<Buffer>(BYTES / MEBIBYTE).fill(Buffer.alloc(MEBIBYTE, ' '))
  pipeline(Readable.from(pieces), response, () => {})
}

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/**
 * Returns the retained bytes outside the heap: what streams and sockets have received and not sent. Written buffers wait for a collection,
 * which V8 makes at 32 MiB of them, or 64 MiB in Node 24, for a body of any length. Whatever one collection finds, the next has freed.
 */
function held(): number {
  collect()
  collect()
  return process.memoryUsage().external
}

/** The bytes of a body between two measurements of the memory. */
const PACE = 10 * MEBIBYTE

export const largeFaults: readonly Fault[] = [
  {
    name: 'a body of 100 MB, read by a table',
    expected: '500/13: the v2 service sent an answer of more than limits.answerBytes (67108864)',
    see: () =>
      inWorld(behaviour, {}, async ({ proxy }) => {
        const { answers } = await talk(proxy.url, 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
        return `${say(answers[0])}: ${answers[0] && messageIn(answers[0])}`
      }),
  },
  ...['/iam/v2/groups', '/registry/v1/vuln_reports'].map(
    (path): Fault => ({
      name: `a body of 100 MB, passed on from ${path}`,
      expected: `200, ${BYTES} bytes; 4 MB of it held at most`,
      see: () =>
        inWorld(behaviour, {}, async ({ proxy }) => {
          const before = held()
          let most = 0
          let bytes = 0
          let looked = 0
          const answer = await fetch(proxy.url + path)
          for await (const chunk of answer.body ?? []) {
            bytes += chunk.length
            if (bytes - looked < PACE) continue
            looked = bytes
            most = Math.max(most, held() - before)
          }
          const within = most < 4 * MEBIBYTE ? '4 MB of it held at most' : `${Math.round(most / MEBIBYTE)} MB of it held`
          return `${answer.status}, ${bytes} bytes; ${within}`
        }),
    }),
  ),
]
