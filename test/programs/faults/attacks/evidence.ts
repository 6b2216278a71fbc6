import { once } from 'node:events'
import http2 from 'node:http2'
import { setImmediate } from 'node:timers/promises'
import type { Config } from '../../../../src/app/config/settings.ts'
import type { Client } from '../../../../src/migrate/clients.ts'
import type { EvidenceReport } from '../../../../src/migrate/migration.ts'
import { ALL_V2, type ModeRules } from '../../../../src/migrate/modes/rules.ts'
import { runCommand } from '../../../app/cli/support.ts'
import { until } from '../../../stage/clocks.ts'
import { bearer, type Stage, startStage, type TestProxy } from '../../../stage/stage.ts'
import { connect2, fetch2 } from '../../../stage/upstream.ts'
import { answerTo, errorIn, type Fault, fault, inWorld, serving } from '../fault.ts'
import { idle, metric } from '../process/child.ts'
import { dial, SECURE } from '../wire.ts'

const PROTOCOLS = ['HTTP/1.1', 'HTTP/2'] as const

/** The proxy with the sandbox as v1 and v2; requests use one protocol. */
interface Scene {
  readonly stage: Stage
  readonly adminUrl: string
  /** Sends all requests at once and resolves with their statuses when they are over and compared. */
  ask(requests: readonly Request[]): Promise<readonly number[]>
}

interface Request {
  readonly path: string
  readonly token?: string | undefined
  readonly method?: string
}

async function inScene<T>(protocol: (typeof PROTOCOLS)[number], values: Partial<Config>, use: (scene: Scene) => Promise<T>): Promise<T> {
  const stage = await startStage({ proxy: { 'diff.learnEvery': 0, ...values } })
  const { url, adminUrl } = stage
  const session = protocol === 'HTTP/2' ? await connect2(url) : undefined
  const one = async ({ path, token, method = 'GET' }: Request) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    if (session) return (await fetch2(session, path, { ':method': method, ...headers })).status
    const answer = await fetch(url + path, { method, headers })
    await answer.arrayBuffer()
    return answer.status
  }
  let sent = 0
  const ask: Scene['ask'] = async (requests) => {
    sent += requests.length
    const statuses: number[] = []
    for (let at = 0; at < requests.length; at += TOGETHER) {
      statuses.push(...(await Promise.all(requests.slice(at, at + TOGETHER).map(one))))
    }
    // A client may have the last byte before the proxy logs the request.
    while (stage.log.filter(({ msg }) => msg === 'request').length < sent) await setImmediate()
    await stage.idle()
    return statuses
  }
  try {
    return await use({ stage, adminUrl, ask })
  } finally {
    session?.destroy()
    await stage.close()
  }
}

const TOGETHER = 50

const read = async <T>(url: string) => (await fetch(url)).json() as Promise<T>
const evidenceOf = ({ adminUrl }: Scene) => read<EvidenceReport>(`${adminUrl}/evidence`)
const clientsOf = ({ adminUrl }: Scene) => read<readonly Client[]>(`${adminUrl}/clients`)
const opened = ({ stage }: Scene) => stage.log.filter(({ msg }) => String(msg).includes(' is open, ')).length

/** Lists that v1 refuses without a token and that the tables refuse for their query. */
const LISTS = ['iam/v1/groups', 'iam/v1/roles', 'iam/v1/identities', 'iam/v1/rolebindings', 'registry/v1/repos', 'registry/v1/tags']
const ODD = ['limit=abc', 'limit=-1', 'offset=x', 'page=1&offset=1', 'order_by=colour']
const ODD_READS = LISTS.flatMap((list) => ODD.map((query) => `/${list}?${query}`))

