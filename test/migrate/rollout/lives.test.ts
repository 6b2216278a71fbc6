import { describe, expect, it } from 'vitest'
import { callerAt, iamRules, PERSON, type Simulation, simulate } from './stage.ts'

/** Enough clean observations for a bound of 10 %. */
const prove = (one: Simulation) => {
  for (let nth = 0; nth < 40; nth += 1) one.ask(500)
}
const atSecondStep = () => {
  const one = simulate(iamRules())
  prove(one)
  one.minutes(10)
  expect(one.place()).toBe('running 2 10')
  return one
}
const openCircuit = (one: Simulation) => {
  for (let nth = 0; nth < 4; nth += 1) one.ask(50, { isWrong: true })
}
/** What is recorded of a process that dies before it can record more than that a circuit opened. */
const untilDeath = ({ entries }: Simulation) =>
  entries.slice(0, entries.findIndex((entry) => entry.kind === 'note' && entry.what === 'circuit') + 1)
const status = (one: Simulation) => one.rollouts.all()[0]

it('a rollout that v2 alone refuses a part of does not advance until enough is clean', () => {
  const one = simulate(iamRules())
  prove(one)
  one.refuse(10)
  one.minutes(10)
  expect(one.place()).toBe('running 1 1')
  expect(status(one)?.reason).toContain('as v2 alone left 10 requests of it without a comparison')
  for (let nth = 0; nth < 4; nth += 1) prove(one)
  one.minutes(1)
  expect(one.place()).toBe('running 2 10')
})

