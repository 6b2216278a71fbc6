import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { INCOMPLETE, toldBy } from '../../src/admin/fleet-routes.ts'
import type { Report } from '../../src/admin/report/report.ts'
import { changesSaid, isOnlyBusy, sentencesOf } from '../../src/admin/web/words.ts'
import { joinFleet, UNTOLD } from '../../src/app/server/fleet.ts'
import { createLeader, LEASE_MS } from '../../src/fleet/fleet.ts'
import { createSharedNoise, createSharedRedactionKey, createSharedRefusals } from '../../src/fleet/judging.ts'
import { createMemory, type Memory } from '../../src/fleet/store/memory.ts'
import { StoreDown } from '../../src/fleet/store/store.ts'
import type { Client } from '../../src/migrate/clients.ts'
import { createNoise } from '../../src/migrate/compare/judge.ts'
import { createRedactionKey } from '../../src/migrate/compare/redact.ts'
import { createV1Refusals } from '../../src/migrate/observe/observe.ts'
import type { Comparison } from '../../src/migrate/records/record.ts'
import { FLEET, reportOf } from '../admin/report-stage.ts'
import { runCommand } from '../app/cli/support.ts'
import { child, findings } from '../migrate/given.ts'
import { manualClocks, until } from '../stage/clocks.ts'
import { NOWHERE, startStage, type TestProxy } from '../stage/stage.ts'
import { breakableStore } from '../stage/stores.ts'
import { answering } from '../stage/upstream.ts'
import { cuttable, fleetOf, type Pair, sharedStage, startPair } from './stage.ts'

