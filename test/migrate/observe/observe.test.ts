import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import type { SeenAnswer } from '../../../src/migrate/compare/compare.ts'
import { createEvidence, type OperationEvidence } from '../../../src/migrate/evidence/evidence.ts'
import type { Journal } from '../../../src/migrate/modes/journal.ts'
import { type Ask, askingOf, compareRead } from '../../../src/migrate/observe/compare-read.ts'
import { createOtherReplicas, createV1Refusals, type Queue, type WatchedRequest } from '../../../src/migrate/observe/observe.ts'
import { Observer, type ObserverSettings } from '../../../src/migrate/observe/observer.ts'
import { createProofs } from '../../../src/migrate/observe/proofs.ts'
import { Firing } from '../../../src/serve/signals.ts'
import { runCommand } from '../../app/cli/support.ts'
import { seeded } from '../../stage/clocks.ts'
import { startStage } from '../../stage/stage.ts'
import { answering } from '../../stage/upstream.ts'
import { asked, child, court, operationOf, operations, seen } from '../given.ts'

describe('compare read', () => {
  const ID = 'registry.repos.list'
  const { operation, request } = asked(ID)
  const OLD = '2026-01-01T00:00:00Z'
  const row = (nth: number, members: object = {}) => ({ id: child(nth), name: 'a', created_at: OLD, updated_at: OLD, ...members })
  const rows = (count: number) => Array.from({ length: count }, (_, nth) => row(nth))

  interface Sides {
    /** The rows of the next answer. */
    readonly v1: () => readonly object[]
    readonly v2: () => readonly object[]
  }

  /** Two services without any network, and what reading them through `compareRead` says. */
  function stage(sides: Sides, by: 'v1' | 'v2') {
    const { steps, noise, expected } = court()
    const evidence = createEvidence(() => 0)
    const counts = { v1: 0, v2: 0 }
    const ask: Ask = async (side) => {
      counts[side] += 1
      return { seen: seen({ items: sides[side]() }), ms: 1 }
    }
    const judging = {
      ...steps,
      wants: expected.wants,
      noise,
      others: createOtherReplicas(),
      refusals: createV1Refusals(),
      now: () => 0,
    }
    const raw = { id: '', method: 'GET', url: '/registry/v1/repos', headers: {}, body: undefined }
    let reads = 0
    return {
      noise,
      counts,
      /** Makes this many reads, each of its own caller, and returns the evidence so far. */
      async read(times: number): Promise<OperationEvidence> {
        for (let nth = 0; nth < times; nth++) {
          const first = await ask(by, { operation, raw, read: () => request }, new Firing())
          const read = { operation, raw, read: () => request, by, since: 0, first, wrote: () => false, learn: false }
          const { judgement } = await compareRead(read, ask, judging, new Firing())
          evidence.observe({ operation: ID, caller: String(reads++), shape: '', outcome: judgement.outcome })
        }
        return evidence.of(ID)!
      },
    }
  }

  const BOTH = [['v1'], ['v2']] as const

  describe.each(BOTH)('reads that %s answers first', (by) => {
    it('count each row that v2 leaves out of one answer in ten', async () => {
      const random = seeded(15)
      const sides = { v1: () => rows(5), v2: () => rows(random() < 0.1 ? 4 : 5) }
      const { transients, mismatches, races, bound } = await stage(sides, by).read(200)
      expect(races).toBe(0)
      expect(transients + mismatches).toBeGreaterThan(10)
      expect(transients).toBeGreaterThan(mismatches)
      expect(bound).toBeGreaterThan(0.1)
    })

    it('learn in a few reads that a set comes in any order', async () => {
      const random = seeded(15)
      const set = () =>
        ['a', 'b', 'c', 'd']
          .map((text) => [random(), text] as const)
          .sort()
          .map(([, text]) => text)
      const sides = { v1: () => [row(1, { bundles: set() })], v2: () => [row(1, { bundles: ['a', 'b', 'c', 'd'] })] }
      const { read, noise } = stage(sides, by)
      const { mismatches, transients } = await read(230)
      expect({ mismatches, transients }).toEqual({ mismatches: 0, transients: 0 })
      expect(noise.members()).toMatchObject([{ kind: 'order', where: '/items/*/bundles' }])
    })

    it('learn in fifty reads what moves together with a time of writing', async () => {
      const { read, noise } = stage({ v1: moving(), v2: () => [row(1, { readme: '0' })] }, by)
      expect(await read(50)).toMatchObject({ mismatches: 0, transients: 0, noise: 40 })
      expect(
        noise
          .members()
          .map(({ where }) => where)
          .sort(),
      ).toEqual(['/items/*/readme', '/items/*/updated_at'])
    })

    it.each([
      ['another member is always wrong', () => [row(1, { name: 'b' })]],
      ['the row is always lost', () => []],
    ])('find in a row that moves by itself that %s', async (_, v2) => {
      const { read } = stage({ v1: moving(), v2 }, by)
      const { mismatches } = await read(20)
      expect(await read(20)).toMatchObject({ mismatches: mismatches + 20 })
    })

    it('forget in fifty reads what has stopped', async () => {
      let v1: Sides['v1'] = moving()
      const { read, noise } = stage({ v1: () => v1(), v2: () => [row(1, { readme: 'wrong' })] }, by)
      await read(50)
      v1 = () => [row(1, { readme: 'right' })]
      const before = await read(50)
      expect(noise.members()).toEqual([])
      expect(await read(10)).toMatchObject({ mismatches: before.mismatches + 10 })
    })

    it('ask no more of the two sides than three times while rows come and go', async () => {
      let next = 100
      const { read, counts } = stage({ v1: () => rows(2), v2: () => [...rows(2), row(next++, { created_at: '1970-01-01T00:00:00Z' })] }, by)
      expect(await read(1)).toMatchObject({ races: 1, mismatches: 0, transients: 0 })
      expect(counts).toEqual({ v1: 5, v2: 4 })
    })
  })

  /** A row with a counter and a time of writing that both move with every answer. */
  function moving(): Sides['v1'] {
    let count = 0
    return () => {
      count += 1
      return [row(1, { readme: String(count), updated_at: new Date(count).toISOString() })]
    }
  }
})

