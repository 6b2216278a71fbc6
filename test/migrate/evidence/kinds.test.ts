import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { createEvidence, type Evidence, WEIGHTS } from '../../../src/migrate/evidence/evidence.ts'
import { type AskedOperation, askedOf, joinedKinds, joinedUse, missingKinds, missingText } from '../../../src/migrate/evidence/kinds.ts'
import { classOf, createReadShapes, reasonOf, shapeOf, standingOf } from '../../../src/migrate/evidence/standing.ts'
import { createCursors } from '../../../src/migrate/observe/observe.ts'
import { seeded } from '../../stage/clocks.ts'
import { child, operationOf, ROOT_UID } from '../given.ts'

describe('kinds', () => {
  const SEED = Number(process.env['CROSSWALK_SEED'] ?? 41)
  const LIST = 'registry.repos.list'
  const WINDOW = 600_000

  interface One {
    readonly at: number
    readonly caller?: string
    readonly kind?: string
    readonly outcome?: ComparisonOutcome
  }

  function evidenceOf(all: readonly One[], write: { check?: 'after-write'; mode?: string } = {}) {
    const evidence = createEvidence(() => 0)
    for (const { at, caller = 'a', kind = 'limit=small', outcome = 'match' } of all) {
      evidence.observe({ operation: LIST, caller, shape: `${LIST}?${kind}`, outcome, ...write }, at)
    }
    return evidence.of(LIST) ?? { kinds: [] }
  }

  const asked = (kinds: Readonly<Record<string, readonly [requests: number, clients: number]>>): AskedOperation => ({
    clients: 2,
    kinds: new Map(
      Object.entries(kinds).map(([kind, [requests, clients]]) => [kind === '' ? LIST : `${LIST}?${kind}`, { requests, clients }]),
    ),
  })

  const THREE = [0, 1, 2].map((nth) => ({ at: nth * WINDOW }))

  describe('a kind of request', () => {
    it('is a blind spot until it was seen the same often enough', () => {
      expect(missingKinds(evidenceOf(THREE.slice(1)), undefined, 3)).toEqual([{ kind: 'limit=small', requests: 2, same: 2, why: 'rare' }])
      expect(missingKinds(evidenceOf(THREE), undefined, 3)).toEqual([])
      expect(missingKinds(evidenceOf(THREE), undefined, 4)).toHaveLength(1)
    })

    it('counts repeats of one caller in ten minutes once', () => {
      expect(missingKinds(evidenceOf([{ at: 0 }, { at: 1 }, { at: 2 }]), undefined, 3)).toMatchObject([{ same: 1 }])
    })

    it('needs a second caller if it has one', () => {
      const two = asked({ 'limit=small': [9, 2] })
      expect(missingKinds(evidenceOf(THREE), two, 3)).toEqual([{ kind: 'limit=small', requests: 9, same: 3, why: 'one-caller' }])
      expect(missingKinds(evidenceOf([...THREE, { at: 0, caller: 'b' }]), two, 3)).toEqual([])
      expect(missingKinds(evidenceOf(THREE), asked({ 'limit=small': [9, 1] }), 3)).toEqual([])
    })

    it('is none once a person had it rehearsed often enough, and that is no observation', () => {
      const evidence = createEvidence(() => 0)
      const see = (caller: string, outcome: ComparisonOutcome, at: number, rehearsed?: true) =>
        evidence.observe({ operation: LIST, caller, shape: `${LIST}?limit=small`, outcome, ...(rehearsed && { rehearsed }) }, at)
      const known = () => evidence.of(LIST) ?? { kinds: [] }
      see('a', 'match', 0)
      see('b', 'race', 1, true)
      const before = known()
      for (const at of [1, 2, 3]) see('b', 'match', at, true)
      expect(known()).toEqual({ ...before, kinds: [{ shape: `${LIST}?limit=small`, same: 1, rehearsed: 3, sameAt: 3, callers: 2 }] })
      expect(missingKinds(known(), asked({ 'limit=small': [9, 2] }), 4)).toEqual([])
      expect(missingKinds(known(), undefined, 6)).toEqual([{ kind: 'limit=small', requests: 1, same: 4, rehearsed: 3, why: 'rare' }])
      expect(missingText(missingKinds(known(), undefined, 6), 6)).toContain('seen the same 4 of 6 times, 3 rehearsed')
      expect(joinedKinds([known(), known()], false)).toMatchObject([{ same: 2, rehearsed: 6 }])
      expect(joinedKinds([known(), known()], true)).toMatchObject([{ same: 1, rehearsed: 3 }])
      see('b', 'mismatch', 4, true)
      expect([known(), missingKinds(known(), undefined, 3)]).toMatchObject([{ bad: 0 }, [{ why: 'wrong', wrongTo: ['b'] }]])
      see('a', 'match', WINDOW)
      expect(missingKinds(known(), undefined, 3)).toMatchObject([{ why: 'wrong' }])
      see('b', 'match', WINDOW + 1, true)
      expect(missingKinds(known(), undefined, 3)).toEqual([])
    })

    it('is a blind spot while its last comparison was wrong', () => {
      const wrong = { at: 5 * WINDOW, outcome: 'transient' } as const
      expect(missingKinds(evidenceOf([...THREE, wrong]), undefined, 3)).toMatchObject([{ same: 3, why: 'wrong' }])
      expect(missingKinds(evidenceOf([...THREE, wrong, { at: 6 * WINDOW }]), undefined, 3)).toEqual([])
      expect(missingKinds(evidenceOf([{ at: 0, outcome: 'error' }]), undefined, 3)).toMatchObject([{ same: 0, why: 'wrong' }])
    })

    it('is a blind spot while v2 is wrong for one of its callers, whoever else it is right for', () => {
      const wrong = { at: 3 * WINDOW, caller: 'c', outcome: 'mismatch' } as const
      const others = [4, 5, 6].map((nth) => ({ at: nth * WINDOW }))
      const all = [...THREE, { at: 0, caller: 'c' }, wrong, ...others]
      const [missing] = missingKinds(evidenceOf(all), undefined, 3)
      expect(missing).toMatchObject({ why: 'wrong', wrongTo: ['c'] })
      expect(missingText(missing ? [missing] : [], 3)).toBe(
        'INCONCLUSIVE, because 1 kind of its requests is a blind spot: limit=small (7 requests, wrong to client c at its last comparison); ' +
          'fix v2 and begin an epoch, or let the same callers ask again, then send it again by another caller or ten minutes later, or wait for the clients',
      )
      expect(missingKinds(evidenceOf([...all, { at: 7 * WINDOW, caller: 'c', outcome: 'race' }]), undefined, 3)).toHaveLength(1)
      expect(missingKinds(evidenceOf([...all, { at: 7 * WINDOW, caller: 'c', kind: 'other' }]), undefined, 1)).toHaveLength(1)
      expect(missingKinds(evidenceOf([...all, { at: 7 * WINDOW, caller: 'c' }]), undefined, 3)).toEqual([])
    })

    it('is excused for one transient fault of a caller, and not for two in a row', () => {
      const transient = (nth: number) => ({ at: nth * WINDOW, caller: 'c', outcome: 'transient' }) as const
      const once = [...THREE, transient(3), { at: 4 * WINDOW }]
      expect(missingKinds(evidenceOf(once), undefined, 3)).toEqual([])
      expect(missingKinds(evidenceOf([...once, transient(5), { at: 6 * WINDOW }]), undefined, 3)).toMatchObject([{ wrongTo: ['c'] }])
      const between = { at: 5 * WINDOW, caller: 'c' }
      expect(missingKinds(evidenceOf([...once, between, transient(6), { at: 7 * WINDOW }]), undefined, 3)).toEqual([])
    })

    it('remembers twenty callers, and a caller without excuse before one with it', () => {
      const wrong = (outcome: ComparisonOutcome, count: number, name: string) =>
        Array.from({ length: count }, (_, nth) => ({ at: nth, caller: `${name}${nth}`, outcome }))
      const transient = wrong('transient', 30, 't')
      const [excused] = missingKinds(evidenceOf([...transient, ...wrong('mismatch', 15, 'm')]), undefined, 3)
      expect(excused?.wrongTo).toHaveLength(15)
      const [full] = missingKinds(evidenceOf([...transient, ...wrong('mismatch', 30, 'm')]), undefined, 3)
      expect(full?.wrongTo).toHaveLength(20)
    })

    it('is not seen where v1 alone wrote', () => {
      expect(evidenceOf(THREE, { check: 'after-write', mode: 'diff-v1' }).kinds).toEqual([])
      expect(evidenceOf(THREE, { check: 'after-write', mode: 'diff-v2' }).kinds).toMatchObject([{ same: 3 }])
    })

    it('is named if clients ask it and it was never compared, those with the most requests first', () => {
      const all = asked({ '': [7, 1], 'limit=small': [100, 1], 'order_by=text': [50, 1] })
      expect(missingKinds(evidenceOf(THREE), all, 3)).toEqual([
        { kind: 'order_by=text', requests: 50, same: 0, why: 'rare' },
        { kind: '', requests: 7, same: 0, why: 'rare' },
      ])
      expect(missingText(missingKinds(evidenceOf(THREE), all, 3), 3)).toBe(
        'INCONCLUSIVE, because 2 kinds of its requests are blind spots: order_by=text (50 requests, seen the same 0 of 3 times), ' +
          'without parameters (7 requests, seen the same 0 of 3 times); send them again by another caller or ten minutes later, or wait for the clients',
      )
    })

    it('is the same without its body, where a proxy read none', () => {
      const evidence = evidenceOf(THREE.map((one) => ({ ...one, kind: '.name=text&parent=root' })))
      expect(missingKinds(evidence, asked({ 'parent=root': [9, 1] }), 3)).toEqual([])
      expect(missingKinds(evidence, asked({ 'parent=child': [9, 1] }), 3)).toHaveLength(1)
    })

    it('is told apart up to 200 of an operation; all further ones are one kind', () => {
      const many = Array.from({ length: 205 }, (_, nth) => THREE.map((one) => ({ ...one, kind: `k${nth}=text` }))).flat()
      const evidence = evidenceOf(many)
      expect(evidence.kinds).toHaveLength(201)
      expect(missingKinds(evidence, asked({ 'k204=text': [9, 1] }), 3)).toEqual([])
      const wrong = [
        ...many,
        { at: 9 * WINDOW, caller: 'c', kind: 'k300=text', outcome: 'error' as const },
        { at: 10 * WINDOW, kind: 'k301=text' },
      ]
      expect(missingKinds(evidenceOf(wrong), undefined, 3)).toMatchObject([
        { kind: '(kinds beyond the first 200)', why: 'wrong', wrongTo: ['c'] },
      ])
    })
  })

  it('what clients ask is estimated by the requests that were looked at', () => {
    const shape = (kind: string, samples: number) => ({ shape: `${LIST}?${kind}`, samples })
    const use = { operation: LIST, calls: 1000, requests: [shape('a', 6), shape('b', 3)], otherRequests: 1 }
    const clients = [{ operations: [use] }, { operations: [{ operation: LIST, calls: 10, requests: [shape('a', 10)] }] }]
    expect(askedOf(clients).get(LIST)).toEqual({
      clients: 2,
      kinds: new Map([
        [`${LIST}?a`, { requests: 610, clients: 2 }],
        [`${LIST}?b`, { requests: 300, clients: 1 }],
      ]),
    })
    expect(joinedUse(use, { operation: LIST, calls: 1, requests: [shape('b', 1), shape('c', 1)] })).toEqual({
      ...{ operation: LIST, calls: 1001, otherRequests: 1 },
      requests: [shape('a', 6), shape('b', 4), shape('c', 1)],
    })
  })

  describe(`kinds by chance (seed ${SEED})`, () => {
    const OUTCOMES = Object.keys(WEIGHTS) as ComparisonOutcome[]
    const random = seeded(SEED)
    const some = (count: number): One[] => {
      let at = 0
      return Array.from({ length: count }, () => {
        at += Math.floor(random() * WINDOW)
        const outcome = random() < 0.7 ? 'match' : (OUTCOMES[Math.floor(random() * OUTCOMES.length)] ?? 'match')
        return { at, caller: `c${Math.floor(random() * 3)}`, kind: `k=${Math.floor(random() * 5)}`, outcome }
      })
    }

    it('are never fewer with another clean observation, and never gone by a wrong one', () => {
      for (let run = 0; run < 300; run += 1) {
        const all = some(Math.floor(random() * 60))
        const at = (all.at(-1)?.at ?? 0) + WINDOW
        const kind = `k=${Math.floor(random() * 5)}`
        const before = missingKinds(evidenceOf(all), undefined, 3)
        const missing = (outcome: ComparisonOutcome) => missingKinds(evidenceOf([...all, { at, kind, outcome }]), undefined, 3)
        const others = (list: typeof before) => list.filter((one) => one.kind !== kind)
        expect(others(missing('match'))).toEqual(others(before))
        expect(missing('mismatch').find((one) => one.kind === kind)).toMatchObject({ why: 'wrong' })
        expect(missing('race')).toEqual(before)
      }
    })

    it('of proxies that share no client are those of one proxy that saw all', () => {
      for (let run = 0; run < 100; run += 1) {
        const all = some(40)
        const ofProxy = (nth: number) => evidenceOf(all.filter(({ caller }) => Number(caller?.slice(1)) % 2 === nth))
        const joined = joinedKinds([ofProxy(0), ofProxy(1)], false)
        const sorted = (kinds: readonly { readonly shape: string }[] = []) => [...kinds].sort((a, b) => (a.shape < b.shape ? -1 : 1))
        expect(sorted(joined)).toEqual(sorted(evidenceOf(all).kinds))
      }
    })

    it('of proxies that share clients are never more than those of one, if all answers are the same', () => {
      for (let run = 0; run < 100; run += 1) {
        const all = some(40).filter(({ outcome }) => outcome === 'match')
        const [even, odd] = [0, 1].map((rest) => evidenceOf(all.filter((_, nth) => nth % 2 === rest)))
        const whole = new Map(evidenceOf(all).kinds?.map((one) => [one.shape, one]))
        for (const one of joinedKinds([even ?? {}, odd ?? {}], true)) expect(one.same).toBeLessThanOrEqual(whole.get(one.shape)?.same ?? 0)
      }
    })
  })
})