async function oddReads(scene: Scene): Promise<string> {
  await scene.ask(ODD_READS.map((path) => ({ path })))
  await scene.ask(ODD_READS.map((path, nth) => ({ path, token: forged(nth) })))
  const { operations, traffic } = await evidenceOf(scene)
  const mismatches = operations.reduce((sum, one) => sum + one.mismatches, 0)
  const clients = await clientsOf(scene)
  return `${mismatches} mismatches, ${opened(scene)} open circuits, ${Object.keys(traffic).length + operations.length} operations with traffic, ${clients.length} clients`
}

function forged(nth: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256' })}.${part({ iss: 'https://issuer', sub: `x-${nth}` })}.c2ln`
}

const CANARY: ModeRules = { ...ALL_V2, rules: [{ operations: '*', clients: '*', mode: 'diff-v1', canary: { percent: 60, mode: 'v2' } }] }

async function junkInCanary(scene: Scene): Promise<string> {
  const tokens = Object.values(scene.stage.sandbox.tokens)
  const served = async () => {
    const from = scene.stage.log.length
    await scene.ask(tokens.map((token) => ({ path: '/iam/v1/groups', token })))
    const lines = scene.stage.log.slice(from)
    return lines
      .map(({ caller, mode }) => `${caller} ${mode}`)
      .sort()
      .join()
  }
  const before = await served()
  await scene.ask(
    Array.from({ length: 60 }, (_, nth) => ({ path: '/iam/v1/groups?limit=abc', token: nth % 2 ? `junk-${nth}` : forged(nth) })),
  )
  const after = await served()
  const stays = after === before ? 'every caller stays where it was' : `${before} became ${after}`
  return `${stays}, ${opened(scene)} open circuits, ${(await clientsOf(scene)).length} of ${tokens.length} clients`
}

async function crowd(scene: Scene): Promise<string> {
  const path = '/iam/v1/groups?limit=abc'
  const statuses = await scene.ask(Array.from({ length: 10_050 }, (_, nth) => ({ path, token: forged(nth) })))
  await scene.ask([{ path: '/iam/v1/groups', token: scene.stage.sandbox.tokens.owner }])
  const clients = await clientsOf(scene)
  return `${[...new Set(statuses)].join()}; listed: ${clients.map(({ calls }) => `one with ${calls} call`).join(', ')}`
}

const STRAY = ['/registry/v1/vuln_reports', '/events/v1/subscriptions?limit=abc', '/ping/v1/ping']

async function strayRequests(scene: Scene): Promise<string> {
  const { owner } = scene.stage.sandbox.tokens
  const queries = ['', '?limit=5', '?limit=500', '?limit=0', '?offset=1', '?order_by=name', '?id=x']
  await scene.ask(queries.map((query) => ({ path: `/iam/v1/groups${query}`, token: owner })))
  const verdict = async () => (await runCommand(['cutover', '--each', '--target', '0.5', '--admin', scene.adminUrl])).code
  const before = await verdict()
  const statuses = await scene.ask([undefined, 'junk', forged(1)].flatMap((token) => STRAY.map((path) => ({ path, token }))))
  return `cutover exits with ${before}, after ${[...new Set(statuses)].sort().join(', ')} with ${await verdict()}`
}

async function writesInHisName(scene: Scene): Promise<string> {
  const { url, tokens } = scene.stage.sandbox
  const headers = { authorization: `Bearer ${tokens.owner}` }
  const { token } = (await (await fetch(`${url}/sts/exchange?aud=${url}`, { method: 'POST', headers })).json()) as { token: string }
  const fake = `${token.split('.').slice(0, 2).join('.')}.c2ln`
  await scene.ask([{ path: '/iam/v1/roles', token }])
  // Fails once: a concurrent write may explain it as a race.
  await scene.stage.fault({ match: 'GET /iam/v2/groups', times: 1, change: { at: '/groups/0/name', to: 'wrong' } })
  const writes = Array.from({ length: 40 }, () => ({ path: '/iam/v1/groups/x', method: 'DELETE', token: fake }))
  await scene.ask([{ path: '/iam/v1/groups', token }, ...writes])
  const { operations } = await evidenceOf(scene)
  const { transients = 0, races = 0 } = operations.find(({ operation }) => operation === 'iam.groups.list') ?? {}
  return `${transients} transient, ${races} races`
}