describe('two replicas that share a store', () => {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair({ 'diff.learnEvery': 0 })
    const fault = { match: 'GET /iam/v2/groups', change: { at: '/groups/0/name', to: 'wrong' } }
    await fetch(`${pair.sandbox.url}/-/faults`, {
      method: 'POST',
      body: JSON.stringify(fault),
      headers: { 'content-type': 'application/json' },
    })
    const { a, b, get } = pair
    await get(a, '/iam/v1/roles')
    await get(b, '/iam/v1/roles')
    await get(b, '/iam/v1/roles', 'admin')
    await get(a, '/iam/v1/groups')
    await get(b, '/iam/v1/groups', 'admin')
  })
  afterAll(() => pair.close())
  const ask = async <T>(one: TestProxy, path: string) => {
    const answer = await fetch(one.adminUrl + path)
    return { body: (await answer.json()) as T, missing: answer.headers.get('x-crosswalk-incomplete') }
  }

  it('say at either one who calls what at both', async () => {
    const { a, b } = pair
    const [here, there] = [await ask<Client[]>(a, '/clients'), await ask<Client[]>(b, '/clients')]
    const uses = { operation: 'iam.roles.list', modes: ['diff-v1'], mismatches: 0 }
    const wrong = { operation: 'iam.groups.list', modes: ['diff-v1'], mismatches: 1, calls: 1 }
    expect(here.body).toMatchObject([
      { calls: 3, operations: [{ ...uses, calls: 2, requests: [{ samples: 2 }] }, wrong] },
      { calls: 2, operations: [wrong, uses] },
    ])
    expect(there).toEqual(here)
    expect(here.missing).toBeNull()
  })

  it('show the differences of both, each with its replica', async () => {
    const { a, b } = pair
    const [here, there] = [await ask<Comparison[]>(a, '/comparisons'), await ask<Comparison[]>(b, '/comparisons')]
    expect(here.body).toEqual(there.body)
    expect(here.body.map(({ operation, outcome }) => [operation, outcome])).toEqual(Array(2).fill(['iam.groups.list', 'mismatch']))
    expect(new Set(here.body.map(({ replica }) => replica)).size).toBe(2)
    expect((await ask<Comparison[]>(a, '/comparisons?limit=1')).body).toHaveLength(1)
    const { body } = await ask<Client[]>(a, '/clients')
    expect(body.map(({ mismatches }) => mismatches)).toEqual([1, 1])
  })

  it('report together, each with the examples of both', async () => {
    const { a, b } = pair
    const [here, there] = [await ask<Report>(a, '/report.json'), await ask<Report>(b, '/report.json')]
    const groups = { operation: 'iam.groups.list', n: 2, bad: 2, calls: 2 }
    for (const { body } of [here, there]) {
      expect(body).toMatchObject({ ready: false, operations: [groups, { operation: 'iam.roles.list', n: 2, calls: 3 }] })
      expect(body.clients).toHaveLength(2)
      const examples = body.operations[0]?.differences.flatMap((one) => one.examples)
      expect(new Set(examples?.map(({ replica }) => replica)).size).toBe(2)
      expect(body.fleet?.replicas.map(({ isSelf, behind }) => [isSelf, behind])).toEqual([
        [true, 0],
        [false, 0],
      ])
    }
    const { headers } = await fetch(`${a.adminUrl}/report.json`)
    const known = { 'if-none-match': headers.get('etag') ?? '' }
    expect((await fetch(`${a.adminUrl}/report.json`, { headers: known })).status).toBe(304)
  })

  it('are asked once by a command that names both', async () => {
    const { a, b } = pair
    const admin = [a, b].flatMap((one) => ['--admin', one.adminUrl])
    const { out, code } = await runCommand(['clients', '--json', ...admin])
    expect(code).toBe(0)
    expect((JSON.parse(out) as Client[]).map(({ calls }) => calls)).toEqual([3, 2])
  })

  it('say what one of them knows while the store does not answer, and that it is no more', async () => {
    const { a, breakable } = pair
    // A replica keeps the comparisons of others that it has read.
    expect((await ask<Comparison[]>(a, '/comparisons')).body).toHaveLength(2)
    breakable.broken = 'refuses'
    onTestFinished(() => {
      breakable.broken = undefined
    })
    const { body, missing } = await ask<Client[]>(a, '/clients')
    expect(body.map(({ calls }) => calls)).toEqual([2])
    expect(missing).toBe('The store does not answer, so nobody knows what the other replicas have seen. This is what this replica knows.')
    const { err } = await runCommand(['clients', '--admin', a.adminUrl])
    expect(err).toContain(missing)
    const compared = await ask<Comparison[]>(a, '/comparisons')
    expect([compared.body.length, compared.missing]).toEqual([2, missing])
    const { body: report } = await ask<Report>(a, '/report.json')
    expect(report).toMatchObject({ ready: false, fleet: { problems: [expect.stringContaining('store does not answer')] } })
    expect(report.reasons[0]).toContain('store does not answer')
  })
})

describe('troubles', () => {
  it('says once that a replica is silent', () => {
    expect(sentencesOf(FLEET)).toEqual([
      ...FLEET.problems,
      'Replica pod-c-3: 1 version of the modes behind, 40 clean observations dropped.',
    ])
    expect(sentencesOf({ ...FLEET, problems: [] })).toEqual([
      'Replica pod-c-3: silent, 1 version of the modes behind, 2 wrong observations lost, 40 clean observations dropped.',
    ])
  })

  it('names a replica of other services', () => {
    const [one] = FLEET.replicas
    const replicas = one ? [{ ...one, otherServices: ['v2', 'v1'] }] : []
    expect(sentencesOf({ ...FLEET, problems: [], replicas })).toEqual(['Replica pod-a-1: another upstream.v2, another upstream.v1.'])
  })

  it('tells a screen reader of a replica that nobody can read', async () => {
    const report = await reportOf([])
    const [before, after] = [
      { ...report, fleet: { ...FLEET, unread: [] } },
      { ...report, fleet: FLEET },
    ]
    expect(changesSaid(before, after)).toEqual(['Replica pod-d-4 is not well.'])
  })

  it('tells a fleet that is busy from one that is not well', () => {
    const busy = ['Replica pod-a-1 still compares.']
    const [well] = FLEET.replicas
    const fleet = { ...FLEET, busy, problems: busy, replicas: well ? [well] : [], unread: [] }
    expect(isOnlyBusy(fleet)).toBe(true)
    expect(isOnlyBusy({ ...fleet, problems: [...busy, ...FLEET.problems] })).toBe(false)
    expect(isOnlyBusy({ ...fleet, replicas: FLEET.replicas })).toBe(false)
  })
})