describe('read shapes', () => {
  const operation = operationOf('iam.roles.list')

  /** A read with this name as its only parameter, which stands in the URL or in the body of a form. */
  function named(name: string, place: 'url' | 'body') {
    const query = `name=${name}`
    const raw = { id: '1', method: 'GET', headers: {}, url: place === 'url' ? `/iam/v1/roles?${query}` : '/iam/v1/roles' }
    const request = { params: {}, query: new Map([['name', [name]]]), body: undefined }
    return { request, raw: place === 'url' ? raw : { ...raw, body: Buffer.from(query) }, shape: shapeOf(operation, request) }
  }

  it.each(['url', 'body'] as const)('tells reads with other values in the %s apart, also when asked again', (place) => {
    const shapes = createReadShapes()
    const reads = ['puller', 'true', '', 'x'.repeat(600)].map((name) => named(name, place))
    expect(new Set(reads.map(({ shape }) => shape)).size).toBe(3)
    for (const { request, raw, shape } of [...reads, ...reads]) expect(shapes(operation, () => request, raw)).toBe(shape)
  })

  it('reads a request only once for a URL', () => {
    const shapes = createReadShapes()
    const { request, raw, shape } = named('puller', 'url')
    let reads = 0
    const read = () => {
      reads += 1
      return request
    }
    for (let time = 0; time < 3; time += 1) expect(shapes(operation, read, raw)).toBe(shape)
    expect(reads).toBe(1)
  })
})