interface Attack {
  readonly name: string
  readonly expected: string
  readonly values: Partial<Config>
  readonly see: (scene: Scene) => Promise<string>
  /** `npm test` leaves it out, as in `Fault`. */
  readonly full?: true
}

const DIFF_V1 = { modes: { ...ALL_V2, default: 'diff-v1' as const } }

const ATTACKS: readonly Attack[] = [
  {
    name: 'odd reads without a token, and with forged ones, in mode diff-v1',
    expected: '0 mismatches, 0 open circuits, 0 operations with traffic, 0 clients',
    values: DIFF_V1,
    see: oddReads,
  },
  {
    name: 'forged junk against a canary',
    expected: 'every caller stays where it was, 0 open circuits, 5 of 5 clients',
    values: { modes: CANARY },
    see: junkInCanary,
  },
  { name: '10,050 forged callers before a real one', expected: '400; listed: one with 1 call', values: {}, see: crowd, full: true },
  {
    name: 'strangers ask what nobody else asks, before a cutover',
    expected: 'cutover exits with 0, after 200, 400, 404 with 0',
    values: { modes: { ...ALL_V2, rules: [{ operations: 'iam.groups.list', clients: '*', mode: 'diff-v1' }] } },
    see: strayRequests,
  },
  {
    name: 'forged writes in the name of a caller whose answer is wrong',
    expected: '1 transient, 0 races',
    values: DIFF_V1,
    see: writesInHisName,
  },
]

export const evidenceAttacks: readonly Fault[] = ATTACKS.flatMap(({ name, expected, values, see, ...when }) =>
  PROTOCOLS.map((protocol) => ({ name: `${name} (${protocol})`, expected, see: () => inScene(protocol, values, see), ...when })),
)

/** A request without a token that once blocked all others. Most did so by work that grew with the square of the length, for minutes. */
interface Growing {
  readonly name: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly settings?: Partial<Config>
  /** v2's answer in place of rows. */
  readonly answer?: string
  readonly says: string
}