describe('upstreams', () => {
  async function replica(memory: Memory, v2: string, v1: string) {
    const { replica: id, join } = joinFleet(memory.open())
    const proxy = await startStage({ v1, v2, join: { replica: id, join } })
    const ask = async (path: string) => (await fetch(proxy.adminUrl + path)).json()
    const warned = () => proxy.log.filter(({ msg }) => String(msg).includes('but adds to the same evidence')).map(({ msg }) => msg)
    return { ...proxy, id, ask, warned }
  }

  const [V2, V1] = ['http://127.0.0.1:1', 'http://127.0.0.1:2']

  it('names a replica that reaches another v2 under the same name of the fleet, until it is gone', async () => {
    const memory = createMemory(Date.now)
    const [a, b] = [await replica(memory, V2, V1), await replica(memory, V2, V1)]
    const c = await replica(memory, `${V2}/staging`, V1)
    const said = `Replica ${c.id} has another upstream.v2 than this one, but adds to the same evidence; give both the same, or each its own store.name, and begin a new epoch.`
    await until(async () => b.warned().length > 0)
    await until(async () => a.warned().length > 0 && c.warned().length === 2)
    expect([a.warned(), b.warned()]).toEqual([[said], [said]])
    const listed = (await a.ask('/replicas')) as { readonly id: string; readonly differs?: readonly string[] }[]
    expect(listed.flatMap(({ id, differs }) => (differs ? [{ id, differs }] : []))).toEqual([{ id: c.id, differs: ['upstream.v2'] }])
    const { out, err, code } = await runCommand(['cutover', '--admin', a.adminUrl])
    expect(code).toBe(3)
    expect(out + err).toContain(said)
    expect(await a.ask('/report.json')).toMatchObject({ ready: false, fleet: { problems: [said] } })
    await c.close()
    await until(async () => ((await a.ask('/evidence')) as { fleet: { problems: string[] } }).fleet.problems.length === 0)
    expect(a.warned()).toHaveLength(1)
  })

  it('names both services', async () => {
    const memory = createMemory(Date.now)
    const [a] = [await replica(memory, V2, V1), await replica(memory, V1, V2)]
    await until(async () => a.warned().length > 0)
    expect(a.warned()).toEqual([expect.stringContaining('has another upstream.v2 and upstream.v1 than this one')])
  })
})

it('a replica gives no canary v2 while the store is silent for longer than the lease', async () => {
  const breakable = breakableStore(createMemory(Date.now).open())
  const canary = { operations: '*', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'v2' } } as const
  const proxy = await startStage({
    ...{ v1: NOWHERE, v2: NOWHERE, stores: [breakable.store] },
    proxy: { modes: { default: 'v1', rules: [canary], testers: [] }, 'store.leaseMs': 1500 },
  })
  const shares = async () => (await (await fetch(`${proxy.adminUrl}/metrics`)).text()).match(/^crosswalk_canary_share\{.*/gm)?.length ?? 0
  const share = await shares()
  expect(share).toBeGreaterThan(0)
  breakable.broken = 'refuses'
  await until(async () => (await shares()) === 0)
  breakable.broken = undefined
  await until(async () => (await shares()) === share)
})