describe('after a restart, a rollout', () => {
  it('goes on in its step with its time and its observations', () => {
    const before = atSecondStep()
    before.minutes(4)
    before.rollouts.flush()
    const after = simulate(iamRules(), before.entries)
    expect(status(after)).toMatchObject({ phase: 'running', step: 2, heldMs: 240_000, observed: 8, percent: 10 })
    prove(after)
    after.minutes(6)
    expect(after.place()).toBe('running 3 100')
    expect(after.moves()[0]).toBe('running at step 2 of 3 (10 %)')
  })

  it('goes on in its step without what was seen of another v2 build', () => {
    const before = atSecondStep()
    before.minutes(4)
    before.rollouts.flush()
    const after = simulate(
      iamRules(),
      before.entries.map((entry) => ({ ...entry, epoch: 'another' })),
    )
    expect(status(after)).toMatchObject({ phase: 'running', step: 2, heldMs: 240_000, observed: 0, percent: 10 })
    after.minutes(6)
    expect(after.place()).toBe('running 2 10')
    prove(after)
    after.minutes(1)
    expect(after.place()).toBe('running 3 100')
  })

  it('does not count the same poll again', () => {
    const before = atSecondStep()
    before.ask(50, { shape: 'poll' })
    before.rollouts.flush()
    const poll = {
      kind: 'comparison',
      at: new Date(1e12 - 60_000).toISOString(),
      mode: 'diff-v2',
      operation: 'iam.a',
      outcome: 'match',
    } as const
    const sides = {
      id: 'x',
      caller: '0ccccccc00000000',
      shape: 'poll',
      check: 'read',
      totals: [],
      examples: [],
      v2: { status: 200 },
    } as const
    const after = simulate(iamRules(), [...before.entries, { ...poll, ...sides }])
    const { observed = 0 } = status(after) ?? {}
    after.ask(50, { shape: 'poll' })
    expect(status(after)?.observed).toBe(observed)
  })

  it('remembers a wrong answer, even if the process died a second later', () => {
    const before = atSecondStep()
    before.ask(50, { isWrong: true })
    before.pass(1000)
    const after = simulate(iamRules(), before.entries)
    expect(status(after)?.reason).toContain('iam.a was wrong in 1 of 1 observation of this step')
  })

  it('stays turned back with its circuit open, and keeps what it spent', () => {
    const before = atSecondStep()
    openCircuit(before)
    expect(before.place()).toBe('turned-back 2 0')
    const after = simulate(iamRules(), before.entries)
    after.minutes(60)
    expect(after.place()).toBe('turned-back 2 0')
    expect(status(after)?.reason).toMatch(
      /^The circuit of iam\.a opened \(mismatches: 3 of the last 3 [^)]+\)\. No answer can close the circuit of iam\.a, so a person must resume it\.$/,
    )
    expect(after.rollouts.keptOpenBy('iam.a')).toBeDefined()
  })

  it('turns back if the process died before it could record that it had turned back', () => {
    const before = atSecondStep()
    openCircuit(before)
    const placeAfter = (what: 'restart' | 'modes') => {
      return simulate(iamRules(), [...untilDeath(before), { kind: 'note', at: '', what, text: '' }]).place()
    }
    expect(placeAfter('restart')).toBe('turned-back 2 0')
    expect(placeAfter('modes')).toBe('running 2 10')
  })

  it.each([
    ['other steps', iamRules({ retries: 1 })],
    ['another scope', iamRules({}, [], 'iam.a')],
  ])('begins at its first step if the file has %s', (_, rules) => {
    const after = simulate(rules, atSecondStep().entries)
    expect(after.place()).toBe('running 1 1')
    expect(after.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : []))).toEqual([
      'rollout iam: It starts at its first step: its steps, operations or clients have changed.',
    ])
  })

  it('keeps what was seen since it was resumed, even if the records of that are gone', () => {
    const before = atSecondStep()
    openCircuit(before)
    before.rollouts.steer('iam', 'resume', PERSON)
    prove(before)
    before.ask(5)
    before.rollouts.flush()
    const after = simulate(iamRules(), before.entries)
    after.minutes(10, [5])
    expect(after.place()).toBe('running 2 10')
  })

  it('stays turned back if the clock was set back before it turned', () => {
    const before = atSecondStep()
    before.rollouts.flush()
    before.setWall(0)
    openCircuit(before)
    const inTimeOrder = before.entries.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    expect(simulate(iamRules(), inTimeOrder).place()).toBe('turned-back 2 0')
  })

  it('turns back if the clock was set back and the process died before it could record that', () => {
    const before = atSecondStep()
    before.rollouts.flush()
    before.setWall(0)
    openCircuit(before)
    const inTimeOrder = untilDeath(before).toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    expect(inTimeOrder[0]).toMatchObject({ what: 'circuit' })
    expect(simulate(iamRules(), inTimeOrder).place()).toBe('turned-back 2 0')
  })

  it('does not turn back for a circuit that a change of modes had closed, whatever the clock said', () => {
    const before = atSecondStep()
    openCircuit(before)
    const change = { kind: 'note', at: '', what: 'modes', text: '', nth: 1000 } as const
    expect(simulate(iamRules(), [change, ...untilDeath(before)]).place()).toBe('running 2 10')
  })

  it('neither turns back nor opens a circuit for an operation that an earlier rule takes', () => {
    const before = atSecondStep()
    openCircuit(before)
    const rules = withOwnRule('iam.a')
    for (const entries of [before.entries, untilDeath(before)]) expect(simulate(rules, entries).isOpen('iam.a')).toBe(false)
    expect(simulate(rules, untilDeath(before)).place()).toBe('running 2 10')
  })

  it('that the modes have no more is told once, and does not come back later', () => {
    const before = atSecondStep()
    const others = iamRules({ name: 'other' })
    const without = simulate(others, before.entries)
    const told = without.entries.filter((entry) => entry.kind === 'note' && entry.rollout === 'iam')
    expect(told).toEqual([expect.objectContaining({ from: 'running', to: 'ended', by: { source: 'start' } })])
    const again = simulate(others, [...before.entries, ...without.entries])
    expect(again.entries.filter((entry) => entry.kind === 'note' && entry.rollout === 'iam')).toEqual([])
    expect(simulate(iamRules(), [...before.entries, ...without.entries]).place()).toBe('running 1 1')
  })

  it('that a person aborted opens no circuit', () => {
    const before = atSecondStep()
    openCircuit(before)
    before.rollouts.steer('iam', 'abort', PERSON)
    before.change(iamRules({}, [OTHER]))
    const after = simulate(iamRules({}, [OTHER]), before.entries)
    expect([after.place(), after.isOpen('iam.a')]).toEqual(['aborted 2 0', false])
  })

  it('begins at its first step if a change had ended it', () => {
    const before = atSecondStep()
    before.change({ default: 'v1', rules: [], testers: [] })
    expect([before.place(), before.moves().at(-1)]).toEqual(['ended 0 0', 'ended'])
    expect(simulate(iamRules(), before.entries).place()).toBe('running 1 1')
  })
})

const withOwnRule = (operations: string) => {
  const rules = iamRules()
  return { ...rules, rules: [{ operations, clients: '*', mode: 'v2' as const }, ...rules.rules] }
}

const OTHER = { operations: 'registry.*', mode: 'v1' }

describe('a change of modes', () => {
  it('of another rule leaves a rollout where it is', () => {
    const one = atSecondStep()
    one.minutes(4)
    const moves = one.moves().length
    one.change(iamRules({}, [OTHER]))
    expect([status(one)?.heldMs, one.place(), one.moves().length]).toEqual([240_000, 'running 2 10', moves])
  })

  it('of another rule revives nothing that is turned back, aborted or done', () => {
    const one = atSecondStep()
    openCircuit(one)
    one.change(iamRules({}, [OTHER]))
    one.minutes(30)
    expect(one.place()).toBe('turned-back 2 0')
    one.rollouts.steer('iam', 'abort', PERSON)
    one.change(iamRules())
    one.minutes(30)
    expect(one.place()).toBe('aborted 2 0')
  })

  it('that gives an operation a rule of its own takes it from the rollout', () => {
    const one = atSecondStep()
    one.ask(50, { operation: 'iam.b', isWrong: true })
    one.change(withOwnRule('iam.b'))
    one.minutes(10)
    expect(one.place()).toBe('running 3 100')
    expect(one.moves().at(-1)).toBe('running at step 3 of 3 (100 %)')
    expect(status(one)?.reach).toEqual(['iam.a'])
  })

  it('of its steps lets a rollout begin anew, and closes its circuits', () => {
    const one = atSecondStep()
    openCircuit(one)
    one.change(iamRules({ retries: 1 }))
    expect([one.place(), one.rollouts.keptOpenBy('iam.a')]).toEqual(['running 1 1', undefined])
    expect(one.entries.findLast(({ kind }) => kind === 'note')).toMatchObject({
      rollout: 'iam',
      by: PERSON,
      from: 'turned-back at step 2 of 3 (0 %)',
      to: 'running at step 1 of 3 (1 %)',
    })
    one.minutes(1)
    expect(one.place()).toBe('running 1 1')
  })
})

