import { setImmediate } from 'node:timers/promises'
import type { Config } from '../../../src/app/config/settings.ts'
import type { Client } from '../../../src/migrate/clients.ts'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { ALL_V2, type ModeRules } from '../../../src/migrate/modes/rules.ts'
import { runCommand } from '../../cli/support.ts'
import { connect2, fetch2 } from '../../listen/fetch2.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import type { Fault } from '../fault.ts'

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
  const stage = await startStage({ 'diff.learnEvery': 0, ...values })
  const { url, adminUrl } = stage.server
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
    while (stage.server.log.filter(({ msg }) => msg === 'request').length < sent) await setImmediate()
    await stage.server.idle()
    return statuses
  }
  try {
    return await use({ stage, adminUrl, ask })
  } finally {
    session?.destroy()
    await stage.close()
  }
}

/** The number of parallel requests. */
const TOGETHER = 50

const read = async <T>(url: string) => (await fetch(url)).json() as Promise<T>
const evidenceOf = ({ adminUrl }: Scene) => read<EvidenceReport>(`${adminUrl}/evidence`)
const clientsOf = ({ adminUrl }: Scene) => read<readonly Client[]>(`${adminUrl}/clients`)
const opened = ({ stage }: Scene) => stage.server.log.filter(({ msg }) => String(msg).includes(' is open, ')).length

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

/** Returns an unsigned token of a subject of its own. */
function forged(nth: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256' })}.${part({ iss: 'https://issuer', sub: `x-${nth}` })}.c2ln`
}

const CANARY: ModeRules = {
  ...ALL_V2,
  rules: [{ operations: '*', clients: '*', mode: 'diff-v1', canary: { percent: 60, mode: 'v2' } }],
}

async function junkInCanary(scene: Scene): Promise<string> {
  const tokens = Object.values(scene.stage.sandbox.tokens)
  const served = async () => {
    const from = scene.stage.server.log.length
    await scene.ask(tokens.map((token) => ({ path: '/iam/v1/groups', token })))
    const lines = scene.stage.server.log.slice(from)
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

/** Requests that only v1 could answer, that the tables cannot read, or that need no token. */
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
