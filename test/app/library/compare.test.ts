import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { nextStep } from '../../../src/admin/report/next-step.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import type { Mode } from '../../../src/serve/sides.ts'
import { isFull } from '../../sample.ts'
import { seeded } from '../../stage/clocks.ts'
import { runCommand } from '../cli/support.ts'
import { callMany, startComparison, type TestComparison } from './stage.ts'

describe('modes', () => {
  const READ = { name: 'users.get', isRead: true } as const

  /** Two functions that say who they are, and how often each was called. */
  function sides() {
    const calls = { legacy: 0, next: 0 }
    const legacy = async (_: string) => {
      calls.legacy += 1
      return 'legacy'
    }
    const next = async (_: string) => {
      calls.next += 1
      return 'next'
    }
    return { calls, legacy, next }
  }

  function reportOf({ comparison }: TestComparison) {
    return comparison.report().operations[0]
  }

  describe('the mode', () => {
    it.each<[Mode, string, { legacy: number; next: number }]>([
      ['v1', 'legacy', { legacy: 1, next: 0 }],
      ['v2', 'next', { legacy: 0, next: 1 }],
      ['diff-v1', 'legacy', { legacy: 3, next: 2 }],
      ['diff-v2', 'next', { legacy: 3, next: 2 }],
    ])('%s lets %s answer', async (mode, answer, wanted) => {
      const stage = startComparison({ diff: { learnEvery: 0 } })
      const { calls, legacy, next } = sides()
      const getUser = stage.comparison.compare(legacy, next, { ...READ, mode })
      expect(await getUser('u1')).toBe(answer)
      await stage.comparison.idle()
      expect(calls).toEqual(wanted)
    })

    it('may change at any time, and is noted', async () => {
      const stage = startComparison()
      let mode: Mode = 'v1'
      const getUser = stage.comparison.compare(sides().legacy, sides().next, { ...READ, mode: () => mode })
      expect(await getUser('u1')).toBe('legacy')
      mode = 'v2'
      expect(await getUser('u1')).toBe('next')
      expect(stage.comparison.report().timeline.notes).toMatchObject([{ what: 'modes', operation: 'users.get', from: 'v1', to: 'v2' }])
    })

    it('gives a share of the callers next, each of them always', async () => {
      const stage = startComparison({ diff: { learnEvery: 0 } })
      const answers = new Map<string, Set<string>>()
      const options = { ...READ, mode: 'v1', canary: { mode: 'v2', percent: 50 }, caller: (id: string) => id } as const
      const { legacy, next } = sides()
      const getUser = stage.comparison.compare(legacy, next, options)
      for (let n = 0; n < 400; n++) {
        const caller = `tenant-${n % 200}`
        answers.set(caller, (answers.get(caller) ?? new Set()).add(await getUser(caller)))
      }
      expect([...answers.values()].filter(({ size }) => size > 1)).toEqual([])
      const nexts = [...answers.values()].filter((one) => one.has('next')).length
      expect(nexts).toBeGreaterThan(70)
      expect(nexts).toBeLessThan(130)
    })

    it('gives no caller a next that is proven wrong, until its circuit is closed', async () => {
      const stage = startComparison({ diff: { learnEvery: 0 } })
      const { legacy, next } = sides()
      const options = { ...READ, canary: { mode: 'diff-v2', percent: 100 }, caller: (id: string) => id } as const
      const getUser = stage.comparison.compare(legacy, next, options)
      expect(await getUser('a')).toBe('next')
      await callMany((n) => getUser(`a${n}`), 20, stage)
      expect(await getUser('a')).toBe('legacy')
      expect(stage.comparison.verdict().reasons[0]).toContain('circuit is open')
      stage.comparison.closeCircuit('users.get')
      expect(await getUser('a')).toBe('next')
    })
  })

  describe('a write', () => {
    it('is never run twice, and is unverifiable', async () => {
      const stage = startComparison()
      const { calls, legacy, next } = sides()
      const create = stage.comparison.compare(legacy, next, { name: 'users.create', isRead: false })
      expect(await create('u1')).toBe('legacy')
      await stage.comparison.idle()
      expect(calls).toEqual({ legacy: 1, next: 0 })
      expect(reportOf(stage)).toMatchObject({ standing: 'unverifiable', calls: 1, comparisons: 0 })
    })

    it('runs once on each side if the owner says that this is safe', async () => {
      const stage = startComparison({ diff: { learnEvery: 1 } })
      const { calls, legacy, next } = sides()
      const create = stage.comparison.compare(legacy, next, { name: 'users.create', isRead: false, isSafeTwice: true })
      await create('u1')
      await stage.comparison.idle()
      expect(calls).toEqual({ legacy: 1, next: 1 })
      expect(reportOf(stage)).toMatchObject({ mismatches: 1, n: 1 })
    })
  })
})

