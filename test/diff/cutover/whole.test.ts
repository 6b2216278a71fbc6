import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { type CutoverQuestion, judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import type { UncomparedCounts } from '../../../src/migrate/evidence/standing.ts'
import { operations } from '../given.ts'

const LIST = 'registry.repos.list'
const RARE = 'iam.groups.list'
const WRITE = 'iam.groups.create'
const HOUR = 3_600_000

interface Seen {
  readonly operation: string
  readonly counts: readonly (readonly [count: number, outcome?: ComparisonOutcome])[]
  readonly callers?: number
  readonly uncompared?: UncomparedCounts
}

/** Evidence of observations that came within the last ten hours. */
function evidenceOf(all: readonly Seen[]) {
  const evidence = createEvidence(() => 10 * HOUR)
  for (const { operation, counts, callers = 2, uncompared } of all) {
    for (const [count, outcome = 'match'] of counts) {
      for (let nth = 0; nth < count; nth++) {
        // Each kind of request comes four times, from callers by turns.
        const kinds = Math.min(100, Math.max(1, Math.floor(count / 4)))
        const caller = `c${Math.floor(nth / kinds) % callers}`
        const observation = { operation, caller, shape: `${operation}?${outcome}=${nth % kinds}`, outcome }
        evidence.observe(observation, (10 * HOUR * nth) / count)
      }
    }
    if (uncompared) evidence.add(operation, { uncompared })
  }
  return evidence.all()
}

const clients = ['a', 'b'].map((caller) => ({ caller, operations: [LIST, RARE, WRITE].map((operation) => ({ operation, calls: 1 })) }))

function judge(all: readonly Seen[], traffic: Record<string, number>, members: Partial<CutoverQuestion> = {}) {
  const seen = { evidence: evidenceOf(all), traffic: new Map(Object.entries(traffic)), clients }
  return judgeCutover({ target: 0.01, withoutV1: false, ...seen, operations, ...members })
}

const BUSY: Seen = { operation: LIST, counts: [[1_000]] }
const TRAFFIC = { [LIST]: 100_000, [RARE]: 5 }

describe('the cutover of all requests together', () => {
  it('is never ready while v2 is wrong for one client, however few its requests are', () => {
    const evidence = createEvidence(() => 10 * HOUR)
    const observe = (caller: string, outcome: ComparisonOutcome, at: number) =>
      evidence.observe({ operation: LIST, caller, shape: `${LIST}?limit=small`, outcome }, at)
    observe('one', 'mismatch', 0)
    for (let nth = 0; nth < 3_000; nth++) observe(`c${nth}`, 'match', 1 + nth)
    const verdict = () => judge([], { [LIST]: 3_001 }, { evidence: evidence.all() })
    expect(verdict().whole?.isInside).toBe(true)
    expect(verdict()).toMatchObject({ ready: false, reasons: [expect.stringContaining('wrong to client one at its last comparison')] })
    observe('one', 'match', HOUR)
    expect(verdict().ready).toBe(true)
  })

  it('tells no time from what a job called once, and tells it when the job has come again', () => {
    const evidence = createEvidence(() => 0)
    const observe = (operation: string, kind: number, at: number) =>
      evidence.observe({ operation, caller: 'job', shape: `${operation}?limit=k${kind}`, outcome: 'match' }, at)
    const daysAt = (hour: number) => {
      for (let nth = 4 * hour - 90; nth < 4 * hour; nth++) if (nth >= 0) observe(LIST, nth % 4, (nth * HOUR) / 4)
      return judge([], { [LIST]: 100_000, [RARE]: 8 }, { evidence: evidence.all(), clients: [], target: 0.1 }).whole?.days
    }
    // Four kinds within ten minutes.
    for (let nth = 0; nth < 8; nth++) observe(RARE, nth % 4, 2 * HOUR + nth * 100_000)
    expect([3, 6, 12, 20, 25].map(daysAt)).toEqual([undefined, undefined, undefined, undefined, undefined])
    for (let nth = 0; nth < 8; nth++) observe(RARE, nth % 4, 26 * HOUR + nth * 100_000)
    expect(daysAt(27)).toBeGreaterThan(0.4)
    expect(daysAt(27)).toBeLessThan(1.1)
  })

  it('is ready although a rare operation alone could not be', () => {
    const all = [BUSY, { operation: RARE, counts: [[3]] }] as const
    const { ready, whole, reasons } = judge(all, TRAFFIC)
    expect({ ready, inside: whole?.isInside }).toEqual({ ready: true, inside: true })
    expect(reasons).toEqual([
      expect.stringMatching(
        /^At most 0\.328 % of 100,005 requests get something wrong, at 95 % confidence, by 1,003 observations of 2 operations\.$/,
      ),
    ])
    expect(judge(all, TRAFFIC, { isStrict: true }).ready).toBe(false)
  })

  it('is not ready while the observations of all are too few, and says how many more', () => {
    const { ready, whole, reasons } = judge(
      [
        { operation: LIST, counts: [[100]] },
        { operation: RARE, counts: [[3]] },
      ],
      TRAFFIC,
    )
    expect(ready).toBe(false)
    expect(whole?.needed).toBeGreaterThan(200)
    expect(whole?.needed).toBeLessThan(240)
    expect(reasons).toEqual([
      expect.stringMatching(/^All together: up to 3\.28 % of 100,005 requests may be wrong after 103 obs.+; \d+ more clean/),
    ])
    expect(whole?.when).toBe(
      '2 of 2 operations are ready. At this traffic, all are ready in about 23 hours, if every further observation is clean and the shares of the operations stay.',
    )
  })

  it('weighs an operation that was never compared, and names it first if it has the most requests', () => {
    const { ready, reasons, whole } = judge([BUSY], { [LIST]: 900, [RARE]: 1_000 })
    expect(ready).toBe(false)
    expect(whole?.bound).toBeGreaterThan(0.5)
    expect(reasons[0]).toBe('iam.groups.list had 1,000 requests and no comparison: put it into a diff mode.')
  })

  it.each([
    ['seen too rarely', { operation: RARE, counts: [[2]] }, /seen the same 2 times; at least 3 are asked for/],
    ['of which one caller only was compared', { operation: RARE, counts: [[5]], callers: 1 }, /only one of its callers was compared/],
    ['that fails once a day', { operation: RARE, counts: [[5], [1, 'error']] }, /OUTSIDE: 1 error; /],
    ['with one difference that did not come again', { operation: RARE, counts: [[50], [1, 'transient']] }, /1 transient difference/],
    [
      'with more unknown uses than 1 %',
      { operation: RARE, counts: [[500]], uncompared: { gone: 9 } },
      /could not be compared; at most 1 % may be unknown/,
    ],
    [
      'that v2 never wrote',
      { operation: WRITE, counts: [[500]], uncompared: { untried: 500 } },
      /v2 has never been asked to write this; give it a share: crosswalk rollouts iam\.groups\.create start\./,
    ],
    [
      'that v2 wrote once',
      { operation: WRITE, counts: [[500]], uncompared: { untried: 499 } },
      /to write this in 1 observation; 2 more are asked for/,
    ],
  ] as readonly [string, Seen, RegExp][])('is not ready with an operation %s', (_, one, reason) => {
    const verdict = judge([BUSY, one], { [LIST]: 100_000, [one.operation]: 5 })
    expect(verdict).toMatchObject({ ready: false, reasons: [expect.stringMatching(reason)], whole: { isInside: true } })
  })

  it('is not ready with a kind of request that nobody saw work, and names those with the most requests first', () => {
    const kinds = (...all: readonly (readonly [shape: string, samples: number])[]) => all.map(([shape, samples]) => ({ shape, samples }))
    const requests = kinds([`${RARE}?limit=small`, 9], [`${RARE}?name=text`, 90])
    const operations = [
      { operation: LIST, calls: 1 },
      { operation: RARE, calls: 99, requests },
    ]
    const seen = [BUSY, { operation: RARE, counts: [[50]] }] as const
    const verdict = judge(seen, { [LIST]: 100_000, [RARE]: 99 }, { clients: [{ caller: 'a', operations }] })
    expect(verdict.ready).toBe(false)
    expect(verdict.whole?.isInside).toBe(true)
    expect(verdict.operations.find(({ operation }) => operation === RARE)?.missing).toEqual([
      { kind: 'name=text', requests: 90, same: 0, why: 'rare' },
      { kind: 'limit=small', requests: 9, same: 0, why: 'rare' },
    ])
    expect(verdict.reasons[0]).toMatch(
      /^iam\.groups\.list: INCONCLUSIVE, because 2 kinds .*: name=text \(90 requests, seen the same 0 of 3 times\), /,
    )
  })

  it('is not ready with an operation that v2 alone refused too often', () => {
    const one = { operation: WRITE, counts: [[500]], uncompared: { writeRefused: 9 } } as const
    expect(judge([BUSY, one], { [LIST]: 100_000, [WRITE]: 5 })).toMatchObject({
      ready: false,
      reasons: [
        expect.stringMatching(
          /as 9 requests wrote and were refused by v2, .*: give diff-v1 a share, so that v1's own refusals are known\.$/,
        ),
        expect.stringMatching(/^All together: up to/),
      ],
    })
  })

  it('counts of a write only what v2 itself wrote', () => {
    const write: Seen = { operation: WRITE, counts: [[1_000]], uncompared: { untried: 990 } }
    expect(judge([BUSY, write], { [LIST]: 1_000, [WRITE]: 1_000 })).toMatchObject({ ready: false, whole: { observations: 1_010 } })
  })

  it('is not ready with an open circuit or a rollout that turned back', () => {
    expect(judge([BUSY], TRAFFIC, { openCircuits: new Map([[LIST, 'it opened']]) }).ready).toBe(false)
    const back = { name: 'repos', reach: [LIST], phase: 'turned-back', percent: 0, reason: 'the circuit opened' }
    expect(judge([BUSY], { [LIST]: 100_000 }, { rollouts: [back] }).ready).toBe(false)
    expect(judge([BUSY], { [LIST]: 100_000 }).ready).toBe(true)
  })

  it('is not ready without v1 while only v1 answers something', () => {
    const traffic = { [LIST]: 100_000, 'registry.vuln_reports.list': 1 }
    expect(judge([BUSY], traffic)).toMatchObject({ ready: true, whole: { requests: 100_000 } })
    expect(judge([BUSY], traffic, { withoutV1: true }).ready).toBe(false)
  })

  it('is not ready without traffic', () => {
    expect(judge([], {})).toMatchObject({ ready: false, reasons: ['No v1 request was seen yet: nothing is known.'] })
  })

  it('cannot tell when it is done while an operation has no pace', () => {
    const { whole } = judge([BUSY], { [LIST]: 900, [RARE]: 1_000 })
    expect(whole?.when).toMatch(
      /^1 of 2 operations is ready\. crosswalk rehearse may do 1 of the others now\. It is not known when all will be/,
    )
  })
})
