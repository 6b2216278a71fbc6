import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import tls from 'node:tls'
import { pathToFileURL } from 'node:url'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { type Issued, openAuthorities } from '../../stage/authority.ts'
import { until } from '../../stage/clocks.ts'
import { listening } from '../../stage/programs.ts'
import { hasRedis, startFailover } from '../../stage/stores.ts'
import { createProxy, exchange, type RestartableProxy, startSandbox } from '../balancer/processes.ts'
import { type Recorder, startRecorder, startWalk, type Trust, type Walk } from './lanes.ts'

/** What of a replica matters to a balancer. */
type Endpoint = Pick<RestartableProxy, 'port' | 'adminUrl'>

/** Milliseconds between two questions whether an endpoint is ready. */
const ASKS_EVERY = 50

/**
 * Passes each new connection to the next endpoint that is ready, as kube-proxy does. A connection stays with its endpoint for as long as both
 * sides keep it, whether or not the endpoint is ready still.
 */
async function startBalancer() {
  const ready = new Map<Endpoint, boolean>()
  const open = new Set<Socket>()
  let turn = 0
  let isOver = false
  const ask = async (endpoint: Endpoint) => {
    const answer = await fetch(`${endpoint.adminUrl}/readyz`).catch(() => undefined)
    await answer?.arrayBuffer().catch(() => {})
    if (ready.has(endpoint)) ready.set(endpoint, answer?.ok ?? false)
  }
  const watch = async () => {
    while (!isOver) {
      await Promise.all([...ready.keys()].map(ask))
      await delay(ASKS_EVERY)
    }
  }
  const server = net.createServer({ allowHalfOpen: true }, (client) => {
    const endpoints = [...ready].flatMap(([endpoint, isReady]) => (isReady ? [endpoint] : []))
    const endpoint = endpoints[turn++ % endpoints.length]
    if (!endpoint) return void client.destroy()
    const onward = net.connect({ port: endpoint.port, host: '127.0.0.1', allowHalfOpen: true })
    for (const [one, other] of [
      [client, onward],
      [onward, client],
    ] as const) {
      open.add(one)
      one.setNoDelay(true)
      one.pipe(other)
      one.on('error', () => void other.resetAndDestroy())
      one.once('close', () => open.delete(one))
    }
  })
  const { url } = await listening(server)
  void watch()
  return {
    url,
    /** Resolves when the endpoint is ready. */
    async add(endpoint: Endpoint) {
      ready.set(endpoint, false)
      await until(async () => ready.get(endpoint), 'the endpoint is ready')
    },
    remove: (endpoint: Endpoint) => void ready.delete(endpoint),
    close() {
      isOver = true
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

/** How often all replicas are replaced, and how often more each client asks before the next change. */
const ROUNDS = Number(process.env['CROSSWALK_ROUNDS'] ?? 1)

const TIMEOUT = 120_000 * ROUNDS

/** Sees names that end with `.test` where a file says. */
const NAMES = `
import dns from 'node:dns'
import { readFileSync } from 'node:fs'
const { lookup } = dns
dns.lookup = (name, options, done) => {
  if (!name.endsWith('.test')) return lookup(name, options, done)
  const address = readFileSync(process.env.PLACE, 'utf8')
  process.nextTick(() => (options.all ? done(null, [{ address, family: 4 }]) : done(null, address, 4)))
}
`

/** Puts a text into a file at once. */
function put(path: string, content: string): void {
  writeFileSync(`${path}.new`, content)
  renameSync(`${path}.new`, path)
}

/** Returns who signed the certificate of the proxy. Rejects if one side does not trust the other. */
async function issuerOf(port: number, trust: Trust): Promise<string | undefined> {
  const socket = tls.connect({ port, host: '127.0.0.1', ...trust })
  socket.write('GET /iam/v1/groups HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  const closed = once(socket, 'close').then(() => Promise.reject(new Error('the proxy closed the connection')))
  await Promise.race([once(socket, 'data'), closed])
  return socket.getPeerCertificate().issuer.CN
}

/** Authorities whose files end with the test. */
function authoritiesOfTest() {
  const authorities = openAuthorities()
  onTestFinished(authorities.close)
  return authorities
}

/** The settings of a proxy in front of one service that is v1 and v2. */
const inFrontOf = (url: string, ca: string) => ({
  CROSSWALK_UPSTREAM_V1: url,
  CROSSWALK_UPSTREAM_V2: url,
  CROSSWALK_UPSTREAM_V1_CA: ca,
  CROSSWALK_UPSTREAM_V2_CA: ca,
  CROSSWALK_LOG_LEVEL: 'error',
})

async function startReplica(env: Readonly<Record<string, string>>): Promise<RestartableProxy> {
  const replica = await createProxy(inject('cli'), env)
  onTestFinished(() => void replica.stop('SIGKILL'))
  await replica.start()
  return replica
}

/** Every request was answered once and rightly, and every write arrived once. */
async function expectNoneLost(name: string, walk: Walk, recorders: readonly Pick<Recorder, 'arrived'>[]): Promise<void> {
  const { sent, lost } = await walk.end(recorders)
  console.log(`${name}: ${sent} requests, ${lost.length} lost`)
  expect(lost.slice(0, 10)).toEqual([])
  expect(sent).toBeGreaterThan(100)
}

// A second try would hide a loss.
describe('no request is lost', { retry: 0 }, () => {
  it(
    'when three replicas are replaced one after the other',
    async () => {
      const authority = authoritiesOfTest().authority('vouching')
      const recorder = await startRecorder(authority.issue('v2').pem)
      const env = { ...inFrontOf(`https://127.0.0.1:${recorder.port}`, authority.ca), CROSSWALK_DRAIN_MS: '500' }
      const balancer = await startBalancer()
      onTestFinished(balancer.close)
      const start = async () => {
        const replica = await startReplica(env)
        await balancer.add(replica)
        return replica
      }
      let replicas: readonly RestartableProxy[] = await Promise.all([start(), start(), start()])
      const walk = startWalk(balancer)
      await walk.answered(ROUNDS)
      const exits = new Set<unknown>()
      for (let round = 0; round < ROUNDS; round += 1) {
        const next: RestartableProxy[] = []
        for (const old of replicas) {
          next.push(await start())
          exits.add(await old.stop('SIGTERM'))
          balancer.remove(old)
        }
        replicas = next
      }
      await walk.answered(ROUNDS)
      await expectNoneLost('rolling upgrade', walk, [recorder])
      expect(exits).toEqual(new Set([0]))
      expect(replicas.flatMap(({ log }) => log())).toEqual([])
      const served = await Promise.all(replicas.map(({ metric }) => metric('crosswalk_requests_total')))
      expect(served.filter((count) => count === 0)).toEqual([])
    },
    TIMEOUT,
  )

  it(
    'when v2 and v1 move to another address, and the old one closes',
    async () => {
      const authorities = authoritiesOfTest()
      const { folder } = authorities
      const authority = authorities.authority('vouching')
      const ageMs = 1000
      const hosts = ['127.0.0.1', '127.0.0.2'] as const
      const first = await startRecorder(authority.issue('first').pem, hosts[0])
      const second = await startRecorder(authority.issue('second').pem, hosts[1], first.port)
      const place = `${folder}/place`
      const move = (to: string) => put(place, to)
      move(hosts[0])
      writeFileSync(`${folder}/names.mjs`, NAMES)
      const replica = await startReplica({
        ...inFrontOf(`https://v2.test:${first.port}`, authority.ca),
        CROSSWALK_CONNECTION_AGE_MS: String(ageMs),
        NODE_OPTIONS: `--import=${pathToFileURL(`${folder}/names.mjs`)}`,
        PLACE: place,
      })
      const walk = startWalk({ url: replica.url })
      await walk.answered(ROUNDS)
      expect(second.arrived.size).toBe(0)
      move(hosts[1])
      // A connection may have been opened in the moment before.
      await delay(2 * ageMs)
      const before = first.arrived.size
      await walk.answered(3 * ROUNDS)
      expect([first.arrived.size - before, second.arrived.size > 100]).toEqual([0, true])
      await first.close()
      // Back again, to a service that ends its connections while they are in use.
      const third = await startRecorder(authority.issue('third').pem, hosts[0], first.port)
      move(hosts[0])
      second.leave()
      await walk.answered(3 * ROUNDS)
      await second.close()
      await walk.answered(ROUNDS)
      await expectNoneLost('a service that moves', walk, [first, second, third])
    },
    TIMEOUT,
  )

  it(
    'when certificates and authorities change on both sides',
    async () => {
      const authorities = authoritiesOfTest()
      const { folder } = authorities
      const old = authorities.authority('old')
      const other = authorities.authority('other')
      const both = old.pem + other.pem
      const service = await startRecorder({ ...old.issue('service').pem, ca: old.pem })
      const files = ['key', 'cert', 'client-ca', 'own-key', 'own-cert', 'service-ca'].map((name) => `${folder}/${name}`)
      const [key = '', cert = '', clientCa = '', ownKey = '', ownCert = '', serviceCa = ''] = files
      const show = ({ pem }: Issued, [keyFile, certFile]: readonly [string, string]) => {
        put(keyFile, pem.key)
        put(certFile, pem.cert)
      }
      const trust = (pem: string) => {
        put(clientCa, pem)
        put(serviceCa, pem)
      }
      show(old.issue('proxy'), [key, cert])
      show(old.issue('old-own'), [ownKey, ownCert])
      trust(old.pem)
      const replica = await startReplica({
        ...inFrontOf(`https://127.0.0.1:${service.port}`, serviceCa),
        ...{ CROSSWALK_UPSTREAM_V1_KEY: ownKey, CROSSWALK_UPSTREAM_V1_CERT: ownCert },
        ...{ CROSSWALK_UPSTREAM_V2_KEY: ownKey, CROSSWALK_UPSTREAM_V2_CERT: ownCert },
        ...{ CROSSWALK_TLS_KEY: key, CROSSWALK_TLS_CERT: cert, CROSSWALK_TLS_CLIENT_CA: clientCa },
        ...{ CROSSWALK_CONNECTION_AGE_MS: '500', CROSSWALK_LOG_LEVEL: 'info' },
      })
      const reloads = () => replica.log().filter((line) => line.includes('the certificates changed')).length
      const reload = async () => {
        const before = reloads()
        process.kill(replica.pid(), 'SIGHUP')
        await until(async () => reloads() > before, 'the certificates are read')
      }
      const client = old.issue('old-client').pem
      let trusted: Trust = { ...client, ca: old.pem }
      const walk = startWalk({ url: replica.url.replace('http:', 'https:'), trust: () => trusted })
      await walk.answered(ROUNDS)
      // First both sides trust both.
      trusted = { ...trusted, ca: both }
      service.identify({ ...old.issue('service').pem, ca: both })
      trust(both)
      await reload()
      await walk.answered(ROUNDS)
      // Then the certificates change.
      show(other.issue('proxy'), [key, cert])
      show(other.issue('new-own'), [ownKey, ownCert])
      await reload()
      service.identify({ ...other.issue('service').pem, ca: both })
      trusted = { ...other.issue('new-client').pem, ca: both }
      await walk.answered(2 * ROUNDS)
      // Then the old authority goes.
      trusted = { ...trusted, ca: other.pem }
      service.identify({ ...other.issue('service').pem, ca: other.pem })
      trust(other.pem)
      await reload()
      await delay(500)
      const before = service.peers.length
      await walk.answered(2 * ROUNDS)
      expect(new Set(service.peers.slice(before))).toEqual(new Set(['new-own']))
      await expectNoneLost('certificates that change', walk, [service])
      expect(await issuerOf(replica.port, trusted)).toBe('other')
      await expect(issuerOf(replica.port, { ...client, ca: other.pem })).rejects.toThrow()
      await expect(issuerOf(replica.port, { ...trusted, ca: old.pem })).rejects.toThrow()
    },
    TIMEOUT,
  )

  it.runIf(hasRedis())(
    'and no evidence, when the Redis of two replicas dies and another takes its place',
    async () => {
      const sandbox = await startSandbox(inject('cli'))
      onTestFinished(() => void sandbox.stop('SIGKILL'))
      const stores = await startFailover()
      onTestFinished(stores.stop)
      const env = {
        ...{ CROSSWALK_UPSTREAM_V1: sandbox.url, CROSSWALK_UPSTREAM_V2: sandbox.url, CROSSWALK_STORE_URL: stores.url },
        ...{ CROSSWALK_MODE: 'diff-v1', CROSSWALK_DIFF_PER_SECOND: '0', CROSSWALK_DIFF_WAITING: '100000', CROSSWALK_LOG_LEVEL: 'error' },
      }
      const replicas = await Promise.all([startReplica(env), startReplica(env)])
      const sumOf = async (metric: string) =>
        (await Promise.all(replicas.map((replica) => replica.metric(metric)))).reduce((sum, one) => sum + one, 0)
      const lost: string[] = []
      let wanted: string | undefined
      let [sent, isOver] = [0, false]
      // Each caller asks once, so that each answer is an observation.
      const ask = async () => {
        while (!isOver) {
          const nth = sent++
          const url = `${replicas[nth % 2]?.url}/iam/v1/groups`
          const answer = await exchange({ url, method: 'GET', token: `demo-owner-${nth}` }).catch((error: Error) => ({
            status: 0,
            body: error.message,
          }))
          wanted ??= answer.body
          if (answer.status !== 200 || answer.body !== wanted) lost.push(`${nth}: ${answer.status} ${answer.body.slice(0, 200)}`)
        }
      }
      const clients = [ask(), ask(), ask(), ask()]
      const more = async (count: number) => {
        const before = sent
        await until(async () => sent > before + count, 'more is asked')
      }
      await more(300 * ROUNDS)
      await stores.first.kill()
      await until(async () => (await stores.second.command('INFO', 'replication')).includes('role:master'), 'the other is the primary')
      await until(async () => (await sumOf('crosswalk_store_up')) === 2, 'both replicas have found it')
      await more(300 * ROUNDS)
      isOver = true
      await Promise.all(clients)
      await until(async () => (await sumOf('crosswalk_comparison_jobs_total')) === sent, 'all is compared')
      await until(async () => (await sumOf('crosswalk_store_waiting')) === 0, 'the store has all')
      const { fleet, operations } = (await (await fetch(`${replicas[0]?.adminUrl}/evidence`)).json()) as EvidenceReport
      console.log(`a Redis that fails over: ${sent} requests, ${lost.length} lost; ${operations[0]?.n} observations`)
      expect(lost.slice(0, 10)).toEqual([])
      expect(fleet?.problems).toEqual([])
      expect(operations).toMatchObject([{ operation: 'iam.groups.list', n: sent, bad: 0 }])
    },
    TIMEOUT,
  )
})