describe('the records of functions', () => {
  const READ = { name: 'users.get', isRead: true } as const
  const folder = mkdtempSync(join(tmpdir(), 'compare-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const user = async (n: number) => ({ id: `u${n}` })

  it('count again after a restart', async () => {
    const file = join(folder, 'restart.jsonl')
    for (const nth of [1, 2]) {
      const stage = startComparison({ records: { file } })
      const getUser = stage.comparison.compare(user, user, READ)
      await callMany((n) => getUser(n + 1000 * nth), 30, stage)
      expect(stage.comparison.report().operations[0]).toMatchObject({ n: 30 * nth, matches: 30 * nth })
      await stage.comparison.close()
    }
  })

  it('are read by crosswalk report', async () => {
    const file = join(folder, 'report.jsonl')
    const stage = startComparison({ records: { file } })
    const getUser = stage.comparison.compare(user, async (n) => ({ id: `v${n}` }), READ)
    await callMany(getUser, 10, stage)
    await stage.comparison.close()
    const { out } = await runCommand(['report', file, '--each', '--target', '0.01'])
    expect(out.split('\n').slice(0, 3)).toEqual(stage.comparison.reportText().split('\n').slice(0, 3))
  })

  it('that cannot be read are no pass', async () => {
    const stage = startComparison({ records: { file: join(folder, 'missing', 'records.jsonl') } })
    const getUser = stage.comparison.compare(user, user, READ)
    await callMany(getUser, 400, stage)
    const { verdict, exitCode, reasons } = stage.comparison.verdict()
    expect([verdict, exitCode, reasons[0]]).toEqual(['INCONCLUSIVE', 3, expect.stringContaining('Earlier records could not be read')])
    expect(stage.warnings).toHaveLength(1)
  })

  it('lead on to a rule that its settings take, and to no command', async () => {
    const next = async (n: number) => ({ id: `v${n}` })
    const stage = startComparison()
    await callMany(stage.comparison.compare(user, next, READ), 3, stage)
    const report = stage.comparison.report()
    const { commands } = nextStep(report.operations[0]!, report, { url: '', token: '' } as never)
    expect(commands.map(({ title }) => title)).toEqual(['Accept it until a date, in the settings'])
    const again = startComparison(JSON.parse(commands[0]?.text ?? ''), { clocks: { ...stage.clocks, now: () => report.generatedAt } })
    await callMany(again.comparison.compare(user, next, READ), 3, again)
    expect(again.comparison.report().operations[0]).toMatchObject({ expected: 3, mismatches: 0 })
  })

  it('are those of a page that holds no values', async () => {
    const stage = startComparison()
    const getUser = stage.comparison.compare(user, async (n) => ({ id: `v${n}` }), READ)
    await callMany(getUser, 3, stage)
    const page = stage.comparison.reportPage()
    expect(page).toContain('"operation":"users.get"')
    expect(page).not.toContain('"v1":"u1"')
    writeFileSync(join(folder, 'page.html'), page)
  })
})

describe('the verdict on two functions', () => {
  const SEED = Number(process.env.CROSSWALK_SEED ?? 20_260_301)

  const READ = { name: 'users.get', isRead: true } as const

  async function user(n: number) {
    return { id: `u${n}`, email: `u${n}@example.com`, tags: ['a', 'b'] }
  }

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
    const random = seeded(SEED)
    const calls = isFull ? 10_000 : 3000
    const wrong = new Set(Array.from({ length: calls }, (_, n) => n).filter(() => random() < 0.01))
    const stage = startComparison({}, { target: 0.001 })
    const getUser = stage.comparison.compare(user, async (n) => (wrong.has(n) ? { id: `u${n}`, email: '' } : user(n)) as never, READ)
    await callMany(getUser, calls, stage)
    const [operation] = stage.comparison.report().operations
    expect({ seed: SEED, n: operation?.n, mismatches: operation?.mismatches }).toEqual({ seed: SEED, n: calls, mismatches: wrong.size })
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
