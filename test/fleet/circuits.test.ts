import { describe, expect, it } from 'vitest'
import { createOpenCircuits, createOthersCounts, createSharedBudget } from '../../src/fleet/circuits.ts'
import { createCircuit } from '../../src/migrate/evidence/circuit.ts'
import { createCircuitNotes } from '../../src/migrate/modes/journal.ts'
import type { Note } from '../../src/migrate/records/record.ts'
import { quiet } from '../stage/clocks.ts'
import { sharedStage } from './stage.ts'

describe('circuits', () => {
  const LIST = 'registry.repos.list'

  /** Circuits of replicas that share a store, with notes of all of them, in the modes of one version. */
  function stage({ isProbed = false, owner }: { isProbed?: boolean; owner?: string } = {}) {
    const shared = sharedStage()
    const { clocks, modes } = shared
    const notes: (Pick<Note, 'what' | 'text'> & { replica: string })[] = []
    const join = (id: string, beginsAt?: number) =>
      shared.join(id, (fleet) => {
        const circuit = createCircuit(
          clocks.now,
          () => isProbed,
          () => owner && `${owner} ${id}`,
        )
        const circuitNotes = createCircuitNotes({ circuit, note: ({ what, text }) => void notes.push({ what, text, replica: id }) })
        let known = beginsAt ?? modes.version
        const version = () => (beginsAt === undefined ? modes.version : known)
        // As the modes of the store do, which a replica that begins knows after its first exchange.
        const take = () => {
          known = modes.version
        }
        fleet.add({ changes: () => [], readings: () => [{ read: { kind: 'document', name: 'modes' }, take }] })
        const counts = createOthersCounts({ circuit, heard: circuitNotes.heard, version, fleet, ticks: clocks.ticks })
        const open = createOpenCircuits({ circuit, version, fleet, moved: () => {}, now: clocks.now })
        circuitNotes.follow({ turned: open.turned, bad: counts.bad })
        fleet.add(counts)
        fleet.add(open)
        const answers = (count: number, failed: boolean) => {
          for (let at = 0; at < count; at += 1) circuitNotes.answered(LIST, failed)
        }
        const comparisons = (count: number, outcome: 'match' | 'mismatch') => {
          for (let at = 0; at < count; at += 1)
            circuitNotes.compared('diff-v1', { operation: LIST, check: 'read', outcome, v2: { status: 200 } })
        }
        return { circuit, circuitNotes, answers, comparisons }
      })
    return { ...shared, notes, join, all: (...ids: string[]) => Promise.all(ids.map((id) => join(id))) }
  }

  type Replica = Awaited<ReturnType<ReturnType<typeof stage>['join']>>

  const open = (replicas: readonly Replica[]) => replicas.map(({ circuit }) => circuit.isOpen(LIST))

  it('opens a circuit everywhere at once, notes it once, and names the replica that opened it', async () => {
    const { notes, all } = stage()
    const replicas = await all('a', 'b', 'c')
    replicas[1]?.answers(4, true)
    await quiet()
    expect(open(replicas)).toEqual([true, true, true])
    expect(notes).toEqual([{ what: 'circuit', text: expect.stringContaining('4 of the last 4 answers failed'), replica: 'b' }])
    for (const { circuit } of replicas) expect(circuit.whyOpen(LIST)).toMatch(/5 % is allowed \(opened by b\), open since \S+Z$/)
  })

  it('tells on every replica whose rollout a circuit stopped and when, also in later modes', async () => {
    const { clocks, modes, all, join } = stage({ owner: 'rollout of' })
    const replicas = await all('a', 'b')
    const openedAt = clocks.now()
    replicas[1]?.answers(4, true)
    await clocks.pass(5000)
    modes.version = 2
    await clocks.pass(2500)
    for (const { circuit } of [...replicas, await join('c')]) {
      const opened = { at: openedAt, reason: expect.stringMatching(/\(opened by b\)$/), owner: 'rollout of b' }
      expect(circuit.openings().get(LIST)).toEqual(opened)
    }
  })

  it('reads the openings of an older version, which told no owner', async () => {
    const { clocks, store, join } = stage({ owner: 'rollout of' })
    const { circuit } = await join('a')
    const text = JSON.stringify({ at: 1000, reason: 'errors: all', replica: 'old' })
    const changes = [{ kind: 'mark', name: 'open:1', field: `${LIST} 1`, text }] as const
    await store().exchange({ replica: 'old', changes, reads: [] } as never)
    await clocks.pass(1200)
    expect(circuit.openings().get(LIST)).toEqual({ at: 1000, reason: 'errors: all (opened by old)', owner: undefined })
  })

  it('notes once what several replicas open at the same moment', async () => {
    const { notes, all } = stage()
    const replicas = await all('a', 'b', 'c')
    for (const { answers } of replicas) answers(4, true)
    await quiet()
    expect(open(replicas)).toEqual([true, true, true])
    expect(notes.map(({ what }) => what)).toEqual(['circuit'])
    expect(new Set(replicas.map(({ circuit }) => circuit.whyOpen(LIST))).size).toBe(1)
  })

  it('opens and notes a circuit at once while the store does not answer, and tells it later', async () => {
    const { notes, breaks, clocks, all } = stage()
    const replicas = await all('a', 'b')
    breaks.all = true
    replicas[0]?.answers(4, true)
    await quiet()
    expect([open(replicas), notes.length]).toEqual([[true, false], 1])
    breaks.all = false
    await clocks.pass(1500)
    expect([open(replicas), notes.length]).toEqual([[true, true], 1])
  })

  it('keeps a circuit open through a restart of all replicas', async () => {
    const { clocks, all } = stage()
    const [first] = await all('a')
    first?.answers(4, true)
    await clocks.pass(200)
    await first?.fleet.close()
    expect(open(await all('b', 'c'))).toEqual([true, true])
  })

  it('tells a store that came back empty which circuits are open', async () => {
    const { clocks, lose, all, join } = stage()
    const [first] = await all('a')
    first?.answers(4, true)
    await clocks.pass(200)
    lose()
    await clocks.pass(2500)
    expect(open([await join('b')])).toEqual([true])
  })

  it('closes circuits with a new version of the modes, and opens those again that a rollout keeps open', async () => {
    const { clocks, modes, all, join } = stage()
    const replicas = await all('a', 'b')
    replicas[0]?.answers(4, true)
    for (let at = 0; at < 4; at += 1) replicas[0]?.circuitNotes.answered('iam.groups.list', true)
    await quiet()
    modes.version = 2
    // A rollout of `a` still needs the circuit of the list open; `b` does not know that yet.
    replicas[0]?.circuit.close((operation) => operation !== LIST)
    replicas[1]?.circuit.close(() => true)
    await clocks.pass(2500)
    const third = await join('c')
    expect(open([...replicas, third])).toEqual([true, true, true])
    expect(third.circuit.whyOpen(LIST)).toMatch(/\(opened by a\), open since \S+Z$/)
    expect([...replicas, third].map(({ circuit }) => circuit.isOpen('iam.groups.list'))).toEqual([false, false, false])
  })

  it('closes a circuit everywhere that a person closes on one replica, and can open it again', async () => {
    const { clocks, notes, all, join } = stage()
    const replicas = await all('a', 'b')
    replicas[0]?.answers(4, true)
    await clocks.pass(1200)
    replicas[1]?.circuit.close(() => true)
    await clocks.pass(2500)
    expect(open([...replicas, await join('c')])).toEqual([false, false, false])
    replicas[1]?.answers(4, true)
    await quiet()
    expect(open(replicas)).toEqual([true, true])
    expect(notes.map(({ replica }) => replica)).toEqual(['a', 'b'])
  })

  it('closes a circuit everywhere by the probes of all replicas together', async () => {
    const { clocks, notes, all } = stage({ isProbed: true })
    const replicas = await all('a', 'b', 'c')
    replicas[0]?.answers(4, true)
    await quiet()
    for (let round = 0; round < 12; round += 1) {
      for (const { answers, comparisons } of replicas) {
        answers(10, false)
        comparisons(10, 'match')
      }
      await clocks.pass(1000)
    }
    expect(open(replicas)).toEqual([false, false, false])
    expect(notes.map(({ what }) => what)).toEqual(['circuit', 'circuit-closed'])
  })

  it('keeps a circuit open when a replica begins that hears what was seen before in its modes', async () => {
    const { clocks, modes, notes, all, join } = stage({ isProbed: true })
    modes.version = 5
    const [first] = await all('a')
    first?.answers(1000, false)
    first?.comparisons(1000, 'match')
    await clocks.pass(1500)
    first?.answers(4, true)
    await clocks.pass(1500)
    const late = await join('b', 1)
    await clocks.pass(3000)
    expect([first, late].map((one) => one?.circuit.isOpen(LIST))).toEqual([true, true])
    expect(late.circuit.state(LIST).errors).toMatchObject({ n: 0, bad: 0 })
    expect(notes.map(({ what }) => what)).toEqual(['circuit'])
  })

  it('leaves a circuit closed that was open in earlier modes when a replica begins', async () => {
    const { clocks, modes, notes, all, join } = stage()
    const [first] = await all('a')
    first?.answers(4, true)
    await clocks.pass(1500)
    modes.version = 2
    first?.circuit.close(() => true)
    await clocks.pass(1500)
    const late = await join('b', 1)
    await clocks.pass(3000)
    expect([first, late].map((one) => one?.circuit.isOpen(LIST))).toEqual([false, false])
    expect(notes.map(({ what }) => what)).toEqual(['circuit'])
  })

  it('opens a circuit by failures of which each replica saw only one', async () => {
    const { clocks, notes, all } = stage()
    const replicas = await all('a', 'b', 'c', 'd')
    for (const { answers } of replicas) answers(1, true)
    await clocks.pass(200)
    expect(open(replicas)).toEqual([false, false, false, false])
    await clocks.pass(1000)
    expect(open(replicas)).toEqual([true, true, true, true])
    expect(notes).toEqual([
      { what: 'circuit', text: expect.stringContaining('4 of the last 4 answers failed'), replica: expect.any(String) },
    ])
  })

  it('counts the clean answers of the others before their failures of the same time', async () => {
    const { clocks, all } = stage()
    const replicas = await all('a', 'b', 'c', 'd')
    for (const { answers } of replicas) {
      answers(20, false)
      answers(1, true)
      answers(20, false)
    }
    await clocks.pass(3000)
    expect(open(replicas)).toEqual([false, false, false, false])
  })

  it('does not count what was seen before a replica began, and forgets counts with the version', async () => {
    const { clocks, modes, all, join } = stage()
    const [first] = await all('a')
    first?.answers(3, true)
    await clocks.pass(1500)
    const late = await join('b')
    late.answers(1, true)
    await clocks.pass(3000)
    // The first replica has seen three and heard of one. The late one has seen one alone.
    expect(late.circuit.whyOpen(LIST)).toMatch(/\(opened by a\), open since \S+Z$/)
    modes.version = 2
    for (const one of [first, late]) one?.circuit.close(() => true)
    await clocks.pass(1500)
    late.answers(1, true)
    await clocks.pass(3000)
    expect(late.circuit.state(LIST).errors.run).toMatchObject({ n: 1, bad: 1 })
  })
})

