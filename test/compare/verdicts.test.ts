import { describe, expect, it } from 'vitest'
import { createEvidence } from '../../src/migrate/evidence/evidence.ts'
import { callMany, randomFrom, startComparison } from './given.ts'

const SEED = Number(process.env.CROSSWALK_SEED ?? 20_260_301)

const READ = { name: 'users.get', isRead: true } as const

async function user(n: number) {
  return { id: `u${n}`, email: `u${n}@example.com`, tags: ['a', 'b'] }
}

describe('the verdict on two functions', () => {
  it('is READY when both answer alike often enough', async () => {
    const stage = startComparison()
    const getUser = stage.comparison.compare(user, user, READ)
    await callMany(getUser, 400, stage)
    const { verdict, exitCode, reasons } = stage.comparison.verdict()
    expect({ verdict, exitCode, reasons, mismatches: stage.mismatches }).toMatchInlineSnapshot(`
      {
        "exitCode": 0,
        "mismatches": [],
        "reasons": [
          "All 1 operations with traffic have a bound of 1 % or less.",
        ],
        "verdict": "READY",
      }
    `)
    await stage.comparison.close()
  })

  it('is INCONCLUSIVE after few calls, and that is no pass', async () => {
    const stage = startComparison()
    const getUser = stage.comparison.compare(user, user, READ)
    await callMany(getUser, 20, stage)
    expect(stage.comparison.verdict()).toMatchObject({ verdict: 'INCONCLUSIVE', exitCode: 1, ready: false })
  })

  it('is NOT READY when they always differ', async () => {
    const stage = startComparison()
    const getUser = stage.comparison.compare(user, async (n) => ({ ...(await user(n)), email: `U${n}@EXAMPLE.COM` }), READ)
    await callMany(getUser, 50, stage)
    expect(stage.comparison.verdict()).toMatchObject({ verdict: 'NOT READY', exitCode: 1 })
    expect(stage.comparison.reportText()).toMatchInlineSnapshot(`
      "NOT READY: 0 of 1 operation inside 1 % (52 records)
      outside       users.get  n 50  wrong 50 (100 % of the requests)  bound 100 %  7,942 observations to go
                    value /email  50×
                      GET users.get  /email
      An observation is the first comparison of one caller and one kind of request in ten minutes. More callers and other kinds of requests bring more; repeats bring none."
    `)
  })

  it('is NOT READY when 1 % differ and 0.1 % are allowed', async () => {
    const random = randomFrom(SEED)
    const wrong = new Set(Array.from({ length: 10_000 }, (_, n) => n).filter(() => random() < 0.01))
    const stage = startComparison({}, { target: 0.001 })
    const getUser = stage.comparison.compare(user, async (n) => (wrong.has(n) ? { id: `u${n}`, email: '' } : user(n)) as never, READ)
    await callMany(getUser, 10_000, stage)
    const [operation] = stage.comparison.report().operations
    expect({ seed: SEED, n: operation?.n, mismatches: operation?.mismatches }).toEqual({ seed: SEED, n: 10_000, mismatches: wrong.size })
    expect(stage.comparison.verdict().verdict).toBe('NOT READY')
  })

  it('excuses what legacy itself changes from call to call', async () => {
    const stage = startComparison()
    let served = 0
    const noisy = async (n: number) => ({ ...(await user(n)), served: ++served })
    const getUser = stage.comparison.compare(noisy, noisy, READ)
    await callMany(getUser, 400, stage)
    expect(stage.comparison.verdict().verdict).toBe('READY')
    expect(stage.mismatches).toEqual([])
  })

  it('has the bound that evidence has for the same counts', async () => {
    const stage = startComparison()
    const getUser = stage.comparison.compare(user, async (n) => (n % 7 === 0 ? { id: 'x' } : user(n)) as never, READ)
    await callMany(getUser, 300, stage)
    const evidence = createEvidence(() => 0)
    for (let n = 0; n < 300; n++) {
      evidence.observe({ operation: 'users.get', caller: 'c', shape: String(n), outcome: n % 7 === 0 ? 'mismatch' : 'match' })
    }
    const [seen] = stage.comparison.report().operations
    const wanted = evidence.of('users.get')
    expect([seen?.n, seen?.bad, seen?.bound]).toEqual([wanted?.n, wanted?.bad, wanted?.bound])
  })
})