const REPOS = '/registry/v1/repos'
const CREATE = `${REPOS}/${'a'.repeat(40)}`
const JSON_BODY = { 'content-type': 'application/json' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': 'GET' }

/** Texts like array indices that end in the same bits. V8 once used those as their hash, so all of them went into few buckets. */
const indices = (count: number) => Array.from({ length: count }, (_, at) => String(((at * 2 ** 18) % 2 ** 32) + Math.floor(at / 2 ** 14)))
const environment = (count: number) => ({ environment: Object.fromEntries(indices(count).map((index) => [index, index])) })
const ROW = { uid: 'x', aliases: indices(9_000), customOverlay: environment(9_000) }

const GROWING: readonly Growing[] = [
  {
    name: 'a body with tens of thousands of wrong members',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', bundles: Array(20_000).fill(1) }),
    says: '400/3',
  },
  {
    name: 'a wrong member whose name is tens of thousands of indices',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', custom_overlay: { environment: { [`a${']['.repeat(40_000)}`]: 1 } } }),
    says: '400/3',
  },
  {
    name: 'a form with tens of thousands of equal filters',
    path: REPOS,
    headers: FORM,
    body: Array(60_000).fill('uidp.ids=false').join('&'),
    says: '400/3',
  },
  {
    name: 'a body with millions of empty values',
    path: `/iam/v1/rolebindings/batch/${'a'.repeat(40)}`,
    headers: JSON_BODY,
    body: `[${Array(4_000_000).fill('{}').join()}]`,
    settings: { 'upstream.v1': undefined, 'limits.requestBytes': 2 ** 24 },
    says: '400/3',
  },
  {
    name: 'a recorded write with tens of thousands of beginnings of a token',
    path: CREATE,
    headers: { ...JSON_BODY, ...bearer('somebody') },
    body: JSON.stringify({ name: 'x', description: 'eyJ-'.repeat(60_000) }),
    settings: { modes: { default: 'diff-v1', rules: [], testers: [] }, 'records.values': 'shown' },
    says: '200',
  },
  {
    name: '100,000 members and texts like array indices whose hashes collide',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', aliases: indices(100_000), custom_overlay: environment(50_000) }),
    says: '400/3',
  },
  {
    name: 'as many of them as a body may hold',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x', aliases: indices(4900), custom_overlay: environment(4900) }),
    says: '200',
  },
  {
    name: 'as many of them as a form may hold',
    path: REPOS,
    headers: FORM,
    body: indices(9900)
      .map((index) => `${index}=${index}`)
      .join('&'),
    says: '200',
  },
  {
    name: 'as many of them as a row of v2 may hold',
    path: CREATE,
    headers: JSON_BODY,
    body: JSON.stringify({ name: 'x' }),
    answer: JSON.stringify({ ...ROW, repos: [ROW] }),
    says: '200',
  },
]

/** Milliseconds that a busy machine may need; the square of the length would take a hundred times as long. */
const SOON = 5_000

const attack = ({ name, path, headers, body, settings = { 'upstream.v1': undefined }, answer, says }: Growing): Fault =>
  fault(name, `HTTP/1.1: ${says} soon, then somebody else 200 soon; HTTP/2: ${says} soon, then somebody else 200 soon`, () =>
    inWorld(answer === undefined ? serving(3) : (_, response) => response.end(answer), settings, async ({ proxy }) => {
      const session = await connect2(proxy.url)
      const over1 = await timed(async () => {
        const answer = await fetch(proxy.url + path, { method: 'POST', headers, body })
        return saying(answer.status, await answer.text(), answer.headers.get('content-type') ?? '')
      })
      const after1 = await timed(async () => String((await fetch(proxy.url + REPOS)).status))
      const over2 = await timed(async () => {
        const answer = await fetch2(session, path, { ':method': 'POST', ...headers }, body)
        return saying(answer.status, answer.body, answer.headers['content-type'])
      })
      const after2 = await timed(async () => String((await fetch2(session, REPOS)).status))
      session.destroy()
      return `HTTP/1.1: ${over1}, then somebody else ${after1}; HTTP/2: ${over2}, then somebody else ${after2}`
    }),
  )

function saying(status: number, body: string, type: string | undefined): string {
  return status < 400 ? String(status) : `${status}/${errorIn(body, type)}`
}

async function timed(ask: () => Promise<string>): Promise<string> {
  const began = performance.now()
  const said = await ask()
  const ms = performance.now() - began
  return `${said} ${ms < SOON ? 'soon' : `after ${Math.round(ms / 1000)} s`}`
}

export const growthAttacks: readonly Fault[] = GROWING.map(attack)

const MEMORY_CREATE = `/iam/v1/groups/${'a'.repeat(40)}`
const BODIES: Partial<Config> = { 'limits.requestBytes': 512 * 1024, 'limits.bodiesBytes': 1024 * 1024, 'upstream.v1': undefined }
const CROWD = 12
const PART = 'x'.repeat(200_000)

const refused = (proxy: TestProxy, reason: string) => metric(proxy, `crosswalk_refused_total{reason="${reason}"}`)

const write = (bytes: number, body: string) =>
  `POST ${MEMORY_CREATE} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\nconnection: close\r\n\r\n${body}`
const whole = (bytes: number) => write(bytes, JSON.stringify({ name: 'x'.repeat(bytes - 11) }))

/** Sends half a body from each client and waits; the returned function ends them. */
type Crowd = (proxy: TestProxy) => Promise<() => void>

const over1: Crowd = async ({ url }) => {
  const sockets = Array.from({ length: CROWD }, () => dial(url))
  for (const socket of sockets) socket.write(write(2 * PART.length, PART))
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

const over2 =
  (path: string, type: string): Crowd =>
  async ({ url }) => {
    const session = await connect2(url)
    for (let nth = 0; nth < CROWD; nth += 1) {
      const stream = session.request({ ':path': path, ':method': 'POST', 'content-type': type }, { endStream: false })
      stream.on('error', () => {}).write(type === 'application/grpc' ? FRAME : PART)
    }
    return () => session.destroy()
  }

const CALL = '/chainguard.platform.iam.Groups/Create'

/** The beginning of a message of twice the length. */
const FRAME = Buffer.concat([Buffer.of(0, 0, 6, 26, 128), Buffer.from(PART)])

const CROWDS: Readonly<Record<string, Crowd>> = {
  'HTTP/1': over1,
  'HTTP/2': over2(MEMORY_CREATE, 'application/json'),
  gRPC: over2(CALL, 'application/grpc'),
  Connect: over2(CALL, 'application/json'),
}

/** Checks that bodies that never end fill the memory for bodies, and nothing else. */
const unfinished = (crowd: Crowd) =>
  inWorld(serving(3), BODIES, async ({ proxy }) => {
    const leave = await crowd(proxy)
    await until(async () => (await refused(proxy, 'bodies')) > 0)
    const [another, read] = [await answerTo(proxy.url, whole(500_000)), await answerTo(proxy.url)]
    leave()
    await idle(proxy)
    return `another body ${another}; a read ${read}; when they are gone ${await answerTo(proxy.url, whole(500_000))}`
  })

const MOST = 20

const connections = (settings: Partial<Config>) =>
  inWorld(serving(3), { 'limits.clientConnections': MOST, ...settings }, async ({ proxy }) => {
    const sockets = Array.from({ length: MOST }, () => dial(proxy.url))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const further = Array.from({ length: 5 }, () => dial(proxy.url))
    await Promise.all(further.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    const open = sockets.filter((socket) => !socket.destroyed).length
    for (const socket of sockets) socket.destroy()
    return `${open} stay open, 5 further ones are closed and counted: ${await refused(proxy, 'connections')}`
  })

const SESSIONS = 28
const STREAMS = 100

export const memoryAttacks: readonly Fault[] = [
  ...Object.entries(CROWDS).map(([way, crowd]) => ({
    name: `bodies over ${way} that are never finished`,
    expected: 'another body 503/14, again after 1 s; a read 200, 3 rows; when they are gone 200',
    see: () => unfinished(crowd),
    ...(!way.startsWith('HTTP') && { full: true as const }),
  })),
  fault('refusals over HTTP/2 that nobody reads', '1000 refusals wait, 1000 streams are reset; when they are gone 200, 3 rows', () =>
    inWorld(serving(3), { 'limits.requestsInFlight': 800, 'upstream.v1': undefined }, async ({ proxy }) => {
      const sessions = Array.from({ length: SESSIONS }, () => http2.connect(proxy.url, { settings: { initialWindowSize: 0 } }))
      let reset = 0
      for (const session of sessions) {
        session.on('error', () => {})
        await once(session, 'remoteSettings')
        for (let nth = 0; nth < STREAMS; nth += 1) {
          const stream = session.request({ ':path': '/iam/v1/nothing', authorization: 'Bearer t' }).on('error', () => {})
          stream.once('close', () => {
            if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) reset += 1
          })
        }
      }
      await until(async () => (await refused(proxy, 'overload')) === SESSIONS * STREAMS - 800)
      await until(async () => reset >= SESSIONS * STREAMS - 1800)
      for (const session of sessions) session.destroy()
      await idle(proxy)
      return `1000 refusals wait, ${reset} streams are reset; when they are gone ${await answerTo(proxy.url)}`
    }),
  ),
  fault('more connections than there may be', '20 stay open, 5 further ones are closed and counted: 5', () => connections({})),
  fault('more connections over TLS than there may be', '20 stay open, 5 further ones are closed and counted: 5', () => connections(SECURE)),
]