describe('request shape', () => {
  const request = (query: Record<string, string[]> = {}, body?: unknown, params = {}) => ({
    params,
    query: new Map(Object.entries(query)),
    body,
  })

  describe('the shape of a request', () => {
    const list = operationOf('registry.tags.list')

    it('has its operation, the names of its parameters and the classes of their values', () => {
      const query = { 'uidp.children_of': [child(1)], exclude_dates: ['true'], name: ['secret-name'] }
      expect(shapeOf(list, request(query))).toBe('registry.tags.list?exclude_dates=flag&name=text&uidp.children_of=child')
      expect(shapeOf(list, request())).toBe('registry.tags.list')
    })

    it('is the same in both spellings and in any order', () => {
      const one = { 'uidp.children_of': [child(1)], page_size: ['10'] }
      const other = { pageSize: ['20'], 'uidp.childrenOf': [child(2)] }
      expect(shapeOf(list, request(one))).toBe(shapeOf(list, request(other)))
    })

    it('counts parameters that no table has, and never names them', () => {
      expect(shapeOf(list, request({ 'planted-secret': ['a'], other: ['b'] }))).toBe('registry.tags.list?(unknown)=2')
    })

    it('distinguishes repeated parameters', () => {
      expect(shapeOf(list, request({ 'uidp.ids': [child(1), child(2)] }))).toBe('registry.tags.list?uidp.ids=several')
    })

    it('has the members of a body and the variables of the path', () => {
      const update = operationOf('registry.repos.update')
      const body = { name: 'planted', customOverlay: {}, sync_config: null, bundles: [], aliases: ['x'], 'planted-key': 1 }
      expect(shapeOf(update, request({}, body, { id: child(1) }))).toBe(
        'registry.repos.update?.aliases=list&.bundles=none&.custom_overlay=object&.name=text&.sync_config=null&{id}=child',
      )
      expect(shapeOf(operationOf('iam.role_bindings.create_batch'), request({}, [1, 2]))).toContain('(body)=list')
    })
  })

  it.each([
    ['', 'empty'],
    ['true', 'flag'],
    ['F', 'flag'],
    ['0', 'zero'],
    ['-3', 'negative'],
    ['200', 'small'],
    ['201', 'large'],
    [ROOT_UID, 'root'],
    [child(1), 'child'],
    [`${child(1)}/${'0'.repeat(16)}`, 'deep'],
    [`sha256:${'a'.repeat(64)}`, 'digest'],
    ['2026-01-02T03:04:05Z', 'time'],
    ['name desc', 'descending'],
    ['anything', 'text'],
  ])('the class of the value %j is %s', (text, expected) => {
    expect(classOf(text)).toBe(expected)
  })

  describe('cursors', () => {
    it('belong to the other side, for this caller and operation only', () => {
      const cursors = createCursors()
      cursors.learn('a', 'x', 'v1-token', 'v2-token')
      expect(cursors.find('a', 'x', 'v1-token')).toBe('v2-token')
      expect(cursors.find('b', 'x', 'v1-token')).toBeUndefined()
      expect(cursors.find('a', 'y', 'v1-token')).toBeUndefined()
    })

    it('are bounded, and the oldest are dropped first', () => {
      const cursors = createCursors(2)
      for (const token of ['1', '2', '1', '3']) cursors.learn('a', 'x', token, token)
      expect(['1', '2', '3'].map((token) => cursors.find('a', 'x', token))).toEqual(['1', undefined, '3'])
    })
  })
})