describe('joined', () => {
  it.each([
    ['does not answer', 'nothing listens there'],
    ['cannot be written', 'the disk is full'],
  ])('says what ends with a process whose store %s', async (_, why) => {
    const breakable = breakableStore(createMemory(Date.now).open())
    const close = () => Promise.reject(new StoreDown(why))
    const store = why === 'the disk is full' ? { ...breakable.store, close } : breakable.store
    const server = await startStage({ v1: NOWHERE, v2: NOWHERE, stores: [store] })
    breakable.broken = why === 'the disk is full' ? undefined : 'refuses'
    await server.close()
    expect(server.log.map(({ msg }) => msg)).toContain(`${why}: ${UNTOLD}`)
  })

  it('starts and ends servers that share a store', async () => {
    const memory = createMemory(Date.now)
    const replicas = () => memory.open().read([{ kind: 'replicas', name: '' }])
    for (let at = 0; at < 2; at += 1) {
      await startStage({ v1: null, v2: 'http://127.0.0.1:1', stores: [memory.open()] })
    }
    expect(await replicas()).toEqual([expect.objectContaining({ value: [expect.anything(), expect.anything()] })])
  })

  it.each([
    [7_200_000, 'the clock of the store is some 2 h ahead of that of this machine'],
    [-300_000, 'the clock of the store is some 5 min behind that of this machine'],
    [50_000, undefined],
  ])('tells that the clock of the store is %i ms off, in a note, in /readyz and in a metric', async (offMs, clock) => {
    const store = createMemory(() => Date.now() + offMs).open()
    const proxy = await startStage({ v1: null, v2: answering({ response: 'pong' }), stores: [store] })
    const ask = async (path: string) => (await fetch(proxy.adminUrl + path)).text()
    const [, seconds] = /^crosswalk_clock_ahead_seconds\{of="the store"\} (\S+)$/m.exec(await ask('/metrics')) ?? []
    expect(Math.abs(Number(seconds) - offMs / 1000)).toBeLessThan(2)
    const notes = proxy.log.filter(({ what }) => what === 'clock')
    expect(notes.map(({ msg }) => msg)).toEqual(clock === undefined ? [] : [`${clock}: look at the time service of both machines`])
    expect(JSON.parse(await ask('/readyz')).clock).toBe(clock)
  })
})

describe('leader', () => {
  async function three() {
    const clocks = manualClocks()
    const memory = createMemory(clocks.now)
    const replicas = ['a', 'b', 'c'].map((id) => {
      const cut = cuttable(memory.open())
      const fleet = fleetOf(id, cut.store, clocks)
      const leader = createLeader(id, clocks.ticks)
      fleet.add(leader)
      return { id, cut, fleet, leader }
    })
    for (const { fleet } of replicas) await fleet.start()
    const leading = () => replicas.filter(({ leader }) => leader.isSelf()).map(({ id }) => id)
    const [a, b, c] = replicas as [(typeof replicas)[0], (typeof replicas)[0], (typeof replicas)[0]]
    return { clocks, replicas, leading, a, b, c }
  }

  it('is the first replica, as long as it renews its lease', async () => {
    const { clocks, replicas, leading } = await three()
    for (let second = 0; second < 20; second += 1) {
      await clocks.pass(1000)
      expect(leading()).toEqual(['a'])
    }
    expect(replicas.map(({ leader }) => leader.id())).toEqual(['a', 'a', 'a'])
  })

  it.each(['requests', 'answers'] as const)('is another replica soon after its %s are lost, and never two', async (lost) => {
    const { clocks, leading, a } = await three()
    await clocks.pass(1000)
    a.cut.cut = lost
    const lead: (readonly string[])[] = []
    for (let ms = 0; ms < LEASE_MS + 2000; ms += 50) {
      await clocks.pass(50)
      lead.push(leading())
    }
    expect(lead.every(({ length }) => length <= 1)).toBe(true)
    expect(leading()).toEqual(['b'])
    a.cut.cut = 'no'
    await clocks.pass(2000)
    expect(leading()).toEqual(['b'])
  })

  it('is another replica at once after it has ended', async () => {
    const { clocks, leading, a } = await three()
    await clocks.pass(1000)
    a.leader.resign()
    expect(leading()).toEqual([])
    await a.fleet.close()
    await clocks.pass(1100)
    expect(leading()).toEqual(['b'])
  })
})

