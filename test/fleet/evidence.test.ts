import { afterAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/fleet/store/open.ts'
import { type Compared, countSlowly, kindsSlowly, sortedKinds } from '../replicas/evidence/brute-force.ts'
import { evidenceIn, evidenceReplica } from '../replicas/evidence/evidence-replica.ts'
import { hasRedis, startRedis } from '../stage/redis.ts'
import { seeded } from '../stage/seeded.ts'

const SEED = Number(process.env['CROSSWALK_SEED'] ?? 18)
const OPERATION = 'iam.groups.list'

describe.runIf(hasRedis())(`three replicas that count in a Redis (seed ${SEED})`, async () => {
  const redis = await startRedis()
  const store = await openStore(redis.url, 'evidence')
  afterAll(async () => {
    await store.close()
    await redis.stop()
  })

  it('have the counts of one process that has served all requests', async () => {
    const random = seeded(SEED)
    const clock = { now: Date.UTC(2026, 0, 2) }
    const replicas = ['a', 'b', 'c'].map((id) => evidenceReplica(id, store, () => clock.now))
    const all: Compared[] = []
    for (let nth = 0; nth < 300; nth++) {
      const replica = replicas[Math.floor(random() * 3)]
      for (let more = Math.floor(random() * 5); more >= 0; more--) {
        clock.now += Math.floor(random() * 60_000)
        const outcome = random() < 0.2 ? 'mismatch' : random() < 0.2 ? 'race' : 'match'
        const one = { operation: OPERATION, caller: `${Math.floor(random() * 3)}`, shape: `${Math.floor(random() * 2)}`, outcome } as const
        all.push({ ...one, at: clock.now, isTally: !replica?.compared(one) })
      }
      await replica?.exchange(Math.floor(random() * 2))
    }
    const known = await evidenceIn(store, clock.now)
    expect(known).toMatchObject([{ operation: OPERATION, ...countSlowly(all) }])
    expect(sortedKinds(known[0])).toEqual(kindsSlowly(all))
  })
})
