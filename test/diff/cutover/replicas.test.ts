import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { type CutoverScope, inScope } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence, upperBound } from '../../../src/migrate/evidence/evidence.ts'
import { joinReplicas, type Replica } from '../../../src/migrate/evidence/replicas.ts'

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