describe('an open circuit', () => {
  it('turns the rollout back at the wrong answer itself, for every operation of the rule', () => {
    const one = atSecondStep()
    for (let nth = 0; nth < 3; nth += 1) one.ask(50, { isWrong: true })
    expect(one.place()).toBe('turned-back 2 0')
    expect(one.rollouts.inForce(iamRules()).rules[0]?.canary).toEqual({ mode: 'diff-v2', percent: 0 })
  })

  it('of an operation that an earlier rule takes moves nothing', () => {
    const one = simulate(withOwnRule('iam.a'))
    openCircuit(one)
    expect(one.place()).toBe('running 1 1')
  })

  it('that probes close lets the rollout try again from its first step, twice at most', () => {
    const one = simulate(iamRules({ steps: [{ percent: 10, hold: '9h' }] }), [], true)
    const places = []
    for (let round = 0; round < 3; round += 1) {
      openCircuit(one)
      places.push(one.place())
      if (round === 0) expect(status(one)?.reason).toMatch(/ It tries again when this circuit has closed\.$/)
      for (let nth = 0; nth < 400; nth += 1) one.ask(500)
      one.minutes(25)
      places.push(one.place())
    }
    expect(places).toEqual(['turned-back 1 0', 'running 1 10', 'turned-back 1 0', 'running 1 10', 'turned-back 1 0', 'turned-back 1 0'])
    expect(status(one)).toMatchObject({
      retriesLeft: 0,
      reason: expect.stringContaining('No retry is left, so a person must resume it.'),
    })
  })

  it('closes when a person resumes, and the evidence begins anew', () => {
    const one = atSecondStep()
    openCircuit(one)
    expect(one.rollouts.steer('iam', 'resume', PERSON)).toBeUndefined()
    expect([one.place(), one.rollouts.keptOpenBy('iam.a'), status(one)?.observed]).toEqual(['running 1 1', undefined, 0])
    prove(one)
    one.minutes(10)
    expect(one.place()).toBe('running 2 10')
  })
})

describe('time', () => {
  it('does not pass with jumps of the wall clock', () => {
    const one = atSecondStep()
    one.minutes(2)
    for (const wall of [0, 9e12, 1e12]) {
      one.setWall(wall)
      one.rollouts.look()
    }
    expect([status(one)?.heldMs, one.place()]).toEqual([120_000, 'running 2 10'])
  })

  it('in which the process stood still counts as a minute at most', () => {
    const one = atSecondStep()
    one.ask(50)
    one.pass(9 * 60_000)
    expect(status(one)?.heldMs).toBe(60_000)
  })

  it('without requests of the share holds the rollout, whatever others send', () => {
    const one = atSecondStep()
    one.minutes(12, [500])
    expect([one.place(), status(one)?.reason]).toEqual([
      'held 2 10',
      'No caller of the share sent a request for 10 min. The time does not count. In this step 0 of 1 caller (0 %) got the canary, and 10 % are configured: too few callers to tell. If none of its clients is in the share, promote it.',
    ])
    one.minutes(1)
    expect(one.place()).toBe('running 2 10')
    expect(status(one)?.heldMs).toBeLessThan(60_001)
  })
})

it('records that cannot be written pause the rollout, and it goes on once they can', () => {
  const one = atSecondStep()
  one.problem = 'ENOSPC'
  one.minutes(1)
  expect([one.place(), status(one)?.reason]).toEqual([
    'paused 2 10',
    'Records cannot be written: ENOSPC. It goes on by itself when that has ended.',
  ])
  one.problem = undefined
  one.minutes(1)
  expect([one.place(), status(one)?.retriesLeft]).toEqual(['running 2 10', 1])
})

it('what a tester asks of v2 alone neither delays nor pauses the rollout', () => {
  const one = simulate(iamRules())
  prove(one)
  const tester = { caller: callerAt(5), subject: undefined, mode: 'v2', round: one.rollouts.round() } as const
  for (let nth = 0; nth < 600; nth += 1) one.rollouts.used(tester, 'iam.b', 'v2')
  one.pass(60_000)
  one.minutes(10)
  expect(one.moves()).toEqual(['running at step 1 of 3 (1 %)', 'running at step 2 of 3 (10 %)'])
})
