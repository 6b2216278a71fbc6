import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import {
  type CutoverQuestion,
  type CutoverScope,
  createReadinessMemory,
  inScope,
  judgeCutover,
  rolloutSentences,
} from '../../../src/migrate/evidence/cutover.ts'
import { cleanNeeded, createEvidence, upperBound } from '../../../src/migrate/evidence/evidence.ts'
import { joinReplicas, type Replica } from '../../../src/migrate/evidence/replicas.ts'
import { readDismissal } from '../../../src/migrate/evidence/terms.ts'
import type { Note } from '../../../src/migrate/records/record.ts'
import { operations } from '../given.ts'

describe('cutover', () => {
  const LIST = 'registry.repos.list'
  const RAW = 'registry.vuln_reports.list'

  type Counts = readonly (readonly [count: number, outcome?: ComparisonOutcome, operation?: string])[]

  /** The evidence of these numbers of different observations. */
  function evidence(counts: Counts) {
    const all = createEvidence(() => 0)
    for (const [count, outcome = 'match', operation = LIST] of counts) {
      for (let nth = 0; nth < count; nth++) all.observe({ operation, caller: 'c', shape: `${outcome}-${nth}`, outcome })
    }
    return all.all()
  }

  function judge(counts: Counts, traffic: Record<string, number> = {}, members: Partial<CutoverQuestion> = {}) {
    const seen = { evidence: evidence(counts), traffic: new Map(Object.entries(traffic)), clients: [] }
    return judgeCutover({ target: 0.01, withoutV1: false, isStrict: true, ...seen, operations, ...members })
  }

  describe('the cutover', () => {
    it('is ready when every operation with traffic is inside', () => {
      expect(judge([[1_000], [1_000, 'match', 'iam.groups.list']], { [LIST]: 5_000 })).toMatchObject({
        ready: true,
        reasons: ['All 2 operations with traffic have a bound of 1 % or less.'],
        operations: [
          { operation: 'iam.groups.list', standing: 'inside', blocks: false, needed: 0, calls: 0 },
          { operation: LIST, standing: 'inside', calls: 5_000 },
        ],
      })
    })

    it('is not ready without traffic', () => {
      expect(judge([])).toMatchObject({ ready: false, reasons: ['No v1 request was seen yet: nothing is known.'] })
    })

    it('says what is missing: too little is INCONCLUSIVE, never a pass', () => {
      const [found] = evidence([[100]])
      const needed = found && cleanNeeded(found, 0.01)
      expect(needed).toBeGreaterThan(150)
      const { ready, operations: verdicts } = judge([[100]])
      expect(ready).toBe(false)
      expect(verdicts[0]).toMatchObject({ standing: 'inconclusive', blocks: true, needed })
      expect(verdicts[0]?.reason).toMatch(
        new RegExp(
          `^registry.repos.list: INCONCLUSIVE after 100 observations \\(bound [\\d.]+ %\\); ${needed} more clean observations until ≤ 1 %\\.$`,
        ),
      )
    })

    it('says what is wrong', () => {
      expect(judge([[20], [2, 'mismatch'], [1, 'transient'], [1, 'error']]).operations[0]).toMatchObject({
        standing: 'outside',
        blocks: true,
        reason: expect.stringMatching(
          /^registry.repos.list: OUTSIDE: 2 mismatches, 1 transient difference, 1 error; 4 of 24 observations and 16.7 % of the requests were wrong. Fix them, then 1,277 more clean/,
        ),
      })
    })

    it('names operations that were never compared', () => {
      const { reasons } = judge([], { 'iam.groups.list': 1 })
      expect(reasons).toEqual(['iam.groups.list had 1 request and no comparison: put it into a diff mode.'])
    })

    it('is not reached while a circuit is open, however good the evidence', () => {
      const openCircuits = new Map([[LIST, 'errors: 9 of the last 9 answers failed']])
      expect(judge([[1_000]], {}, { openCircuits })).toMatchObject({
        ready: false,
        reasons: ['registry.repos.list: HELD BACK, because its circuit is open. errors: 9 of the last 9 answers failed.'],
        operations: [{ standing: 'held-back', blocks: true }],
      })
      expect(judge([[1, 'error']], {}, { openCircuits }).operations).toMatchObject([{ standing: 'outside', blocks: true }])
      expect(judge([[1, 'error']], {}, { openCircuits }).reasons[0]).toMatch(
        /^registry.repos.list: OUTSIDE: 1 error; .+ Its circuit is open\. errors: /,
      )
    })

    it('is not reached by an operation whose rollout turned back, however good the evidence', () => {
      const back = { name: 'repos', reach: [LIST], phase: 'turned-back', percent: 0, reason: 'the circuit opened' }
      expect(judge([[1_000]], {}, { rollouts: [back] })).toMatchObject({
        ready: false,
        reasons: ['registry.repos.list: HELD BACK, because its rollout repos turned back. the circuit opened.'],
        operations: [{ standing: 'held-back', blocks: true }],
      })
      expect(judge([[1_000]], {}, { rollouts: [{ ...back, reach: ['registry.repos.create'] }] }).ready).toBe(true)
      expect(judge([[1_000]], {}, { rollouts: [{ ...back, phase: 'running' }] }).ready).toBe(true)
    })

    it('is not reached by races alone', () => {
      expect(judge([[10_000, 'race']]).operations[0]?.standing).toBe('inconclusive')
    })
  })

  it('tells the rollouts of the operations that are not done', () => {
    const rollout = { name: 'repos', reach: [LIST], phase: 'paused', percent: 10, reason: 'it waits' }
    const told = (...phases: readonly string[]) =>
      rolloutSentences(
        [LIST],
        phases.map((phase) => ({ ...rollout, phase })),
      )
    expect(told('done', 'turned-back', 'paused', 'paused')).toEqual(['Rollout repos is paused at 10 %: it waits.'])
    expect(rolloutSentences(['iam.groups.list'], [rollout])).toEqual([])
  })

  describe('a write that no read can show', () => {
    const WRITE = 'iam.groups.request_access'

    it('is listed, and does not block', () => {
      const verdict = judge([[1_000], [3, 'inconclusive', WRITE]], { [LIST]: 9, [WRITE]: 5 }, { withoutV1: true })
      expect(verdict).toMatchObject({
        ready: true,
        reasons: ['All 1 operations with traffic have a bound of 1 % or less; 1 more cannot be verified.'],
        operations: [
          { standing: 'unverifiable', blocks: false, reason: expect.stringContaining(' cannot be verified (5 calls by 0 clients): ') },
          {},
        ],
      })
      expect(judge([], { [WRITE]: 5 }).ready).toBe(false)
    })

    it('blocks if v2 fails it too often', () => {
      const rarely = judge([
        [1, 'error', WRITE],
        [200, 'inconclusive', WRITE],
      ]).operations
      expect(rarely).toMatchObject([{ standing: 'unverifiable', blocks: false }])
      expect(judge([[1, 'error', WRITE]]).operations).toMatchObject([{ standing: 'outside', blocks: true }])
    })

    it('blocks if v2 alone refuses it too often', () => {
      const refused = (count: number) => {
        const all = createEvidence(() => 0)
        for (let nth = 0; nth < 200; nth += 1) all.observe({ operation: WRITE, caller: 'c', shape: `s${nth}`, outcome: 'inconclusive' })
        all.add(WRITE, { uncompared: { writeRefused: count } })
        return judge([], {}, { evidence: all.all() }).operations
      }
      expect(refused(1)).toMatchObject([{ standing: 'unverifiable', blocks: false }])
      expect(refused(9)).toMatchObject([
        { standing: 'inconclusive', blocks: true, reason: expect.stringContaining('as 9 requests wrote and were refused by v2') },
      ])
    })
  })

  describe('what only v1 answers', () => {
    const UNKNOWN = 'unknown GET /registry/v1/repos/…/diff'
    const GO = 'libraries.artifacts.list?ecosystems'
    const clients = [
      { caller: 'a'.repeat(16), operations: [{ operation: RAW, calls: 2 }] },
      {
        caller: 'b'.repeat(16),
        subject: 'ci',
        operations: [
          { operation: RAW, calls: 5 },
          { operation: UNKNOWN, calls: 1 },
        ],
      },
    ]
    const traffic = { [LIST]: 1_000, [RAW]: 7, [UNKNOWN]: 1, [GO]: 3 }

    it('stays with v1, and does not block while v1 stays', () => {
      const verdict = judge([[1_000]], traffic, { clients })
      expect(verdict).toMatchObject({
        ready: true,
        reasons: ['All 1 operations with traffic have a bound of 1 % or less; 3 more stay with v1.'],
      })
      const stays = verdict.operations.filter(({ standing }) => standing === 'v1-only')
      expect(stays.map(({ operation, blocks }) => [operation, blocks])).toEqual([
        [GO, false],
        [RAW, false],
        [UNKNOWN, false],
      ])
      expect(stays[1]?.reason).toMatch(/^registry\.vuln_reports\.list stays with v1 \(7 calls by 2 clients\): .+[^.]\.$/)
    })

    it('blocks the end of v1, with its clients', () => {
      const verdict = judge([[1_000]], traffic, { clients, withoutV1: true })
      expect(verdict.ready).toBe(false)
      expect(verdict.reasons).toHaveLength(3)
      const found = verdict.operations.find(({ operation }) => operation === RAW)
      expect(found).toMatchObject({
        blocks: true,
        clients: [
          { caller: 'b'.repeat(16), subject: 'ci', calls: 5 },
          { caller: 'a'.repeat(16), calls: 2 },
        ],
      })
      expect(found?.reason).toMatch(/^registry\.vuln_reports\.list needs a v1 service \(7 calls by 2 clients: ci 5, a{16} 2\): /)
    })

    it('is never a pass alone', () => {
      expect(judge([], { [RAW]: 7 })).toMatchObject({
        ready: false,
        reasons: ['No request was seen whose answer could be compared: nothing is known.'],
      })
    })
  })

  describe('a path that no table has, called by strangers', () => {
    const USE = 'unknown GET /registry/v1/diff'
    const asked = { strangers: new Map([[USE, 200]]) }

    it('is in the way of the end of v1, because v1 answered it well', () => {
      const { ready, operations: verdicts } = judge([[1_000]], {}, { ...asked, withoutV1: true })
      expect(ready).toBe(false)
      expect(verdicts.find(({ operation }) => operation === USE)).toMatchObject({
        ...{ standing: 'v1-only', blocks: true },
        reason: expect.stringContaining('INCONCLUSIVE, because v1 answered 200 requests of callers that no other request proves'),
      })
      expect(judge([[1_000]], {}, asked).ready).toBe(true)
    })

    it('is not if a person dismisses it', () => {
      const dismissal = { called: 'GET /registry/v1/diff', until: '2027-01-31', reason: 'a scanner' }
      const { ready, operations: verdicts } = judge([[1_000]], { [USE]: 3 }, { ...asked, withoutV1: true, dismissed: [dismissal] })
      expect(ready).toBe(true)
      expect(verdicts.find(({ operation }) => operation === USE)).toMatchObject({
        ...{ blocks: false, reason: 'unknown GET /registry/v1/diff is dismissed until 2027-01-31 (203 calls): a scanner.' },
      })
    })

    it('is dismissed by a use, a day that is not over, and a reason', () => {
      const now = Date.parse('2026-11-26T12:00:00Z')
      const read = (text: string) => readDismissal(text, now)
      expect(read('GET /a until 2026-11-26: why not')).toEqual({ called: 'GET /a', until: '2026-11-26', reason: 'why not' })
      for (const text of [
        'GET /a',
        'GET /a until 2026-11-26:',
        '/a until 2026-11-26: b',
        'GET /a until 2026-13-26: b',
        'GET /a until 2027-02-30: b',
      ]) {
        expect(read(text)).toMatchObject({ problem: expect.stringContaining('must be like') })
      }
      expect(read('GET /a until 2026-11-25: b')).toMatchObject({ problem: expect.stringContaining('is over since 2026-11-25') })
    })
  })
})