describe('a canary of 1 % on a busy operation', () => {
  const operation = operationOf('iam.roles.list')
  const request = { params: {}, query: new Map(), body: undefined }

  type Counts = readonly (readonly [operation: string, count: number])[]

  /** An observer that counts the requests it takes by the side that answered, and compares none. */
  function observer(perSecond: number, known: Counts = [], traffic: Counts = []) {
    const clock = { now: 0 }
    const taken = { v1: 0, v2: 0 }
    let answeredBy: 'v1' | 'v2' = 'v1'
    const offer: Queue['offer'] = () => {
      taken[answeredBy] += 1
    }
    const places = { most: 1_000, left: () => 1_000, usedBy: () => 0 }
    const queue = { places, offer, refuses: () => false } as unknown as Queue
    const counts = {
      evidence: { observed: new Map([...known].map(([operation, n]) => [operation, { n }])) },
      inventory: { traffic: () => new Map(traffic) },
    }
    const journal = { tallies: { uncompared: () => {} }, ...counts } as unknown as Journal
    const live = { perSecond, learnEvery: 0, verifyWrites: false }
    const settings = { live, now: () => clock.now, random: seeded(1), limit: 1_000 } as unknown as ObserverSettings
    const observing = new Observer(settings, queue, journal)
    const look = (caller: string, by: 'v1' | 'v2') => {
      answeredBy = by
      if (observing.full(operation, by)) return
      const asked = { operation, caller, raw: { url: '/iam/v1/roles' }, read: () => request }
      observing.look({ request: asked, mode: `diff-${by}`, served: { by }, kept: { size: 1 } } as unknown as WatchedRequest)
    }
    return { clock, taken, look }
  }

  it('is compared in full, although the others take all comparisons of the rate', () => {
    const { clock, taken, look } = observer(100)
    for (let nth = 0; nth < 20_000; nth++) {
      clock.now = nth / 2
      look(`caller-${nth}`, nth % 100 === 0 ? 'v2' : 'v1')
    }
    expect(taken.v2).toBe(200)
    expect(taken.v1).toBeLessThanOrEqual(1_100 - taken.v2)
    expect(taken.v1).toBeGreaterThan(700)
  })

  it('is compared in full, too, if much more is known of its operation than of others', () => {
    const { clock, taken, look } = observer(
      20,
      [
        [operation.id, 5_000],
        ['iam.groups.list', 100],
      ],
      [
        [operation.id, 6_000],
        ['iam.groups.list', 9_000],
      ],
    )
    for (let nth = 0; nth < 20_000; nth++) {
      clock.now = nth
      look(`caller-${nth}`, nth % 200 === 199 ? 'v2' : 'v1')
    }
    expect(taken.v2).toBe(100)
  })
})