describe('fallbacks', () => {
  const MINUTE = 60_000

  async function stage(perMinute: number, ids: readonly string[]) {
    const shared = sharedStage()
    const { clocks } = shared
    const join = (id: string) =>
      shared.join(id, (fleet) => {
        const budget = createSharedBudget(perMinute, fleet)
        fleet.add(budget)
        let taken = 0
        const take = (times: number, isStranger = false) => {
          for (let at = 0; at < times; at += 1) taken += budget.take(isStranger) ? 1 : 0
          return taken
        }
        return { take, taken: () => taken }
      })
    const replicas = await Promise.all(ids.map(join))
    await clocks.pass(1500)
    return { ...shared, replicas, join, sum: () => replicas.reduce((all, { taken }) => all + taken(), 0) }
  }

  it('is one for all replicas, and an idle one leaves most of its part to the others', async () => {
    const { clocks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
    const [busy] = replicas
    // The first ones did not know of the others when they drew for the first minute.
    await clocks.pass(MINUTE)
    for (let at = 0; at < 40; at += 1) {
      busy?.take(10)
      await clocks.pass(200)
    }
    expect(busy?.taken()).toBeGreaterThanOrEqual(60)
    for (let at = 0; at < 40; at += 1) {
      for (const { take } of replicas) take(10)
      await clocks.pass(200)
    }
    expect(sum()).toBe(80)
  })

  it('begins anew with each minute, without a refusal at its beginning', async () => {
    const { clocks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
    for (let at = 0; at < 150; at += 1) {
      for (const { take } of replicas) take(3)
      await clocks.pass(1000)
    }
    // 150 seconds lie in three minutes.
    expect(sum()).toBe(3 * 80)
    const before = replicas.map(({ taken }) => taken())
    await clocks.pass(MINUTE)
    expect(replicas.map(({ take }, nth) => take(1) - (before[nth] ?? 0))).toEqual([1, 1, 1, 1])
  })

  it('is an even part for each replica while the store does not answer', async () => {
    const { clocks, breaks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
    breaks.all = true
    await clocks.pass(MINUTE)
    for (const { take } of replicas) expect(take(100)).toBe(20)
    await clocks.pass(MINUTE)
    for (const { take } of replicas) take(100)
    expect(sum()).toBe(2 * 80)
  })

  it('does not exceed the setting by a tenth in the minute in which the store stops to answer', async () => {
    const { clocks, breaks, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
    replicas[0]?.take(5)
    await clocks.pass(1500)
    breaks.all = true
    for (let at = 0; at < 40; at += 1) {
      for (const { take } of replicas) take(10)
      await clocks.pass(1000)
    }
    expect(sum()).toBeGreaterThanOrEqual(72)
    expect(sum()).toBeLessThanOrEqual(88)
  })

  it('leaves half of it to known callers', async () => {
    const { clocks, replicas, sum } = await stage(80, ['a', 'b'])
    for (let at = 0; at < 20; at += 1) {
      for (const { take } of replicas) take(10, true)
      await clocks.pass(500)
    }
    expect(sum()).toBeLessThanOrEqual(44)
    for (let at = 0; at < 20; at += 1) {
      for (const { take } of replicas) take(10)
      await clocks.pass(500)
    }
    expect(sum()).toBe(80)
  })

  it('does not double if the store comes back empty', async () => {
    const { clocks, lose, replicas, sum } = await stage(80, ['a', 'b', 'c', 'd'])
    for (const { take } of replicas) take(20)
    await clocks.pass(1500)
    lose()
    for (let at = 0; at < 30; at += 1) {
      for (const { take } of replicas) take(10)
      await clocks.pass(1000)
    }
    expect(sum()).toBeLessThanOrEqual(88)
  })

  it('leaves a part to a replica whose heartbeat nobody can read', async () => {
    const { clocks, breaks, store, replicas } = await stage(80, ['a'])
    const beat = { kind: 'beat', text: '{"form":2}', ms: 300_000 } as const
    await store().exchange({ replica: 'newer', nth: 1, changes: [beat], reads: [], isUrgent: false })
    await clocks.pass(1500)
    breaks.all = true
    await clocks.pass(MINUTE)
    expect(replicas[0]?.take(100)).toBe(40)
  })
})