describe('the standing of an operation', () => {
  const LIST = 'registry.repos.list'
  const TARGET = 0.01
  const HOUR = 3_600_000

  function evidence(clean: number): Evidence {
    const all = createEvidence(() => 0)
    for (let nth = 0; nth < clean; nth++) all.observe({ operation: LIST, caller: 'c', shape: `s${nth}`, outcome: 'match' })
    return all
  }

  function judged(all: Evidence) {
    const seen = all.of(LIST)
    return seen && { standing: standingOf(seen, TARGET), reason: reasonOf(seen, TARGET) }
  }

  it('is outside if one busy caller gets wrong answers, however many others get right ones', () => {
    const all = evidence(5_700)
    all.observe({ operation: LIST, caller: 'busy', shape: 'poll', outcome: 'mismatch' })
    expect(judged(all)?.standing).toBe('inside')
    all.add(LIST, { comparisons: 15, repeats: { n: 15, bad: 15, requests: 300, wrong: 300 } })
    expect(judged(all)).toEqual({
      standing: 'outside',
      reason: `${LIST}: OUTSIDE: 1 mismatch; 1 of 5,701 observations and 5.02 % of the requests were wrong. Fix them, then further requests until at most 1 % of all are wrong.`,
    })
  })

  it('is that of the repeats as soon as they are enough', () => {
    const all = evidence(1_000)
    all.add(LIST, { repeats: { n: 300, bad: 2, requests: 300, wrong: 2 } })
    expect(judged(all)?.standing).toBe('inside')
    all.add(LIST, { repeats: { n: 100, bad: 0, requests: 100, wrong: 0 } })
    const needed = 904 - 400
    expect(judged(all)).toMatchObject({
      standing: 'inconclusive',
      reason: expect.stringContaining(`${needed} more clean repeats until ≤ 1 %`),
    })
    all.add(LIST, { repeats: { n: needed, bad: 0, requests: needed, wrong: 0 } })
    expect(judged(all)?.standing).toBe('inside')
  })

  it('says how long it takes, what was not compared and what to change', () => {
    const all = createEvidence(() => 48 * HOUR)
    for (let nth = 0; nth <= 48; nth++) all.observe({ operation: LIST, caller: 'c', shape: `s${nth}`, outcome: 'match' }, nth * HOUR)
    all.add(LIST, { uncompared: { answerBytes: 2, pageToken: 1 } })
    expect(judged(all)?.reason).toBe(
      [
        `${LIST}: INCONCLUSIVE after 49 observations (bound 6.7 %); 280 more clean observations until ≤ 1 %, about 12 days at today's pace.`,
        '2 requests had an answer larger than diff.answerBytes: raise diff.answerBytes.',
        '1 request continued a list of which the page before was not compared.',
      ].join(' '),
    )
  })

  it('is inconclusive if more than a small share of the uses is unknown, and names why', () => {
    const all = evidence(5_700)
    all.add(LIST, { uncompared: { v1Failed: 50, perSecond: 900, refused: 900 } })
    expect(judged(all)?.standing).toBe('inside')
    all.add(LIST, { uncompared: { gone: 50 } })
    expect(judged(all)).toMatchObject({
      standing: 'inconclusive',
      reason: expect.stringMatching(
        /because 1\.72 % of its uses could not be compared; at most 1 % may be unknown\..* 50 requests got an error of v1/,
      ),
    })
  })

  it.each([
    ['refuses writes', 'writeRefused', /50 requests wrote and were refused by v2, .*: give diff-v1 a share/],
    ['gives answers that find no room', 'heldBytes', /50 requests got an answer of v2 that found no room: raise/],
    ['gives answers that are too large', 'v2Bytes', /50 requests had an answer larger than diff\.answerBytes of v2 alone: raise/],
    ['differs in very many places', 'manyPlaces', /50 requests had answers that differ in too many places/],
  ] as const)('is inconclusive, and never outside, if v2 alone %s so often that it would be outside', (_, why, text) => {
    const all = evidence(5_700)
    // Less than the share that may be unknown.
    all.add(LIST, { uncompared: { [why]: 50 } })
    expect(judged(all)).toMatchObject({ standing: 'inconclusive', reason: expect.stringMatching(text) })
    expect(judged(all)?.reason).toMatch(/^registry\.repos\.list: INCONCLUSIVE, because up to 1\.\d+ % may be wrong, as [^.]*50 requests/)
    expect(judged(all)?.reason.match(/50 requests/g)).toHaveLength(1)
  })

  it('is inside if it would be inside with all wrong that v2 did alone', () => {
    const all = evidence(5_700)
    all.add(LIST, { uncompared: { writeRefused: 5 } })
    expect(judged(all)?.standing).toBe('inside')
  })

  it('leaves out a pace that is not known', () => {
    expect(judged(evidence(1))?.reason).toBe(
      `${LIST}: INCONCLUSIVE after 1 observation (bound 100 %); 328 more clean observations until ≤ 1 %.`,
    )
  })
})
