import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

/** The ways in which an asked side answers, each a burden for its reader. */
export const BURDENS = ['none', 'garbage', 'JSON', 'one endless line', 'a gzip bomb', 'a slow drip'] as const

export type Burden = (typeof BURDENS)[number]

const BYTES = 10_000_000
const HEAD = { 'content-type': 'application/json' }
const GROUPS = Array.from({ length: 60_000 }, (_, nth) => ({ uid: String(nth).padStart(40, '0'), name: 'x'.repeat(100) }))
const JSON_TEXT = Buffer.from(JSON.stringify({ groups: GROUPS, items: GROUPS }).slice(0, BYTES).padEnd(BYTES, ' '))
const GARBAGE = Buffer.alloc(BYTES, 'x')
const BOMB = gzipSync(Buffer.alloc(10 * BYTES, ' '))
const PIECE = Buffer.alloc(65_536, 'x')

/** Writes as fast as the reader reads, without an end. */
function pour(response: ServerResponse): void {
  while (!response.destroyed) if (!response.write(PIECE)) return void response.once('drain', () => pour(response))
}

function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 20)
  response.once('close', () => clearInterval(timer))
}

export const RESPOND: Readonly<Record<Burden, (response: ServerResponse, good: string) => void>> = {
  none: (response, good) => void response.writeHead(200, HEAD).end(good),
  // Without a length, so that the reader must read to know.
  garbage: (response) => {
    response.writeHead(200, HEAD).write(GARBAGE.subarray(0, 1000))
    response.end(GARBAGE.subarray(1000))
  },
  JSON: (response) => {
    response.writeHead(200, HEAD).write(JSON_TEXT.subarray(0, 1000))
    response.end(JSON_TEXT.subarray(1000))
  },
  'one endless line': (response) => pour(response.writeHead(200, HEAD)),
  'a gzip bomb': (response) => void response.writeHead(200, { ...HEAD, 'content-encoding': 'gzip' }).end(BOMB),
  'a slow drip': (response) => drip(response.writeHead(200, HEAD)),
}