describe('the memory of readiness', () => {
  const [GROUPS, REPOS] = ['iam.groups.list', 'registry.repos.list'] as const

  /** How many clean and how many wrong observations there are of an operation. */
  type Counts = Readonly<Record<string, readonly [clean: number, wrong?: number]>>

  const ENOUGH = [400] as const
  const BAD = [400, 30] as const

  /** The verdict at a target of 1 %, which 400 clean observations reach. */
  function verdictOf(counts: Counts, circuits: Readonly<Record<string, string>> = {}) {
    const evidence = createEvidence(() => 0)
    for (const [operation, [clean, wrong = 0]] of Object.entries(counts)) {
      for (let nth = 0; nth < clean + wrong; nth += 1) {
        evidence.observe({ operation, caller: 'c', shape: `${nth}`, outcome: nth < clean ? 'match' : 'mismatch' })
      }
    }
    const seen = { evidence: evidence.all(), traffic: new Map(), clients: [], openCircuits: new Map(Object.entries(circuits)) }
    return judgeCutover({ target: 0.01, withoutV1: false, isStrict: true, ...seen, operations })
  }

  const brief = (notes: readonly Pick<Note, 'what' | 'operation' | 'from' | 'to'>[]) =>
    notes.map(({ what, operation = 'all', from, to }) => `${operation} ${what}: ${from} -> ${to}`)

  it('tells once when an operation and everything becomes ready', () => {
    const memory = createReadinessMemory()
    expect(memory.news(verdictOf({ [GROUPS]: [10] }), 0)).toEqual([])
    expect(brief(memory.news(verdictOf({ [GROUPS]: ENOUGH, [REPOS]: [10] }), 1))).toEqual([`${GROUPS} ready: inconclusive -> inside`])
    const all = verdictOf({ [GROUPS]: ENOUGH, [REPOS]: ENOUGH })
    expect(brief(memory.news(all, 2))).toEqual([`${REPOS} ready: inconclusive -> inside`, 'all ready: not ready -> ready'])
    expect(memory.news(all, 3)).toEqual([])
  })

  it('tells at once, with the reason, when an operation stops being ready', () => {
    const memory = createReadinessMemory()
    memory.news(verdictOf({ [GROUPS]: ENOUGH, [REPOS]: ENOUGH }), 0)
    expect(memory.news(verdictOf({ [GROUPS]: BAD, [REPOS]: ENOUGH }), 1)).toEqual([
      { what: 'not-ready', operation: GROUPS, from: 'inside', to: 'outside', text: expect.stringContaining('30 mismatches') },
      { what: 'not-ready', from: 'ready', to: 'not ready', text: `In the way: ${GROUPS}.` },
    ])
  })

  it('calls an operation with an open circuit not ready', () => {
    const memory = createReadinessMemory()
    memory.news(verdictOf({ [GROUPS]: ENOUGH }), 0)
    const [first] = memory.news(verdictOf({ [GROUPS]: ENOUGH }, { [GROUPS]: 'errors: 4 of 4' }), 1)
    expect(first).toMatchObject({ what: 'not-ready', operation: GROUPS, text: expect.stringContaining('circuit is open. errors: 4 of 4') })
  })

  it('calls an operation of which nothing is known any more not ready', () => {
    const memory = createReadinessMemory()
    memory.news(verdictOf({ [GROUPS]: ENOUGH }), 0)
    expect(brief(memory.news(verdictOf({}), 1))).toEqual(['all not-ready: ready -> not ready', `${GROUPS} not-ready: inside -> unknown`])
    expect(memory.news(verdictOf({}), 2)).toEqual([])
  })

  it('tells of what hovers at the target once in five minutes', () => {
    const memory = createReadinessMemory()
    const verdicts = [verdictOf({ [GROUPS]: ENOUGH, [REPOS]: [1] }), verdictOf({ [GROUPS]: [10], [REPOS]: [1] })] as const
    const told = Array.from({ length: 1200 }, (_, second) => memory.news(verdicts[second % 2 === 0 ? 0 : 1], 1000 * second)).flat()
    expect(told.map(({ what }) => what)).toEqual(['ready', 'not-ready', 'ready', 'not-ready', 'ready', 'not-ready', 'ready', 'not-ready'])
    expect(memory.isWaiting()).toBe(false)
    memory.news(verdicts[0], 1_200_000)
    expect(memory.isWaiting()).toBe(true)
  })

  it('tells what is ready again when the clock has stepped back by hours', () => {
    const memory = createReadinessMemory()
    const [hours, ready] = [10_000_000, verdictOf({ [GROUPS]: ENOUGH })]
    memory.news(ready, hours)
    memory.news(verdictOf({ [GROUPS]: BAD }), hours)
    expect(brief(memory.news(ready, 0))).toEqual([`${GROUPS} ready: outside -> inside`, 'all ready: not ready -> ready'])
  })

  it('says nothing again that earlier records know', () => {
    const memory = createReadinessMemory()
    memory.assume(verdictOf({ [GROUPS]: ENOUGH }))
    expect(memory.news(verdictOf({ [GROUPS]: ENOUGH }), 0)).toEqual([])
  })

  it('says what changed since the last note of earlier records', () => {
    const memory = createReadinessMemory()
    const note = { kind: 'note', at: '1970-01-01T00:00:00.000Z', text: '' } as const
    memory.recall({ ...note, what: 'ready', operation: GROUPS, to: 'inside' })
    memory.recall({ ...note, what: 'not-ready', operation: REPOS, to: 'outside' })
    memory.recall({ ...note, what: 'modes' })
    const now = verdictOf({ [GROUPS]: BAD, [REPOS]: ENOUGH })
    memory.assume(now)
    expect(brief(memory.news(now, 0))).toEqual([`${GROUPS} not-ready: inside -> outside`])
    expect(brief(memory.news(now, 300_000))).toEqual([`${REPOS} ready: outside -> inside`])
  })
})

