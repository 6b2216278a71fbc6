import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Fault } from '../fault.ts'
import { type Behaviour, listOf, serving } from '../world.ts'
import { type Expected, type UpstreamFault, upstreamFault } from './carriers.ts'
import { wrongCertificate } from './certificate.ts'
import { largeFaults } from './large.ts'
import { listFaults } from './lists.ts'
import { rpcFaults } from './rpc-ways.ts'

const all = (read: string, write = read, native = read, v1 = native): Expected => ({ read, write, native, v1 })

const html =
  (status: number): Behaviour =>
  (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end('<html>a load balancer speaks</html>')
  }

const with429 =
  (type: string, body: string): Behaviour =>
  (_, response) => {
    response.writeHead(429, { 'content-type': type, 'retry-after': '7' })
    response.end(body)
  }

const encoded =
  (coding: string, encode: (text: string) => Buffer): Behaviour =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': coding })
    response.end(encode(listOf(3)))
  }

/** A head that promises more bytes than follow. */
const short =
  (end: (response: Parameters<Behaviour>[1]) => void): Behaviour =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"groups":[{"uid":"a"}', () => end(response))
  }

/** A body in pieces, one every `ms` milliseconds. */
const inPieces =
  (ms: number, pieces: readonly string[]): Behaviour =>
  (_, response) => {
    const left = [...pieces]
    const timer = setInterval(() => {
      const piece = left.shift()
      if (piece === undefined) response.end()
      else response.write(piece)
    }, ms)
    response.once('close', () => clearInterval(timer))
  }

const endless: Behaviour = inPieces(
  20,
  Array.from({ length: 10_000 }, () => ' '),
)
const slowly = [...listOf(3)].map((_, at, text) => text.slice(at * 40, at * 40 + 40).join('')).filter((piece) => piece !== '')

const FAULTS: readonly UpstreamFault[] = [
  {
    name: 'refused',
    settings: { 'upstream.v2': 'http://127.0.0.1:1', 'upstream.v1': 'http://127.0.0.1:1' },
    expected: all('503/14 ×0'),
  },
  {
    name: 'no such host',
    settings: { 'upstream.v2': 'http://v2.invalid', 'upstream.v1': 'http://v1.invalid' },
    expected: all('503/14 ×0'),
  },
  {
    name: 'reset before headers',
    behaviour: ({ socket }) => void socket.resetAndDestroy(),
    expected: all('503/14 ×2', '503/14 ×1', '503/14 ×1'),
  },
  {
    name: 'reset in the body',
    behaviour: short(({ socket }) => void socket?.resetAndDestroy()),
    expected: all('503/14 ×2', '503/14 ×1', 'broken off ×1'),
  },
  {
    name: 'closed in the body',
    behaviour: short((response) => void response.destroy()),
    expected: all('503/14 ×2', '503/14 ×1', 'broken off ×1'),
  },
  {
    name: 'slow headers, within the limit',
    behaviour: (request, response, body) => void setTimeout(serving(3), 50, request, response, body),
    expected: all('200, 3 rows ×1', '200 ×1', '200 ×1'),
  },
  {
    name: 'hung before headers',
    settings: { 'limits.callTimeoutMs': 100, 'limits.deadlineMs': 200, 'limits.idleTimeoutMs': 2500 },
    expected: all('504/4 ×1', '504/4 ×1', 'no answer ×1', '504/4 ×1'),
  },
  {
    name: 'slow body, within the limit',
    behaviour: inPieces(5, slowly),
    expected: all('200, 3 rows ×1', '200 ×1', '200 ×1'),
  },
  {
    name: 'hung in the body',
    behaviour: short(() => {}),
    settings: { 'limits.callTimeoutMs': 100, 'limits.idleTimeoutMs': 2500 },
    expected: all('504/4 ×1', '504/4 ×1', 'broken off ×1'),
  },
  {
    name: 'a body without end',
    behaviour: endless,
    settings: { 'limits.deadlineMs': 200 },
    expected: { read: '504/4 ×1', write: '504/4 ×1' },
  },
  { name: '500 with HTML', behaviour: html(500), expected: all('500/13 ×1', '500/13 ×1', 'html 500 ×1') },
  { name: '502 with HTML', behaviour: html(502), expected: all('503/14 ×1', '503/14 ×1', 'html 502 ×1') },
  { name: '503 with HTML', behaviour: html(503), expected: all('503/14 ×1', '503/14 ×1', 'html 503 ×1') },
  {
    name: '429 with Retry-After',
    behaviour: with429('application/json', '{"code":8,"message":"slow down","details":[]}'),
    expected: all('429/8, again after 7 s ×1'),
  },
  {
    name: '429 with Retry-After and HTML',
    behaviour: with429('text/html', '<html>'),
    expected: all('429/8, again after 7 s ×1', '429/8, again after 7 s ×1', 'html 429, again after 7 s ×1'),
  },
  {
    name: 'gzip that nobody asked for',
    behaviour: encoded('gzip', gzipSync),
    expected: all('200, 3 rows ×1', '200 ×1', '200 gzip ×1'),
  },
  {
    name: 'br that nobody asked for',
    behaviour: encoded('br', brotliCompressSync),
    expected: all('200, 3 rows ×1', '200 ×1', '200 br ×1'),
  },
  {
    name: 'a coding that nobody knows',
    behaviour: encoded('zstd', Buffer.from),
    expected: all('500/13 ×1', '500/13 ×1', '200 zstd ×1'),
  },
  {
    name: 'JSON under a wrong content type',
    behaviour: (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(listOf(3)),
    expected: all('200, 3 rows ×1', '200 ×1', '200 ×1'),
  },
  { name: '200 with HTML', behaviour: html(200), expected: all('500/13 ×1', '500/13 ×1', '200, not JSON ×1') },
  {
    name: 'truncated JSON',
    behaviour: (_, response) => void response.end(listOf(3).slice(0, 100)),
    expected: all('500/13 ×1', '500/13 ×1', '200, not JSON ×1'),
  },
  {
    name: 'JSON nested 100,000 deep',
    behaviour: (_, response) =>
      void response.end(
        `{"groups":[{"uid":"a","resourceLimits":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}}],"resourceLimits":{},"uid":"a"}`,
      ),
    expected: all('500/13 ×1', '200 ×1', '200 ×1'),
  },
  {
    name: 'an answer beyond its limit',
    behaviour: serving(1000),
    settings: { 'limits.answerBytes': 10_000 },
    expected: all('500/13 ×1', '500/13 ×1', '200 ×1'),
  },
  {
    name: 'an error of another shape',
    behaviour: (_, response) => void response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"x"}'),
    expected: all('500/13 ×1', '500/13 ×1', 'other 400 ×1'),
  },
]

export const upstreamFaults: readonly Fault[] = [
  ...FAULTS.map(upstreamFault),
  ...FAULTS.flatMap(rpcFaults),
  ...listFaults,
  ...largeFaults,
  wrongCertificate,
]
