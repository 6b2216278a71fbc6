import { execFile } from 'node:child_process'
import http from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { WEIGHTS } from '../../../src/migrate/evidence/evidence.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import { readEntries } from '../../../src/migrate/records/record-file.ts'
import { seeded, startOwnTime, until } from '../../stage/clocks.ts'
import { temporaryFolder } from '../../stage/programs.ts'
import { type AdminReply, hasRedis, startRedis, type TestRedis } from '../../stage/stores.ts'
import { createProxy, exchange, startSandbox } from '../balancer/processes.ts'
import { read, startWorkers } from '../workers/served.ts'

type ReplicaProcess = Awaited<ReturnType<typeof createReplica>>

type StartedFleet = Awaited<ReturnType<typeof startFleet>>

/** Starts a Redis that writes to disk, the sandbox, and three proxies in front of it with these settings. */
async function startFleet(env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder('fleet')
  const redis = await startRedis({ settings: { appendonly: 'yes' } })
  const cli = inject('cli')
  const service = await startSandbox(cli)
  const shared = {
    CROSSWALK_UPSTREAM_V1: service.url,
    CROSSWALK_UPSTREAM_V2: service.url,
    CROSSWALK_STORE_URL: redis.url,
    CROSSWALK_LOG_LEVEL: 'warn',
    ...env,
  }
  const create = (name: string) => createReplica(cli, join(folder.path, `${name}.ndjson`), shared)
  const replicas = [await create('a'), await create('b'), await create('c')] as const
  const stop = async () => {
    for (const { stop } of replicas) await stop('SIGKILL')
    await service.stop('SIGKILL')
    await redis.stop()
    folder.remove()
  }
  await Promise.all(replicas.map((one) => one.start())).catch(async (error: Error) => {
    await stop()
    throw error
  })
  /** Breaks answers of the sandbox from now on. */
  const plant = async (fault: object) => {
    await fetch(`${service.url}/-/faults`, { method: 'POST', body: JSON.stringify(fault) })
  }
  return { redis, sandbox: service.url, replicas, plant, stop }
}

/** Creates one process of the fleet, with its record file. */
async function createReplica(cli: string, records: string, env: Readonly<Record<string, string>>) {
  const proxy = await createProxy(cli, { ...env, CROSSWALK_RECORDS_FILE: records })
  const agent = new http.Agent({ keepAlive: true })
  return {
    ...proxy,
    records,
    /** Sends a request of a client. Rejects if the connection breaks. */
    send: (method: string, path: string, token: string, body?: unknown) => exchange({ url: proxy.url + path, method, token, agent }, body),
    /** Asks the admin port. */
    async ask(path: string, put?: { readonly body: unknown; readonly etag: string }): Promise<AdminReply> {
      const headers = { 'content-type': 'application/json', ...(put && { 'if-match': put.etag }) }
      const asked = put ? { method: 'PUT', body: JSON.stringify(put.body) } : {}
      const answer = await fetch(proxy.adminUrl + path, { headers, ...asked })
      return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: await answer.json() }
    },
    /** Starts it again after `kill -9`. */
    async restart() {
      await proxy.stop('SIGKILL')
      await proxy.start()
    },
  }
}

/** A read of a client, and the replica that it reaches. */
interface RandomRead {
  readonly path: string
  readonly token: string
  readonly replica: number
}

const LISTS = [
  ...['/iam/v1/groups', '/iam/v1/identities', '/iam/v1/identityProviders', '/iam/v1/rolebindings', '/iam/v1/roles', '/registry/v1/repos'],
]

const ORGANIZATION = '588391a69873a06cb99a4ed5a59102644f751ea4'

/** Requests of different shapes. */
const WAYS = [
  ...['', 'limit=3', 'limit=500', 'limit=-1', 'page=1&page_size=3', 'order_by=name', 'order_by=name desc'],
  ...[`uidp.children_of=${ORGANIZATION}`],
]

const CALLERS = 150

/** Wrong answers of v2: to every list of roles, and to one kind of request for groups. */
const PLANTED = [
  { match: 'GET /iam/v2/roles', change: { at: '/roles/0/description', to: 'planted' } },
  { match: `GET /iam/v2/groups/${ORGANIZATION}`, change: { at: '/description', to: 'planted' } },
]

