import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startOwnTime } from '../../stage/own-time.ts'
import { hasRedis } from '../../stage/redis.ts'
import { until } from '../../stage/until.ts'
import { PLANTED, type RandomRead, randomReads } from './random-reads.ts'
import { countsOf, type RecordedPair, recordedPairs } from './recorded-pairs.ts'
import { type StartedFleet, startFleet } from './started-fleet.ts'

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
