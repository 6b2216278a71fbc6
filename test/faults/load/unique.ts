import http from 'node:http'
import { startUpstream } from '../../stage/upstream.ts'
import type { Fault } from '../fault.ts'
import { type Child, program, serve } from '../process/child.ts'
import { serving } from '../world.ts'

/** What a client sends that no other request has: the n-th value of each kind. */
interface Unique {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const LIST = '/iam/v1/groups'

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const CONNECT = { 'content-type': 'application/json' }

/** Kinds of values by which a process could learn without end. */
const KINDS: Readonly<Record<string, (nth: number) => Unique>> = {
  'an id in a path': (nth) => ({ path: `${LIST}/${String(nth).padStart(40, '0')}` }),
  'a native path': (nth) => ({ path: `/iam/v2/groups/${nth}` }),
  'a name of a parameter': (nth) => ({ path: `${LIST}?p${nth}=1` }),
  'a value of a parameter': (nth) => ({ path: `${LIST}?name=n${nth}` }),
  'a token that is accepted': (nth) => ({ path: LIST, headers: bearer(`token-${nth}`) }),
  'a token that is refused': (nth) => ({ path: `${LIST}?refuse=1`, headers: bearer(`refused-${nth}`) }),
  'a subject of a JWT': (nth) => ({ path: LIST, headers: bearer(`${part({ alg: 'none' })}.${part({ sub: `subject-${nth}` })}.x`) }),
  'a user agent and a request id': (nth) => ({
    path: LIST,
    headers: { 'user-agent': `agent${nth}/1.${nth}`, 'x-request-id': `id-${nth}` },
  }),
  'an address': (nth) => ({ path: LIST, headers: { 'x-forwarded-for': `10.${nth >> 16}.${(nth >> 8) & 255}.${nth & 255}` } }),
  'a method of gRPC': (nth) => ({ method: 'POST', path: `/chainguard.platform.iam.Groups/M${nth}`, headers: CONNECT, body: '{}' }),
  'a service of gRPC': (nth) => ({ method: 'POST', path: `/service.N${nth}/List`, headers: CONNECT, body: '{}' }),
  'an origin': (nth) => ({ path: LIST, headers: { origin: `https://o${nth}.example` } }),
}

/** Values of each kind. */
const MANY = Number(process.env.CROSSWALK_CASES ?? 240_000) / Object.keys(KINDS).length

/** Requests under way at a time. */
const LANES = 64

/** Bytes that the last quarter of the values may add to the heap. Learnt things of 60,000 values would be 6 MB at a hundred bytes each. */
const FLAT = 4 * 2 ** 20

/** The heap that an idle process needs, and what all bounded things of the tables of this package may hold. */
const IN_ALL = 192 * 2 ** 20

async function heapOf(child: Child): Promise<number> {
  child.signal('SIGUSR2')
  return Number((await child.line(/^heap /)).slice('heap '.length))
}

async function sendAll(url: string, from: number, to: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: LANES })
  const makers = Object.values(KINDS)
  let next = from * makers.length
  const lane = async () => {
    for (; next < to * makers.length; ) {
      const at = next
      next += 1
      await sent(agent, url, (makers[at % makers.length] as (nth: number) => Unique)(Math.floor(at / makers.length)))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  agent.destroy()
}

function sent(agent: http.Agent, url: string, { method = 'GET', path, headers = {}, body }: Unique): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = http.request(url + path, { agent, method, headers }, (response) => response.resume().once('end', resolve))
    request.once('error', reject).end(body)
  })
}

async function heapAfterAll(): Promise<string> {
  const rows = serving(3)
  const upstream = await startUpstream((request, response, body) => {
    // It keeps what it has seen.
    ;(upstream.seen as unknown[]).length = 0
    if (!/refused-/.test(request.headers.authorization ?? '')) return rows(request, response, body)
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"code":16,"message":"no"}')
  })
  const settings = { 'upstream-v2': upstream.url, 'upstream-v1': upstream.url, mode: 'diff-v1', 'diff-per-second': 500 }
  const child = await serve(settings, { nodeFlags: ['--expose-gc', '--import', program('../load/heap-probe.js')] })
  try {
    await sendAll(child.url, 0, (MANY * 3) / 4)
    const before = await heapOf(child)
    await sendAll(child.url, (MANY * 3) / 4, MANY)
    const after = await heapOf(child)
    const grown = `+ ${((after - before) / 2 ** 20).toFixed(1)} MiB`
    const isFlat = after - before < FLAT && after < IN_ALL
    return isFlat ? 'the heap is flat' : `the heap grew in the last quarter by ${grown}, to ${(after / 2 ** 20).toFixed(0)} MiB`
  } finally {
    await child.stop('SIGKILL')
    await upstream.close()
  }
}

export const uniqueFaults: readonly Fault[] = [
  {
    name: `${MANY * Object.keys(KINDS).length} values of ${Object.keys(KINDS).length} kinds that never repeat, in diff-v1`,
    expected: 'the heap is flat',
    see: heapAfterAll,
    full: true,
    patienceMs: 900_000,
  },
]
