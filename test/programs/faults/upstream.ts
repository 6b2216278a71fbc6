import type { ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Config } from '../../../src/app/config/settings.ts'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { type Client, callOf, connectClient, grpcClient } from '../../contract/rpc/call.ts'
import type { Answer } from '../../contract/target.ts'
import { selfSigned } from '../../stage/authority.ts'
import { listening } from '../../stage/programs.ts'
import { bearer, startProxy } from '../../stage/stage.ts'
import { startUpstream } from '../../stage/upstream.ts'
import { answerTo, type Behaviour, type Fault, fault, get, inWorld, listOf, messageIn, READ, say, serving } from './fault.ts'
import { talk } from './wire.ts'

const REQUESTS = {
  read: 'GET /iam/v1/groups',
  write: `POST /iam/v1/groups/${'a'.repeat(40)}`,
  native: 'GET /iam/v2/groups',
  v1: 'GET /registry/v1/vuln_reports',
} as const

type Carrier = keyof typeof REQUESTS

/** The result of the fault for each carrier, and how often it may ask: `503/14 ×2`. */
export type Expected = Readonly<Partial<Record<Carrier, string>>>

interface UpstreamFault {
  readonly name: string
  readonly behaviour: Behaviour
  readonly settings: Partial<Config>
  readonly expected: Expected
}

export function upstreamFault({ name, behaviour, settings, expected }: UpstreamFault): Fault {
  return fault(name, sentence(expected), () =>
    inWorld(behaviour, settings, async ({ proxy, upstream }) => {
      const seen: Partial<Record<Carrier, string>> = {}
      for (const carrier of carriersOf(expected)) {
        const request = REQUESTS[carrier]
        const before = upstream.seen.length
        const { answers } = await talk(proxy.url, httpOf(request), 1)
        seen[carrier] = `${say(answers[0])} ×${upstream.seen.length - before}`
      }
      return sentence(seen)
    }),
  )
}

function httpOf(request: string): string {
  const body = request.startsWith('POST') ? '{"name":"x"}' : ''
  return `${request} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

function carriersOf(expected: Expected): readonly Carrier[] {
  return (Object.keys(REQUESTS) as Carrier[]).filter((carrier) => expected[carrier] !== undefined)
}

function sentence(expected: Expected): string {
  return carriersOf(expected)
    .map((carrier) => `${carrier} ${expected[carrier]}`)
    .join(' · ')
}

/** An upstream with an untrusted certificate is never asked, whatever carries the request. */
export const wrongCertificate: Fault = fault(
  'a wrong certificate',
  'read 503/14 ×0 · write 503/14 ×0 · native 503/14 ×0 · v1 503/14 ×0; 0 requests got through',
  async () => {
    let asked = 0
    const server = https.createServer(selfSigned, (_, response) => {
      asked += 1
      response.end('{}')
    })
    const url = `https://127.0.0.1:${(await listening(server)).port}`
    const settings = { 'upstream.v2': url, 'upstream.v1': url }
    const refused = '503/14 ×0'
    const expected = { read: refused, write: refused, native: refused, v1: refused }
    const seen = await upstreamFault(row('', expected, undefined, settings)).see()
    await new Promise((resolve) => server.close(resolve))
    return `${seen}; ${asked} requests got through`
  },
)

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
  fault('a body of 100 MB, read by a table', '500/13: the v2 service sent an answer of more than limits.answerBytes (67108864)', () =>
    inWorld(behaviour, {}, async ({ proxy }) => {
      const { answers } = await talk(proxy.url, READ, 1)
      return `${say(answers[0])}: ${answers[0] && messageIn(answers[0])}`
    }),
  ),
  ...['/iam/v2/groups', '/registry/v1/vuln_reports'].map(
    (path): Fault =>
      fault(`a body of 100 MB, passed on from ${path}`, `200, ${BYTES} bytes; 4 MB of it held at most`, () =>
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
      ),
  ),
]

const TAGS = 1000
const LATER = 4 * 24 * 60 * 60 * 1000

/** Passes every page of a list to `between` before it is served. */
type Between = (page: number, sandbox: SandboxApi) => Promise<void>

interface SandboxApi {
  readonly repo: string
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
}

