import { describe, expect, it } from 'vitest'
import type { ComparisonOutcome } from '../../../src/migrate/compare/judge.ts'
import { createEvidence, WEIGHTS } from '../../../src/migrate/evidence/evidence.ts'
import { type AskedOperation, askedOf, joinedKinds, joinedUse, missingKinds, missingText } from '../../../src/migrate/evidence/kinds.ts'
import { seeded } from '../../stage/seeded.ts'

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