/** Draws reads: every third repeats one of the last thousand, at any replica. */
function randomReads(count: number, seed: number): readonly RandomRead[] {
  const random = seeded(seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const kinds = LISTS.flatMap((list) => WAYS.map((way) => (way === '' ? list : `${list}?${encodeURI(way)}`)))
  kinds.push(`/iam/v1/groups?id=${ORGANIZATION}`)
  const reads: RandomRead[] = []
  while (reads.length < count) {
    const isRepeat = reads.length > 0 && random() < 1 / 3
    const { path, token } = isRepeat
      ? pick(reads.slice(-1000))
      : { path: pick(kinds), token: `demo-owner-${Math.floor(random() * CALLERS)}` }
    reads.push({ path, token, replica: Math.floor(random() * 3) })
  }
  return reads
}

/** What one caller's requests of one kind said. */
interface RecordedPair {
  readonly operation: string
  readonly isBad: boolean
  /** The files that hold it, and the time of the first record in milliseconds since 1970. */
  readonly files: ReadonlySet<string>
  readonly firstAt: number
}

/**
 * Reads all record files and keeps the first record of each pair of caller and kind of request: the slowest way to count. All records are
 * of the same ten minutes.
 */
async function recordedPairs(paths: readonly string[]): Promise<readonly RecordedPair[]> {
  const records: (readonly [file: string, one: Comparison])[] = []
  for (const path of paths) {
    for await (const entry of readEntries(path)) {
      if (entry.kind === 'comparison' && WEIGHTS[entry.outcome] !== 'nothing') records.push([path, entry])
    }
  }
  const pairs = new Map<string, RecordedPair & { readonly files: Set<string> }>()
  for (const [file, { operation, caller, shape, outcome, at }] of records.sort(([, a], [, b]) => Date.parse(a.at) - Date.parse(b.at))) {
    const key = `${operation} ${caller} ${shape}`
    const known = pairs.get(key)
    if (known) known.files.add(file)
    else pairs.set(key, { operation, isBad: WEIGHTS[outcome] === 'bad', files: new Set([file]), firstAt: Date.parse(at) })
  }
  return [...pairs.values()]
}

/** Observations, and those against v2, by operation. */
function countsOf(pairs: readonly RecordedPair[]): Readonly<Record<string, { readonly n: number; readonly bad: number }>> {
  const counts: Record<string, { n: number; bad: number }> = {}
  for (const { operation, isBad } of pairs) {
    counts[operation] ??= { n: 0, bad: 0 }
    counts[operation].n += 1
    counts[operation].bad += Number(isBad)
  }
  return counts
}

const REQUESTS = Number(process.env['CROSSWALK_CASES'] ?? 10_000)
const SEED = Number(process.env['CROSSWALK_SEED'] ?? 18)

/** Requests at the same time. */
const LANES = 12

/** Milliseconds before its death in which a replica may have known what it had not sent: 100, and the time of an exchange. */
const UNSENT_MS = 200

/** Milliseconds before its death in which a replica may have sent what it had not written to its file. */
const UNWRITTEN_MS = 50

/** Every comparison is made and recorded, so that the files hold all. */
const EVERYTHING = {
  CROSSWALK_MODE: 'diff-v1',
  CROSSWALK_DIFF_PER_SECOND: '0',
  CROSSWALK_DIFF_WAITING: '100000',
  CROSSWALK_DIFF_LEARN_EVERY: '0',
}

describe.runIf(hasRedis())(`three replicas (seed ${SEED}, ${REQUESTS} requests)`, () => {
  let fleet: StartedFleet
  const failures: string[] = []
  const sent: (RandomRead & { readonly at: number })[] = []
  beforeAll(async () => {
    fleet = await startFleet(EVERYTHING)
    for (const fault of PLANTED) await fleet.plant(fault)
  }, 60_000)
  afterAll(() => fleet?.stop())

  const reads = randomReads(REQUESTS, SEED)
  /** Sends all reads up to this share of them. The replica that `isDead` names may leave them without an answer. */
  const sendUpTo = async (share: number, dead?: number) => {
    const end = Math.floor(share * REQUESTS)
    const lane = async () => {
      while (sent.length < end) {
        const read = reads[sent.length] as RandomRead
        const { path, token, replica } = read
        sent.push({ ...read, at: Date.now() })
        const answer = await fleet.replicas[replica]?.send('GET', path, token).catch((error: Error) => ({ status: 0, body: error.message }))
        if ((!answer || answer.status === 0 || answer.status >= 500) && replica !== dead)
          failures.push(`${path} at ${replica}: ${answer?.status} ${answer?.body}`)
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }
  /** Resolves when no replica compares anything more. */
  const compared = async () => {
    let [before, now] = [-1, 0]
    await until(async () => {
      before = now
      now = (await Promise.all(fleet.replicas.map(({ metric }) => metric('crosswalk_comparison_jobs_total')))).reduce(
        (sum, one) => sum + one,
      )
      return await delay(250, before === now)
    }, 'nothing more is compared')
  }
  /** Milliseconds of own time until no replica has anything that the store lacks. */
  const caughtUp = async () => {
    const took = startOwnTime()
    await until(async () => {
      const waiting = await Promise.all(fleet.replicas.map(({ metric }) => metric('crosswalk_store_waiting')))
      const up = await Promise.all(fleet.replicas.map(({ metric }) => metric('crosswalk_store_up')))
      return up.every((one) => one === 1) && waiting.every((one) => one === 0)
    }, 'the store has everything')
    return Math.round(took())
  }

  it('count each observation once through a death, a frozen store and a killed one', async () => {
    const { redis, replicas } = fleet
    const { body: before } = await replicas[1].ask('/replicas')
    const killed = before.find(({ self }: { self: boolean }) => self).id
    await sendUpTo(0.25)
    const half = sendUpTo(0.4, 1)
    await until(async () => sent.length > 0.3 * REQUESTS)
    const killedAt = Date.now()
    await replicas[1].stop('SIGKILL')
    await Promise.all([half, replicas[1].start()])
    redis.freeze()
    await sendUpTo(0.6)
    await compared()
    redis.thaw()
    const afterFreeze = await caughtUp()
    await sendUpTo(0.7)
    await redis.kill()
    await sendUpTo(0.85)
    await compared()
    await redis.start()
    const afterDeath = await caughtUp()
    await sendUpTo(1)
    await compared()
    const { body } = await replicas[0].ask('/evidence')
    console.log(`${sent.length} requests; caught up ${afterFreeze} ms after a freeze, ${afterDeath} ms after a death`)
    expect(failures).toEqual([])
    // On a machine with nothing else to do it takes less than two seconds.
    expect(Math.max(afterFreeze, afterDeath)).toBeLessThan(5000)
    // What the dead replica knew last is not known, and the fleet says so.
    expect(body.fleet.problems).toEqual([expect.stringContaining(killed)])

    const pairs = await recordedPairs(replicas.map(({ records }) => records))
    const isUnsent = ({ files, firstAt }: RecordedPair) =>
      files.size === 1 && files.has(replicas[1].records) && firstAt <= killedAt && firstAt > killedAt - UNSENT_MS
    const unsent = pairs.filter(isUnsent)
    const unwritten = sent.filter(({ replica, at }) => replica === 1 && at <= killedAt && at > killedAt - UNWRITTEN_MS).length
    const [most, least] = [countsOf(pairs), countsOf(pairs.filter((pair) => !unsent.includes(pair)))]
    const total = (counts: typeof most) => Object.values(counts).reduce((sum, { n }) => sum + n, 0)
    let counted = 0
    for (const { operation, n, bad } of body.operations) {
      counted += n
      const [at, to] = [least[operation] ?? { n: 0, bad: 0 }, most[operation] ?? { n: 0, bad: 0 }]
      expect(n, operation).toBeGreaterThanOrEqual(at.n)
      expect(bad, operation).toBeGreaterThanOrEqual(at.bad)
      expect(n, operation).toBeLessThanOrEqual(to.n + unwritten)
      expect(bad, operation).toBeLessThanOrEqual(to.bad + unwritten)
    }
    console.log(`${counted} counted, ${total(most)} recorded, at most ${unsent.length} not sent, at most ${unwritten} not written`)
    expect(Object.keys(most).sort()).toEqual(body.operations.map(({ operation }: { operation: string }) => operation).sort())
    expect(counted).toBeLessThanOrEqual(total(most) + unwritten)
    expect(most['registry.repos.list']?.bad).toBe(0)
    expect(['iam.roles.list', 'iam.groups.list'].map((operation) => (most[operation]?.bad ?? 0) > 0)).toEqual([true, true])
  }, 240_000)

  it('are reported alike from all record files', async () => {
    const files = fleet.replicas.map(({ records }) => records)
    const run = promisify(execFile)(process.execPath, [inject('cli'), 'report', '--json', ...files], { maxBuffer: 2 ** 26 })
    const { stdout } = await run.catch((ended: { stdout: string }) => ended)
    const operations: { operation: string; n: number; bad: number }[] = JSON.parse(stdout).operations
    const counts = countsOf(await recordedPairs(files))
    for (const [operation, { n, bad }] of Object.entries(counts)) {
      expect(operations.find((one) => one.operation === operation)).toMatchObject({ n, bad })
    }
  })
})

const TOKEN = 'demo-owner'

/** Everything as v1 answers it, and roles for all clients as v2 does. */
const CANARY = {
  default: 'v1',
  rules: [{ operations: 'iam.roles.list', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'diff-v2' } }],
}

const WRONG = 'a description that v1 does not have'

describe.runIf(hasRedis())('three replicas with a Redis', () => {
  let fleet: StartedFleet
  beforeAll(async () => {
    fleet = await startFleet({ CROSSWALK_MODE: 'v2' })
  }, 60_000)
  afterAll(() => fleet?.stop())

  const modeOf = async (replica: ReplicaProcess) => (await replica.ask('/modes')).body.default
  /** Puts rules through a replica, and waits for nobody. */
  const put = async (replica: ReplicaProcess, body: unknown) => replica.ask('/modes', { body, etag: (await replica.ask('/modes')).etag })

  it('show a client its own writes through round robin', async () => {
    const { replicas } = fleet
    const { body } = await replicas[0].send('POST', `/registry/v1/repos/${ORGANIZATION}`, TOKEN, { name: 'own' })
    const { id } = JSON.parse(body)
    const repo = `/registry/v1/repos/${encodeURIComponent(id)}`
    const byId = `/registry/v1/repos?id=${encodeURIComponent(id)}`
    let stale = 0
    for (let at = 0; at < 200; at += 1) {
      const [writer, reader] = [replicas[at % 3], replicas[(at + 1) % 3]] as const
      // A read that is under way when the write is made must not answer the next one.
      const earlier = reader?.send('GET', byId, TOKEN)
      expect((await writer?.send('PUT', repo, TOKEN, { name: 'own', description: `at ${at}` }))?.status).toBe(200)
      const seen = await reader?.send('GET', byId, TOKEN)
      if (JSON.parse(seen?.body ?? '{}').items?.[0]?.description !== `at ${at}`) stale += 1
      await earlier
    }
    expect(stale).toBe(0)
  }, 60_000)

  it('keep an emergency v1 through kill -9 of a replica whose settings say v2', async () => {
    const { replicas } = fleet
    expect((await put(replicas[0], { default: 'v1' })).status).toBe(200)
    await replicas[1].restart()
    expect(await Promise.all(replicas.map(modeOf))).toEqual(['v1', 'v1', 'v1'])
    const [a, b] = await Promise.all(replicas.map((one) => one.ask('/modes')))
    expect(b?.etag).toBe(a?.etag)
  })

  it('demote everywhere what one found wrong, until a person changes the modes', async () => {
    const { replicas, plant, sandbox } = fleet
    await plant({ match: 'GET /iam/v2/roles', change: { at: '/roles/0/description', to: WRONG } })
    expect((await put(replicas[0], CANARY)).status).toBe(200)
    const roles = async (replica: ReplicaProcess) => (await replica.send('GET', '/iam/v1/roles', TOKEN)).body
    expect(await roles(replicas[1])).toContain(WRONG)
    const isOpen = async (replica: ReplicaProcess) => (await replica.ask('/evidence')).body.circuits['iam.roles.list']?.state === 'open'
    await until(async () => {
      await roles(replicas[0])
      return isOpen(replicas[0])
    }, 'the circuit opens at A')
    await until(() => isOpen(replicas[1]), 'the circuit is open at B')
    expect(await roles(replicas[1])).not.toContain(WRONG)
    for (const replica of replicas) await replica.stop('SIGKILL')
    await Promise.all(replicas.map((replica) => replica.start()))
    for (const replica of replicas) expect(await roles(replica)).not.toContain(WRONG)
    expect((await put(replicas[2], { ...CANARY, default: 'v2' })).status).toBe(200)
    for (const replica of replicas) expect(await isOpen(replica)).toBe(false)
    await fetch(`${sandbox}/-/faults`, { method: 'DELETE' })
  }, 60_000)

  it('demote 20 times of 20 what fails at one of them', async () => {
    const { replicas, plant, sandbox } = fleet
    await plant({ match: 'GET /iam/v2/roles', status: 500 })
    const rules = [{ operations: 'iam.roles.list', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'v2' } }]
    const isDemoted = async (replica: ReplicaProcess) => 'iam.roles.list' in ((await replica.ask('/modes')).body.circuits ?? {})
    const times: number[] = []
    for (let round = 0; round < 20; round += 1) {
      const [one, other] = [replicas[round % 3], replicas[(round + 1) % 3]] as [ReplicaProcess, ReplicaProcess]
      expect((await put(one, { default: 'v1', rules })).status).toBe(200)
      await until(async () => {
        await one.send('GET', '/iam/v1/roles', TOKEN)
        return isDemoted(one)
      }, 'the circuit opens where v2 fails')
      const own = startOwnTime()
      await until(() => isDemoted(other), 'the circuit is open elsewhere')
      times.push(own())
    }
    const by = times.toSorted((a, b) => a - b)
    console.log(`20 demotions elsewhere: p50 ${by[10]?.toFixed(1)} ms, max ${by[19]?.toFixed(1)} ms`)
    expect(by[19]).toBeLessThan(1500)
    await fetch(`${sandbox}/-/faults`, { method: 'DELETE' })
  }, 60_000)

  it('refuse a PUT within 300 ms while the store is frozen, serve clients, and agree soon after', async () => {
    const { redis, replicas } = fleet
    const { etag } = await replicas[0].ask('/modes')
    redis.freeze()
    const own = startOwnTime()
    const refused = await replicas[0].ask('/modes', { body: { default: 'v1' }, etag })
    const took = own()
    console.log(`a PUT was refused after ${took.toFixed(0)} ms`)
    expect([refused.status, took < 300]).toEqual([503, true])
    for (const replica of replicas) expect((await replica.send('GET', '/iam/v1/groups', TOKEN)).status).toBe(200)
    redis.thaw()
    const sinceThen = startOwnTime()
    await until(async () => (await put(replicas[2], { default: 'v1' })).status === 200)
    expect(sinceThen()).toBeLessThan(2000)
    expect(await Promise.all(replicas.map(modeOf))).toEqual(['v1', 'v1', 'v1'])
  })
})

describe.runIf(hasRedis())('a worker that is replaced while Redis is down', () => {
  let redis: TestRedis
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis?.stop())

  it('serves by the modes that its supervisor knows', async () => {
    const proxy = await startWorkers(inject('cli'), { CROSSWALK_STORE_URL: redis.url })
    const put = await fetch(`${proxy.adminUrl}/modes`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'if-match': '*' },
      body: JSON.stringify({ default: 'v1' }),
    })
    expect(put.status).toBe(200)
    await redis.kill()
    const replaced = async (nth: number) => {
      process.kill(proxy.workers()[0] ?? 0, 'SIGKILL')
      await until(async () => (await proxy.metric('crosswalk_worker_deaths_total')) === nth, 'the death is seen')
      await until(async () => (await proxy.metric('crosswalk_workers')) === 2, 'it is replaced')
    }
    await replaced(1)
    await replaced(2)
    for (let nth = 0; nth < 20; nth += 1) expect(await read(proxy.url)).toBeUndefined()
    const served = proxy.log().map((line): { mode?: string; msg: string } => JSON.parse(line))
    expect(new Set(served.filter(({ msg }) => msg === 'request').map(({ mode }) => mode))).toEqual(new Set(['v1']))
    expect(served.map(({ msg }) => msg)).toContainEqual(expect.stringContaining('those of the supervisor'))
  })
})