/**
 * Reads the 1,000 tags of a repo of the sandbox through the proxy, while `between` changes them.
 * Returns how the read ended, and whether every tag that existed throughout was read once.
 */
async function readWhile(between: Between, settings: Partial<Config>): Promise<string> {
  const sandbox = await startSandbox({ port: 0, data: 'large', tags: TAGS })
  const call: SandboxApi['call'] = async (method, path, body) => {
    const init = { method, headers: bearer(sandbox.tokens.owner), ...(body !== undefined && { body: JSON.stringify(body) }) }
    const text = await (await fetch(sandbox.url + path, init)).text()
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
  }
  const found = (await call('GET', '/registry/v2/repos?name=large')).repos as { uid: string }[]
  const repo = found[0]?.uid ?? ''
  const list = async () => {
    const uids: string[] = []
    for (let token = ''; ; ) {
      const page = await call('GET', `/registry/v2/tags?uidp.children_of=${encodeURIComponent(repo)}&page_size=200&page_token=${token}`)
      uids.push(...(page.tags as { uid: string }[]).map(({ uid }) => uid))
      token = String(page.nextPageToken ?? '')
      if (token === '') return uids
    }
  }
  const before = await list()
  let pages = 0
  const pass = async (url: string, response: ServerResponse) => {
    await between(pages++, { repo, call })
    const answer = await fetch(sandbox.url + url, { headers: bearer(sandbox.tokens.owner) })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  }
  const front = await startUpstream((request, response) => {
    pass(request.url ?? '', response).catch(() => response.destroy())
  })
  const proxy = await startProxy({ 'upstream.v2': front.url, ...settings })
  try {
    const target = `/registry/v1/tags?uidp.children_of=${encodeURIComponent(repo)}`
    const { answers } = await talk(proxy.url, get(target), 1)
    const [answer] = answers
    if (answer?.status !== 200 || answer.broken) return say(answer)
    const after = new Set(await list())
    const read = (JSON.parse(answer.body) as { items: { id: string }[] }).items.map(({ id }) => id)
    return verdict(
      read,
      before.filter((uid) => after.has(uid)),
    )
  } finally {
    await proxy.close()
    await front.close()
    await sandbox.close()
  }
}

function verdict(read: readonly string[], stayed: readonly string[]): string {
  const known = new Set(read)
  const lost = stayed.filter((uid) => !known.has(uid)).length
  return `200; of the tags that stayed ${lost} lost, ${read.length - known.size} doubled, ${isSorted(read) ? 'in order' : 'not in order'}`
}

function isSorted(uids: readonly string[]): boolean {
  return uids.every((uid, at) => at === 0 || (uids[at - 1] ?? '') < uid)
}

const WHOLE = '200; of the tags that stayed 0 lost, 0 doubled, in order'

const changing: Between = async (page, { repo, call }) => {
  const { tags } = (await call('GET', `/registry/v2/tags?uidp.children_of=${encodeURIComponent(repo)}&page_size=200`)) as {
    tags: { uid: string }[]
  }
  for (const { uid } of tags.slice(0, 3)) await call('DELETE', `/registry/v2/tags/${uid}`)
  for (let nth = 0; nth < 5; nth++) {
    await call('POST', `/registry/v2/tags?parent=${encodeURIComponent(repo)}`, {
      name: `new-${page}-${nth}`,
      digest: `sha256:${'a'.repeat(64)}`,
    })
  }
}

const looping: Behaviour = (request, response) => {
  const token = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '0')
  const groups = Array.from({ length: 200 }, (_, at) => ({ uid: `${token}${String(at).padStart(39, '0')}` }))
  response.end(JSON.stringify({ groups, nextPageToken: String((token + 1) % 3 || 3) }))
}

async function restarted(settings: Partial<Config>): Promise<string> {
  let pages = 0
  let stop = () => {}
  const page: Behaviour = (request, response) => {
    const at = Number(new URL(request.url ?? '', 'http://x').searchParams.get('page_token') ?? '0')
    const groups = Array.from({ length: 200 }, (_, row) => ({ uid: String(at * 200 + row).padStart(40, '0') }))
    pages += 1
    if (pages === 2) response.once('finish', () => stop())
    response.end(JSON.stringify({ groups, nextPageToken: at < 4 ? String(at + 1) : '' }))
  }
  return inWorld(page, settings, async ({ proxy, upstream }) => {
    const { port } = upstream.server.address() as AddressInfo
    stop = () => {
      upstream.server.close()
      upstream.server.closeAllConnections()
    }
    const first = await answerTo(proxy.url)
    await new Promise<void>((resolve) => upstream.server.listen(port, '127.0.0.1', resolve))
    return `${first}, then ${await answerTo(proxy.url)}`
  })
}