describe('proofs', () => {
  const { steps, expected } = court(differences)

  /** Judges two answers, where v1 answers every other read like this. Returns the outcome, and what v1 was asked for. */
  async function judged(id: string, query: string, v1: object, v2: object, shown: (read: string) => SeenAnswer) {
    const reads: string[] = []
    const proofs = createProofs(
      asked(id, query),
      { judge: steps.judge, wants: expected.wants },
      {
        operations,
        ask: async (operation, request) => {
          reads.push([operation.id, ...[...request.query].map(([name, values]) => `${name}=${values}`)].join(' '))
          return { seen: shown(operation.id), ms: 1 }
        },
      },
    )
    const { outcome } = await proofs.judge(seen(v1), seen(v2))
    return { outcome, reads }
  }

  const NAMED = { id: child(1), name: 'n', description: 'd' }
  const binding = (role: object) => ({ items: [{ id: child(2), role, identity: child(3), email_unverified: 'a' }] })
  const refused = seen({ code: 7, message: 'no', details: [] }, 403)
  const none = seen({ items: [] })

  it.each([
    ['v1 refuses the caller', refused, 'expected'],
    ['v1 does not show it', none, 'expected'],
    ['v1 shows it', seen({ items: [{ ...NAMED, capabilities: ['a'] }] }), 'mismatch'],
    ['v1 does not answer', seen({}, 503), 'inconclusive'],
  ] as const)('a withheld part of a binding is proven by v1: %s', async (_, shown, outcome) => {
    const found = await judged('iam.role_bindings.list', 'id=x', binding({ ...NAMED, capabilities: ['a'] }), binding(NAMED), () => shown)
    expect(found).toEqual({ outcome, reads: [`iam.roles.list id=${child(1)}`] })
  })

  it('asks nothing if something else is wrong beside it, and nothing hides that', async () => {
    const found = await judged(
      'iam.role_bindings.list',
      '',
      binding({ ...NAMED, capabilities: ['a'] }),
      binding({ ...NAMED, name: 'x' }),
      () => none,
    )
    expect(found.outcome).toBe('mismatch')
  })

  const tags = (count: number, status: string) => ({
    items: Array.from({ length: count }, (_, nth) => ({ id: child(nth), name: `${nth}`, tag_status: status })),
    next_page_token: '',
  })
  const shownTags = (count: number, deprecated: boolean) =>
    seen({ items: Array.from({ length: count }, (_, nth) => ({ id: child(nth), deprecated })) })

  it.each([
    ['TAG_ACTIVE', 'TAG_INACTIVE', true, 'expected'],
    ['TAG_ACTIVE', 'TAG_INACTIVE', false, 'mismatch'],
    ['TAG_IN_GRACE', 'TAG_ACTIVE', false, 'expected'],
    ['TAG_INACTIVE', 'TAG_ACTIVE', true, 'mismatch'],
  ] as const)('the status of a tag is proven by the tag: %s and %s, deprecated %s', async (v1, v2, deprecated, outcome) => {
    const found = await judged('registry.eol_tags.list', '', tags(1, v1), tags(1, v2), () => shownTags(1, deprecated))
    expect(found).toEqual({ outcome, reads: [`registry.tags.list id=${child(0)}`] })
  })

  it('looks for many resources in one list, with the filters of the request and without its window', async () => {
    const query = `uidp.childrenOf=${child(9)}&name=x&limit=9`
    const found = await judged('registry.eol_tags.list', query, tags(9, 'TAG_ACTIVE'), tags(9, 'TAG_INACTIVE'), () => shownTags(9, true))
    expect(found).toEqual({ outcome: 'expected', reads: [`registry.tags.list uidp.childrenOf=${child(9)} name=x`] })
  })
})

it('an answer that is too large to be compared names the setting in /evidence and cutover', async () => {
  const hint = '1 request had an answer larger than diff.answerBytes: raise diff.answerBytes.'
  const stage = await startStage({ mode: 'diff-v1', proxy: { 'diff.answerBytes': 10 } })
  await stage.request('GET', '/iam/v1/groups')
  await stage.settled()
  const { operations } = await stage.evidence()
  expect(operations).toMatchObject([{ operation: 'iam.groups.list', n: 0, callers: 0, uncompared: { answerBytes: 1 }, hints: [hint] }])
  const { out } = await runCommand(['cutover', '--admin', stage.adminUrl])
  expect(out).toContain(hint)
})

it('reads what a write has written without the headers that are about the write', () => {
  const kept = { authorization: 'Bearer t', 'user-agent': 'cosign' }
  const names = ['content-type', 'content-md5', 'content-digest', 'digest', 'repr-digest', 'idempotency-key', 'expect']
  const headers = { ...kept, ...Object.fromEntries(names.map((name) => [name, 'x'])) }
  expect(askingOf({ id: '', headers }, { url: '/iam/v1/roles', ...asked('iam.roles.list') }).raw.headers).toEqual(kept)
})

describe.each(['diff-v1', 'diff-v2'] as const)('%s', (mode) => {
  it.each([
    ['a condition', { 'if-none-match': '"1"' }],
    ['a range', { range: 'bytes=0-3' }],
    ['a coding that only the client reads', { 'accept-encoding': 'zstd' }],
  ])('compares whole answers to a request with %s', async (_, headers) => {
    const answer = JSON.stringify({ items: [] })
    const stage = await startStage({
      mode,
      v1({ headers: { range, 'if-none-match': known, 'accept-encoding': coding } }, response) {
        if (known !== undefined) response.writeHead(304, { etag: '"1"' }).end()
        else if (range !== undefined) response.writeHead(206, { 'content-range': `bytes 0-3/${answer.length}` }).end(answer.slice(0, 4))
        else if (coding === 'zstd') response.writeHead(200, { 'content-encoding': coding }).end('packed')
        else response.end(answer)
      },
      v2: answering({ groups: [], totalCount: '0' }),
    })
    // A caller has got what it holds.
    for (const held of [{}, headers]) await stage.request('GET', '/iam/v1/groups', { headers: held })
    await stage.settled()
    const { operations } = await stage.evidence()
    expect(operations).toMatchObject([{ operation: 'iam.groups.list', booked: { uses: 2, same: 2 }, uncompared: {} }])
  })
})