describe('replicas', () => {
  const LIST = 'registry.repos.list'

  interface Told extends Partial<Replica> {
    readonly caller: string
    readonly outcomes: Partial<Record<ComparisonOutcome, number>>
    readonly operation?: string
  }

  /** A replica that one client calls. */
  function replica({ caller, outcomes, operation = LIST, ...members }: Told): Replica {
    const all = createEvidence(() => 0)
    for (const [outcome, count] of Object.entries(outcomes) as [ComparisonOutcome, number][]) {
      for (let nth = 0; nth < count; nth++) all.observe({ operation, caller, shape: `${outcome}-${nth}`, outcome })
    }
    const clients = [{ caller, operations: [{ operation, calls: 10 }] }]
    const counts = { traffic: { [operation]: 10 }, strangers: { [operation]: 1 }, uncounted: 0, openCircuits: {}, rollouts: [] }
    return { evidence: all.all(), clients, ...counts, ...members }
  }

  describe('several replicas', () => {
    it('have the sums of their counts', () => {
      const joined = joinReplicas([
        replica({ caller: 'a', outcomes: { match: 20, transient: 1, race: 2 } }),
        replica({ caller: 'b', outcomes: { match: 30, error: 1 } }),
        replica({ caller: 'c', outcomes: { noise: 4 }, operation: 'iam.groups.list' }),
      ])
      expect(joined).toMatchObject({
        evidence: [
          { operation: 'iam.groups.list', n: 4, noise: 4 },
          {
            operation: LIST,
            comparisons: 54,
            n: 52,
            matches: 50,
            mismatches: 0,
            transients: 1,
            errors: 1,
            races: 2,
            bound: upperBound({ n: 52, bad: 2 }),
          },
        ],
        traffic: new Map([
          [LIST, 20],
          ['iam.groups.list', 10],
        ]),
        clients: [{ caller: 'a' }, { caller: 'b' }, { caller: 'c' }],
        shared: [],
      })
    })

    it('count a clean observation once if a client may have reached two of them', () => {
      const parts = [
        replica({ caller: 'a', outcomes: { match: 20, mismatch: 1 } }),
        replica({ caller: 'a', outcomes: { match: 30, error: 1 } }),
      ]
      const { evidence, shared, clients } = joinReplicas(parts)
      expect(shared).toEqual([LIST])
      expect(evidence).toMatchObject([{ n: 32, matches: 30, mismatches: 1, errors: 1, bound: upperBound({ n: 32, bad: 2 }) }])
      expect(clients).toMatchObject([{ caller: 'a', operations: [{ operation: LIST, calls: 20 }] }])
    })

    it('know a client by its name and its subject, whichever of them tells it', () => {
      const [a, b] = [replica({ caller: 'a', outcomes: {} }), replica({ caller: 'a', outcomes: {} })]
      const named = (one: Replica, who: { readonly name: string } | { readonly subject: string }): Replica => {
        return { ...one, clients: one.clients.map((client) => ({ ...client, ...who })) }
      }
      const { clients } = joinReplicas([named(a, { name: 'Terraform' }), named(b, { subject: 'ops' })])
      expect(clients).toMatchObject([{ caller: 'a', name: 'Terraform', subject: 'ops' }])
    })

    it('have as many callers as clients, if each of these reaches one of them', () => {
      const [a, b] = ['a', 'b'].map((caller) => replica({ caller, outcomes: { match: 20 } })) as [Replica, Replica]
      expect(joinReplicas([a, b]).evidence).toMatchObject([
        { callers: 2, kinds: expect.arrayContaining([expect.objectContaining({ callers: 2 })]) },
      ])
      expect(joinReplicas([a, a]).evidence).toMatchObject([{ callers: 1 }])
    })

    it('may share clients that are too many to be told apart', () => {
      const parts = [replica({ caller: 'a', outcomes: { match: 20 }, uncounted: 1 }), replica({ caller: 'b', outcomes: { match: 30 } })]
      expect(joinReplicas(parts)).toMatchObject({ shared: [LIST], evidence: [{ n: 30 }] })
    })

    it('are one if one is asked twice', () => {
      const one = replica({ caller: 'a', outcomes: { match: 20, noise: 3 } })
      expect(joinReplicas([one, one]).evidence[0]).toMatchObject({ n: 23, bound: one.evidence[0]?.bound })
    })
  })

  describe('a scope', () => {
    const known = joinReplicas([
      replica({ caller: 'a', outcomes: { match: 1 } }),
      replica({ caller: 'b', outcomes: { match: 1 }, operation: 'iam.groups.list' }),
      replica({ caller: 'c', outcomes: {}, operation: 'registry.repos.list?names' }),
    ])
    const within = (scope: Partial<CutoverScope>) => {
      const { evidence, traffic, strangers } = inScope(known, { operations: [], clients: [], ...scope })
      return [evidence.map(({ operation }) => operation), [...traffic.keys()], [...strangers.keys()]]
    }

    it('of operations leaves out all others, and keeps the values of a parameter with their operation', () => {
      const repos = [LIST, 'registry.repos.list?names']
      expect(within({ operations: ['registry.repos.list'] })).toEqual([[LIST], repos, repos])
      expect(within({ operations: ['registry.*', '*.groups.list'] })[1]).toHaveLength(3)
    })

    it('of clients keeps what they call', () => {
      expect(within({ clients: ['b'] }).slice(0, 2)).toEqual([['iam.groups.list'], ['iam.groups.list']])
      expect(within({ clients: ['*'], operations: ['iam.*'] }).slice(0, 2)).toEqual([['iam.groups.list'], ['iam.groups.list']])
    })
  })
})