const STREAMED: Partial<Config> = { 'limits.bufferedRows': 0 }

export const listFaults: readonly Fault[] = [
  fault('a page token that loops', '409/10', () => inWorld(looping, { 'limits.bufferedRows': 10_000 }, ({ proxy }) => answerTo(proxy.url))),
  fault('rows that come and go while a list is read', [WHOLE, '409/10'], () => readWhile(changing, {})),
  fault('the same while it is streamed', [WHOLE, 'broken off'], () => readWhile(changing, STREAMED)),
  fault('page tokens that expire while a list is read', [WHOLE, '409/10'], () =>
    readWhile(async (page, { call }) => void (page === 2 && (await call('POST', '/-/clock', { advanceMs: LATER }))), {}),
  ),
  fault('v2 restarting in the middle of a list', '503/14, then 200, 1000 rows', () => restarted({})),
  fault('v2 restarting in the middle of a stream', 'broken off, then 200, 1000 rows', () => restarted(STREAMED)),
]

const WAYS: Readonly<Record<string, (url: string) => Client>> = { gRPC: grpcClient, Connect: connectClient }

const READ_CALL = callOf({ method: 'GET', path: '/iam/v1/groups' })
const WRITE_CALL = callOf({ method: 'POST', path: `/iam/v1/groups/${'a'.repeat(40)}`, text: '{"name":"x"}' })

/** The fault that also runs in `npm test`. Each proxy prepares itself for its first call anew. */
const QUICK = 'reset before headers, for gRPC'

/** The same fault of an upstream for calls of gRPC and Connect: the same codes, but a write that may have been done is never UNAVAILABLE. */
export function rpcFaults({ name, behaviour, settings, expected }: UpstreamFault): readonly Fault[] {
  return Object.entries(WAYS).map(([way, clientOf]) => ({
    name: `${name}, for ${way}`,
    expected: expectedOf(expected),
    ...(`${name}, for ${way}` !== QUICK && { full: true as const }),
    see: () =>
      inWorld(behaviour, settings, async ({ proxy, upstream }) => {
        const client = clientOf(proxy.url)
        const said: string[] = []
        for (const call of [READ_CALL, WRITE_CALL]) {
          const before = upstream.seen.length
          const answer = await client.call(call, undefined)
          said.push(`${sayAnswer(answer)} ×${upstream.seen.length - before}`)
        }
        client.close()
        return `read ${said[0]} · write ${said[1]}`
      }),
  }))
}

function sayAnswer({ status, body }: Answer): string {
  if (status === 200) return body.items === undefined ? '200' : `200, ${body.items.length} rows`
  return `${status}/${body.code}`
}

/** Clients of gRPC repeat a call that is UNAVAILABLE, so that UNKNOWN is said of a write that was sent (semantics of Terraform's provider). */
function expectedOf({ read = '', write = '' }: Expected): string {
  const plain = (text: string) => text.replace(/, again after \d+ s/, '')
  return `read ${plain(read)} · write ${plain(write).replace(/^503\/14 ×(?=[1-9])/, '500/2 ×')}`
}

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

const short =
  (end: (response: Parameters<Behaviour>[1]) => void): Behaviour =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('{"groups":[{"uid":"a"}', () => end(response))
  }

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

const row = (name: string, expected: Expected, behaviour: Behaviour = () => {}, settings: Partial<Config> = {}): UpstreamFault => ({
  ...{ name, expected, behaviour, settings },
})