describe('judging', () => {
  const LIST = 'registry.repos.list'
  const repos = (downloads: number) => ({ items: [{ id: child(1), updated_at: null, downloads }] })
  const DOWNLOADS = findings(LIST, repos(1), repos(2))[0]!

  function stage() {
    const shared = sharedStage()
    const join = (id: string) =>
      shared.join(id, (fleet) => {
        const noise = createNoise()
        const key = createRedactionKey()
        const refusals = createV1Refusals()
        fleet.add(createSharedNoise(noise, fleet))
        fleet.add(createSharedRedactionKey(key))
        fleet.add(createSharedRefusals(refusals, fleet))
        return { noise, key, refusals }
      })
    return { ...shared, join }
  }

  it('learns on all replicas what changes by itself, however the double reads are spread', async () => {
    const { clocks, join } = stage()
    const replicas = await Promise.all(['a', 'b', 'c'].map(join))
    for (const { noise } of replicas) noise.learn(LIST, [DOWNLOADS])
    await clocks.pass(1500)
    const late = await join('d')
    for (const { noise } of [...replicas, late]) {
      expect(noise.isNoise(LIST, DOWNLOADS)).toBe(true)
      expect(noise.members()).toEqual([{ operation: LIST, where: '/items/*/downloads', kind: 'value', changes: 3, asks: 3 }])
    }
  })

  it('forgets on all replicas what has stopped to change', async () => {
    const { clocks, join } = stage()
    const replicas = await Promise.all(['a', 'b'].map(join))
    for (let at = 0; at < 3; at += 1) replicas[0]?.noise.learn(LIST, [DOWNLOADS])
    for (let at = 0; at < 50; at += 1) replicas[1]?.noise.learn(LIST, [])
    await clocks.pass(1500)
    for (const { noise } of [...replicas, await join('c')]) expect(noise.isNoise(LIST, DOWNLOADS)).toBe(false)
  })

  it('learns each double read once, also if the store came back older', async () => {
    const { clocks, backUp, join } = stage()
    const [a, b] = [await join('a'), await join('b')]
    a.noise.learn(LIST, [DOWNLOADS])
    await clocks.pass(1500)
    const restore = backUp()
    for (let at = 0; at < 2; at += 1) {
      a.noise.learn(LIST, [])
      await clocks.pass(1500)
      restore()
      await clocks.pass(1500)
    }
    for (const { noise } of [a, b]) expect(noise.isNoise(LIST, DOWNLOADS)).toBe(false)
  })

  it('hashes texts on all replicas with the key of the first, and tells it again to a store that lost it', async () => {
    const { clocks, lose, join } = stage()
    const [first, second] = [await join('a'), await join('b')]
    const key = first.key.text()
    expect(second.key.text()).toBe(key)
    lose()
    await clocks.pass(3000)
    const third = await join('c')
    expect([first, second, third].map((one) => one.key.text())).toEqual([key, key, key])
  })

  it('knows on all replicas which writes v1 always refuses, and forgets that where one of them saw v1 accept', async () => {
    const { clocks, join } = stage()
    const replicas = await Promise.all(['a', 'b'].map(join))
    const [always, sometimes] = ['s', 't'].map((shape) => ({ operation: 'registry.repos.update', caller: 'c', shape }))
    replicas[0]?.refusals.noteStatus(always!, 403)
    replicas[1]?.refusals.noteStatus(sometimes!, 200)
    replicas[0]?.refusals.noteStatus(sometimes!, 400)
    await clocks.pass(3000)
    for (const { refusals } of [...replicas, await join('c')]) {
      expect(refusals.has(always!, 403)).toBe(true)
      expect(refusals.has(always!, 400)).toBe(false)
      expect(refusals.has(sometimes!, 400)).toBe(false)
    }
  })
})

it('the header of what is missing stays short, however many sentences there are', () => {
  const headers: Record<string, string> = {}
  const reply = { header: (name: string, value: string) => Object.assign(headers, { [name]: value }) }
  const told = (problems: readonly string[]) => toldBy(reply as never, { answer: 'x', problems })
  expect([told([]), headers]).toEqual(['x', {}])
  told(['One is silent.'])
  expect(headers[INCOMPLETE]).toBe('One is silent.')
  told(Array(30_000).fill('One is silent.'))
  expect(headers[INCOMPLETE]).toMatch(/^(One is silent\. ){133}One i\.\.\. \(30000 sentences in all\)$/)
})
