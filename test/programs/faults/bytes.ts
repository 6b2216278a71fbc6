import type { ClientHttp2Session } from 'node:http2'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { seeded } from '../../stage/clocks.ts'
import { connect2 } from '../../stage/upstream.ts'
import { type Behaviour, inWorld } from './fault.ts'
import { seedOr } from './fuzz/hunt.ts'
import { gathered, talk } from './wire.ts'

const USAGE = `npm run bytes -- [--seconds 60]
  Load in which every byte of every answer is checked: 60 lanes over HTTP/1.1, pipelines, HTTP/2, gRPC and Connect, in every mode, with slow
  and leaving clients, and with 2 % of the answers of v1 and v2 broken. Exits with 1 if a client got a byte of another, or a short answer
  that ended well. CROSSWALK_SEED draws.`

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '60' }, help: { type: 'boolean' } } })
if (values.help) {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
const seed = seedOr(1)
const random = seeded(seed)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!

/** The shares of answers that the services break, and of clients that read slowly or leave. */
const BROKEN = 0.02
const SLOW = 0.05
const LEAVING = 0.03
const LANES = 60
const MODES = ['v1', 'v2', 'diff-v1', 'diff-v2'] as const
const CALLERS = Array.from({ length: 20 }, (_, nth) => `caller-${String(nth).padStart(2, '0')}`)
const MARK = /caller-\d\d/g

/** The rows of a caller: their number and every text tell whose they are. The longest list takes several pages. */
const rowsOf = (caller: string) =>
  Array.from({ length: 1 + Number(caller.slice(-2)) ** 2 * 4 }, (_, at) => ({
    id: `${Number(caller.slice(-2)) + 1}${String(at).padStart(5, '0')}`.padStart(40, '0'),
    name: `${caller} ${at}`,
    description: caller.repeat(1 + (at % 20)),
  }))

let isBroken = false

const BREAKS: readonly Behaviour[] = [
  ({ socket }) => void socket.resetAndDestroy(),
  (_, response) => {
    response.writeHead(200, { 'content-length': '100000' })
    response.write('{"groups":[', () => response.destroy())
  },
  (_, response) => void response.writeHead(503, { 'content-type': 'text/html' }).end('<html>'),
  // What v1 itself ends well passes through, so that only a broken end tells that it is short.
  (request, response) => {
    const whole = answerTo(request.url ?? '', callerIn(request.headers.authorization))
    const isOfV2 = request.url?.includes('/v2/')
    response.writeHead(200, { 'content-length': whole.length - (isOfV2 ? 9 : 0) })
    response.end(whole.slice(0, -9), () => isOfV2 || response.destroy())
  },
]

const callerIn = (authorization = '') => authorization.replace('Bearer ', '')

function answerTo(url: string, caller: string): string {
  const rows = rowsOf(caller)
  if (!url.includes('/v2/')) return JSON.stringify({ items: rows })
  const { searchParams } = new URL(url, 'http://v2')
  const from = Number(searchParams.get('page_token') ?? 0)
  const to = Math.min(rows.length, from + Number(searchParams.get('page_size') ?? rows.length))
  const groups = rows.slice(from, to).map(({ id, ...more }) => ({ uid: id, ...more }))
  return JSON.stringify({ groups, nextPageToken: to < rows.length ? String(to) : '' })
}

const service: Behaviour = (request, response, body) => {
  if (isBroken && random() < BROKEN) return pick(BREAKS)(request, response, body)
  response.writeHead(200, { 'content-type': 'application/json' }).end(answerTo(request.url ?? '', callerIn(request.headers.authorization)))
}

/** What a client got: the bytes of an answer that ended well, the text of an error, or neither if it was broken off. */
interface Got {
  readonly caller: string
  readonly key: string
  readonly whole: Buffer | undefined
  readonly error: string | undefined
}

const LIST = '/chainguard.platform.iam.Groups/List'
const OVER_HTTP2 = {
  'HTTP/2': [{ ':path': '/iam/v1/groups' }, undefined],
  gRPC: [{ ':path': LIST, ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' }, Buffer.alloc(5)],
  Connect: [{ ':path': LIST, ':method': 'POST', 'content-type': 'application/json' }, Buffer.from('{}')],
} as const
type Way = keyof typeof OVER_HTTP2

const headersOf = (caller: string, mode: string) => ({ authorization: `Bearer ${caller}`, 'x-crosswalk-mode': mode })
const keyOf = (way: string, caller: string, mode: string) =>
  `${way === 'pipeline' ? 'HTTP/1.1' : way} ${caller} ${mode.replace('diff-', '')}`

async function over2(session: ClientHttp2Session, way: Way, caller: string, mode: string): Promise<Got> {
  const [headers, body] = OVER_HTTP2[way]
  const stream = session.request({ ...headers, ...headersOf(caller, mode) }, { endStream: body === undefined })
  if (body) stream.end(body)
  const given = gathered(stream)
  stream.on('data', () => {
    if (isBroken && random() < LEAVING) stream.close(8)
    else if (isBroken && random() < SLOW) {
      stream.pause()
      setTimeout(() => stream.resume(), 50)
    }
  })
  const { status, head, trailers, body: bytes, reset } = await given
  const code = trailers['grpc-status'] ?? head['grpc-status']
  const isWell = reset === 0 && status === 200 && (way !== 'gRPC' || code === '0')
  const said = `${bytes} ${head['grpc-message'] ?? ''} ${trailers['grpc-message'] ?? ''}`
  const isError = reset === 0 && !isWell
  return { caller, key: keyOf(way, caller, mode), whole: isWell ? bytes : undefined, error: isError ? said : undefined }
}

async function over1(url: string, asked: readonly (readonly [caller: string, mode: string])[]): Promise<readonly Got[]> {
  const text = asked.map(
    ([caller, mode]) =>
      `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${caller}\r\nx-crosswalk-mode: ${mode}\r\nconnection: keep-alive\r\n\r\n`,
  )
  const leaves = isBroken && random() < LEAVING
  const { answers } = await talk(
    url,
    (socket) => {
      socket.write(text.join(''))
      if (leaves) setTimeout(() => socket.resetAndDestroy(), random() * 20)
    },
    asked.length,
  )
  return asked.flatMap(([caller, mode], nth) => {
    const answer = answers[nth]
    if (!answer || answer.broken || answer.status === 0) return []
    const isWell = answer.status === 200
    const bytes = Buffer.from(answer.body, 'latin1')
    return [{ caller, key: keyOf('HTTP/1.1', caller, mode), whole: isWell ? bytes : undefined, error: isWell ? undefined : answer.body }]
  })
}

const draw = () => [pick(CALLERS), pick(MODES)] as const

const failed = await inWorld(
  service,
  { 'fallback.perMinute': 0, 'upstream.v1Grpc': 'rest', 'log.level': 'silent', modes: { default: 'v2', rules: [], testers: ['*'] } },
  async ({ proxy }) => {
    const { url } = proxy
    const right = new Map<string, Buffer>()
    const wrong: string[] = []
    const counts = { whole: 0, errors: 0, asked: 0 }
    const session = await connect2(url)
    for (const caller of CALLERS) {
      for (const mode of ['v1', 'v2']) {
        const ways = (Object.keys(OVER_HTTP2) as Way[]).map((way) => over2(session, way, caller, mode))
        for (const { key, whole, error } of [...(await Promise.all(ways)), ...(await over1(url, [[caller, mode]]))]) {
          if (!whole) throw new Error(`${key}: no whole answer from services that work: ${error}`)
          const marks = new Set(whole.toString('latin1').match(MARK))
          if (marks.size !== 1 || !marks.has(caller)) throw new Error(`${key}: ${[...marks]}`)
          right.set(key, whole)
        }
      }
    }
    session.destroy()

    const judge = ({ caller, key, whole, error }: Got) => {
      if (whole) counts.whole += 1
      if (error !== undefined) counts.errors += 1
      const others = [...new Set((whole?.toString('latin1') ?? error ?? '').match(MARK))].filter((mark) => mark !== caller)
      if (others.length > 0) wrong.push(`${key}: bytes of ${others}`)
      else if (whole && !whole.equals(right.get(key)!))
        wrong.push(`${key}: ${whole.length} of ${right.get(key)!.length} bytes that ended well`)
    }
    isBroken = true
    const until = performance.now() + Number(values.seconds) * 1000
    const lane = async (nth: number) => {
      let own: ClientHttp2Session | undefined
      while (performance.now() < until && wrong.length < 20) {
        const way = (['HTTP/1.1', 'pipeline', 'HTTP/2', 'gRPC', 'Connect'] as const)[nth % 5]!
        counts.asked += 1
        if (way === 'HTTP/1.1') for (const got of await over1(url, [draw()])) judge(got)
        else if (way === 'pipeline') for (const got of await over1(url, [draw(), draw(), draw(), draw()])) judge(got)
        else {
          if (!own || own.destroyed || own.closed) own = await connect2(url)
          const session = own
          const several = await Promise.all(Array.from({ length: 3 }, () => over2(session, way, ...draw()).catch(() => undefined)))
          for (const got of several) if (got) judge(got)
          if (random() < 0.01) session.destroy()
        }
        await delay(0)
      }
      own?.destroy()
    }
    await Promise.all(Array.from({ length: LANES }, (_, nth) => lane(nth)))
    process.stdout.write(`CROSSWALK_SEED=${seed}; ${LANES} lanes, ${values.seconds} s\n`)
    process.stdout.write(`${counts.whole} answers that ended well, every byte as when nothing was broken; ${counts.errors} errors\n`)
    process.stdout.write(`${wrong.length} wrong\n${wrong.map((one) => `  ${one}\n`).join('')}`)
    return wrong.length > 0 || counts.whole === 0 || counts.errors === 0
  },
)
process.exit(failed ? 1 : 0)
