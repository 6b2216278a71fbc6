import http2, { type ClientHttp2Session, type OutgoingHttpHeaders } from 'node:http2'
import { type Child, cpuMs } from './child.ts'
import { startCrosswalk, startUpstream } from './proxies.ts'
import { atMost, type Figure, median, type Scenario, shown } from './report.ts'
import { PAGE_ROWS, uidAt } from './rows.ts'

/** A request over HTTP/2, without the address and the token. */
interface Asked {
  readonly headers: OutgoingHttpHeaders
  readonly body?: Buffer
}

/** The same question over both protocols. */
interface Question {
  readonly name: string
  readonly rest: Asked
  readonly grpc: Asked
  /** How many times the processor time of REST gRPC may take. */
  readonly most: number
}

/** What a question costs Crosswalk: medians of all rounds. */
export interface BesideRest {
  readonly name: string
  /** Microseconds of processor time for a request over REST and over gRPC, both on HTTP/2, and their ratio in one round. */
  readonly rest: number
  readonly grpc: number
  readonly ratio: number
  /** The bound of the ratio. */
  readonly most: number
}

const ROUNDS = 9
const MS = 700
const PARALLEL = 20
const CONNECTIONS = 4

const LIST_TAGS = '/chainguard.platform.registry.Registry/ListTags'

/** Writes a message of gRPC: its frame, and a text as the field with this tag. */
function framed(tag: number, text: string): Buffer {
  const message = text === '' ? Buffer.alloc(0) : Buffer.concat([Buffer.from([tag, text.length]), Buffer.from(text)])
  return Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message])
}

/** The tag of `id` in the filter of tags. */
const ID = 0x4a

const overGrpc = (body: Buffer): Asked => ({
  headers: { ':method': 'POST', ':path': LIST_TAGS, 'content-type': 'application/grpc', te: 'trailers' },
  body,
})

const QUESTIONS: readonly Question[] = [
  { name: 'one row', rest: { headers: { ':path': `/registry/v1/tags?id=${uidAt(1)}` } }, grpc: overGrpc(framed(ID, uidAt(1))), most: 1.15 },
  { name: `${PAGE_ROWS} rows`, rest: { headers: { ':path': '/registry/v1/tags' } }, grpc: overGrpc(framed(ID, '')), most: 1.4 },
]

const LAUNCHES = 5

/** Point 11: gRPC beside REST on HTTP/2, each launch in a fresh process. */
export const grpc: Scenario = async (run) => {
  const launches: (readonly BesideRest[])[] = []
  for (let launch = 0; launch < (run.short ? 1 : LAUNCHES); launch += 1) {
    launches.push(await besideRest())
    run.note(
      `gRPC beside REST, launch ${launch + 1}: ${launches
        .at(-1)
        ?.map(({ name, ratio }) => `${name} ${ratio.toFixed(2)} ×`)
        .join(', ')}`,
    )
  }
  return QUESTIONS.flatMap(({ name, most }, at): readonly Figure[] => {
    const of = (member: 'rest' | 'grpc' | 'ratio') => median(launches.map((launch) => launch[at]?.[member] ?? Number.NaN))
    return [
      shown(11, `${name}: REST on HTTP/2, CPU`, of('rest'), 'µs/request'),
      shown(11, `${name}: gRPC, CPU`, of('grpc'), 'µs/request'),
      atMost(11, `${name}: gRPC ÷ REST on HTTP/2, CPU`, of('ratio'), '×', most),
    ]
  })
}

/** Asks the same over REST on HTTP/2 and over gRPC, in turns, and measures the processor time of Crosswalk for each request. */
export async function besideRest(): Promise<readonly BesideRest[]> {
  const upstream = await startUpstream(PAGE_ROWS)
  const proxy = await startCrosswalk(upstream.url)
  const sessions = Array.from({ length: CONNECTIONS }, () => http2.connect(proxy.url))
  const results: BesideRest[] = []
  for (const question of QUESTIONS) results.push(await measure(question, sessions, proxy))
  for (const session of sessions) session.close()
  await Promise.all([proxy.stop(), upstream.stop()])
  return results
}

async function measure({ name, rest, grpc, most }: Question, sessions: readonly ClientHttp2Session[], proxy: Child): Promise<BesideRest> {
  const rounds: { readonly rest: number; readonly grpc: number }[] = []
  for (let round = 0; round < ROUNDS + 2; round += 1) {
    const spent = { rest: await spentOn(rest, sessions, proxy), grpc: await spentOn(grpc, sessions, proxy) }
    // The first rounds warm up.
    if (round > 1) rounds.push(spent)
  }
  return {
    name,
    rest: median(rounds.map((round) => round.rest)),
    grpc: median(rounds.map((round) => round.grpc)),
    ratio: median(rounds.map((round) => round.grpc / round.rest)),
    most,
  }
}

/** Returns the microseconds of processor time that one request costs. */
async function spentOn(asked: Asked, sessions: readonly ClientHttp2Session[], { pid }: Child): Promise<number> {
  const before = cpuMs(pid)
  const until = performance.now() + MS
  let count = 0
  const lane = async (caller: number) => {
    for (; performance.now() < until; count += 1) await ask(sessions[caller % CONNECTIONS] as ClientHttp2Session, asked, caller)
  }
  await Promise.all(Array.from({ length: PARALLEL }, (_, caller) => lane(caller)))
  return ((cpuMs(pid) - before) * 1000) / count
}

/** Makes one request. Rejects if it is not answered well. Each caller has a token of its own, so that no answer is shared. */
function ask(session: ClientHttp2Session, { headers, body }: Asked, caller: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ...headers, authorization: `Bearer caller-${caller}` }, { endStream: body === undefined })
    let status: unknown
    stream.once('response', (head) => {
      status = head[':status'] === 200 ? head['grpc-status'] : head[':status']
    })
    stream.once('trailers', (trailers) => {
      status = trailers['grpc-status']
    })
    stream.once('error', reject)
    stream.once('end', () => (status === undefined || status === '0' ? resolve() : reject(new Error(`the answer is ${status}`))))
    stream.resume()
    if (body) stream.end(body)
  })
}