const FAULTS: readonly UpstreamFault[] = [
  row('refused', all('503/14 ×0'), undefined, { 'upstream.v2': 'http://127.0.0.1:1', 'upstream.v1': 'http://127.0.0.1:1' }),
  row('no such host', all('503/14 ×0'), undefined, { 'upstream.v2': 'http://v2.invalid', 'upstream.v1': 'http://v1.invalid' }),
  row('reset before headers', all('503/14 ×2', '503/14 ×1', '503/14 ×1'), ({ socket }) => void socket.resetAndDestroy()),
  row(
    'reset in the body',
    all('503/14 ×2', '503/14 ×1', 'broken off ×1'),
    short(({ socket }) => void socket?.resetAndDestroy()),
  ),
  row(
    'closed in the body',
    all('503/14 ×2', '503/14 ×1', 'broken off ×1'),
    short((response) => void response.destroy()),
  ),
  row(
    'slow headers, within the limit',
    all('200, 3 rows ×1', '200 ×1', '200 ×1'),
    (request, response, body) => void setTimeout(serving(3), 50, request, response, body),
  ),
  row('hung before headers', all('504/4 ×1', '504/4 ×1', 'no answer ×1', '504/4 ×1'), undefined, {
    'limits.callTimeoutMs': 100,
    'limits.deadlineMs': 200,
    'limits.idleTimeoutMs': 2500,
  }),
  row('slow body, within the limit', all('200, 3 rows ×1', '200 ×1', '200 ×1'), inPieces(5, slowly)),
  row(
    'hung in the body',
    all('504/4 ×1', '504/4 ×1', 'broken off ×1'),
    short(() => {}),
    { 'limits.callTimeoutMs': 100, 'limits.idleTimeoutMs': 2500 },
  ),
  row('a body without end', { read: '504/4 ×1', write: '504/4 ×1' }, endless, { 'limits.deadlineMs': 200 }),
  row('500 with HTML', all('500/13 ×1', '500/13 ×1', 'html 500 ×1'), html(500)),
  row('502 with HTML', all('503/14 ×1', '503/14 ×1', 'html 502 ×1'), html(502)),
  row('503 with HTML', all('503/14 ×1', '503/14 ×1', 'html 503 ×1'), html(503)),
  row(
    '429 with Retry-After',
    all('429/8, again after 7 s ×1'),
    with429('application/json', '{"code":8,"message":"slow down","details":[]}'),
  ),
  row(
    '429 with Retry-After and HTML',
    all('429/8, again after 7 s ×1', '429/8, again after 7 s ×1', 'html 429, again after 7 s ×1'),
    with429('text/html', '<html>'),
  ),
  row('gzip that nobody asked for', all('200, 3 rows ×1', '200 ×1', '200 gzip ×1'), encoded('gzip', gzipSync)),
  row('br that nobody asked for', all('200, 3 rows ×1', '200 ×1', '200 br ×1'), encoded('br', brotliCompressSync)),
  row('a coding that nobody knows', all('500/13 ×1', '500/13 ×1', '200 zstd ×1'), encoded('zstd', Buffer.from)),
  row(
    'JSON under a wrong content type',
    all('200, 3 rows ×1', '200 ×1', '200 ×1'),
    (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(listOf(3)),
  ),
  row('200 with HTML', all('500/13 ×1', '500/13 ×1', '200, not JSON ×1'), html(200)),
  row('truncated JSON', all('500/13 ×1', '500/13 ×1', '200, not JSON ×1'), (_, response) => void response.end(listOf(3).slice(0, 100))),
  row(
    'JSON nested 100,000 deep',
    all('500/13 ×1', '500/13 ×1', '200 ×1'),
    (_, response) =>
      void response.end(
        `{"groups":[{"uid":"a","resourceLimits":{"a":${'['.repeat(1e5)}${']'.repeat(1e5)}}}],"resourceLimits":{},"uid":"a"}`,
      ),
  ),
  row('an answer beyond its limit', all('500/13 ×1', '500/13 ×1', '200 ×1'), serving(1000), { 'limits.answerBytes': 10_000 }),
  row(
    'an error of another shape',
    all('500/13 ×1', '500/13 ×1', 'other 400 ×1'),
    (_, response) => void response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"x"}'),
  ),
]

export const upstreamFaults: readonly Fault[] = [
  ...FAULTS.map(upstreamFault),
  ...FAULTS.flatMap(rpcFaults),
  ...listFaults,
  ...largeFaults,
  wrongCertificate,
]
