import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../src/app/config/settings.ts'
import { joinFleet, storeStandingOf } from '../../src/app/server/fleet.ts'
import { pause } from '../../src/fleet/exchange.ts'
import { createFleet, type Fleet } from '../../src/fleet/fleet.ts'
import {
  conflictNote,
  createModesCache,
  createModesPart,
  createPutModes,
  type KeptModes,
  type ModesConflict,
} from '../../src/fleet/modes.ts'
import { createMemory, type Memory } from '../../src/fleet/store/memory.ts'
import type { Store } from '../../src/fleet/store/store.ts'
import type { SharedModes } from '../../src/migrate/modes/modes.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import { MODES as MODE_NAMES, type Mode } from '../../src/serve/sides.ts'
import { type ManualClocks, manualClocks, quiet, startOwnTime, until } from '../stage/clocks.ts'
import { NOWHERE, startStage } from '../stage/stage.ts'
import { type Broken, breakableStore } from '../stage/stores.ts'
import { answering } from '../stage/upstream.ts'

describe('modes cache', () => {
  const document = { version: 7, text: '{"rules":{}}' }
  const KEPT: KeptModes = { document, open: { 'iam.roles.list': 'errors' }, epoch: { version: 2, text: '{}' } }

  function stage(text: string) {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-cache-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'modes.json')
    writeFileSync(path, text)
    const warned: string[] = []
    return {
      path,
      warned,
      cache: createModesCache(
        path,
        () => KEPT,
        (text) => void warned.push(text),
      ),
    }
  }

  it.each([
    ['is cut off', JSON.stringify(KEPT).slice(0, -9)],
    ['is empty', ''],
    ['is not JSON', 'modes: v1\n'],
    ['is of something else', '{"format":"crosswalk store 1"}'],
    ['has no version', JSON.stringify({ ...KEPT, document: { version: 0, text: '' } })],
  ])('knows nothing from a file that %s, says so, and writes it anew', async (_, text) => {
    const { path, warned, cache } = stage(text)
    expect(await cache.read()).toBeUndefined()
    expect(warned).toEqual([`store.cache (${path}) is not a file that Crosswalk wrote, so no modes are known from it.`])
    cache.keep()
    await cache.close()
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(KEPT)
  })

  it('knows what an earlier process kept', async () => {
    expect(await stage(JSON.stringify(KEPT)).cache.read()).toEqual(KEPT)
  })
})

describe('unread modes', () => {
  const FOUND =
    'the store holds modes of version 2 that another version of Crosswalk wrote, and this one cannot read them (The modes are wrong: default must be one of v1, v2, diff-v1, diff-v2); run that version here too, or replace the modes with PUT /modes and If-Match: *'

  const documentOf = (mode: string) =>
    JSON.stringify({ rules: { default: mode, rules: [], testers: [] }, by: { source: 'start' }, at: Date.now() })

  /** Starts a replica whose store holds modes that it cannot read. */
  async function replica(values: Partial<Config> = {}) {
    const breakable = breakableStore(createMemory(Date.now).open())
    await breakable.store.replace('modes', 0, documentOf('v1'))
    await breakable.store.replace('modes', 1, documentOf('of tomorrow'))
    const both = answering({ response: 'pong' })
    const proxy = await startStage({
      v1: both,
      v2: both,
      proxy: { 'store.url': 'redis://in.memory', ...values },
      stores: [breakable.store],
    })
    const ask = async (path: string, init?: RequestInit) => {
      const answer = await fetch(proxy.adminUrl + path, init)
      // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer
      return { status: answer.status, body: (await answer.json()) as any }
    }
    const warned = () => proxy.log.filter(({ level }) => level === 40).map(({ msg }) => String(msg))
    return { ...proxy, breakable, ask, warned }
  }

  it('says that modes were found which it cannot read, if it knows no others', async () => {
    const { url, ask, warned } = await replica()
    const unknown = `this replica does not know the modes: ${FOUND}`
    expect(await ask('/readyz')).toMatchObject({ status: 503, body: { message: unknown } })
    expect(warned()).toEqual([`${FOUND}: none are known here, so this replica is not ready`])
    expect((await ask('/replicas')).body).toEqual([expect.objectContaining({ version: 0, behind: 2, unread: 2 })])
    const answer = await fetch(`${url}/iam/v1/groups`, { headers: { authorization: 'Bearer somebody' } })
    expect(await answer.json()).toMatchObject({ code: 14, message: expect.stringContaining(FOUND) })
  })

  it('is ready as soon as somebody has replaced the modes that it cannot read', async () => {
    const { ask } = await replica()
    const headers = { 'content-type': 'application/json', 'if-match': '*' }
    expect(await ask('/modes', { method: 'PUT', headers, body: '{"default":"v1"}' })).toMatchObject({ status: 200, body: { version: 3 } })
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: { store: 'ok' } })
    expect((await ask('/replicas')).body).toEqual([expect.not.objectContaining({ unread: 2 })])
  })

  it('says that the last modes which it could read stay active', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'crosswalk-unread-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const cache = join(folder, 'modes.json')
    writeFileSync(cache, JSON.stringify({ document: { version: 1, text: documentOf('v1') }, open: {} }))
    const { breakable, ask, warned } = await replica({ 'store.cache': cache })
    const stay = 'the last modes that this replica could read are active'
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: { store: `${FOUND}; ${stay}` } })
    expect(warned()).toEqual([`${FOUND}: the known ones stay active`])
    expect((await ask('/replicas')).body).toEqual([expect.objectContaining({ version: 1, behind: 1, unread: 2 })])
    breakable.broken = 'refuses'
    await until(async () => (await ask('/readyz')).body.store.startsWith('no answer'))
    expect((await ask('/readyz')).body.store).toContain(stay)
  })

  it('says that the modes of its file were not taken', async () => {
    const { changeModes, warned } = await replica()
    expect(changeModes({ default: 'v1', rules: [], testers: [] }, { source: 'file', path: 'crosswalk.json' })).toBeUndefined()
    expect(warned().at(-1)).toBe(`the store has not taken the modes of the file: ${FOUND}`)
  })
})

describe('modes agree', () => {
  const rulesOf = (mode: Mode): ModeRules => ({ default: mode, rules: [], testers: [] })

  /** A replica that has modes and nothing else. */
  function replicaOf(id: string, store: Store, clocks: ManualClocks, file: Mode = 'v2') {
    const by = { source: 'start' } as const
    let state: SharedModes = { rules: rulesOf(file), version: 0, tag: '', by, at: clocks.now() }
    const versions: number[] = []
    const differed: ModesConflict[] = []
    const own: boolean[] = []
    const modes = {
      state: () => state,
      adopt(next: SharedModes, isOwn: boolean) {
        state = next
        versions.push(next.version)
        own.push(isOwn)
      },
    }
    const fleet = createFleet({
      store,
      id,
      name: id,
      clocks,
      modes: modes.state,
      ended: () => {},
      failed: (error) => expect.unreachable(String(error)),
    })
    const told = {
      adopted: () => {},
      unreadable: () => {},
      proposed: () => {},
      differed: (conflict: ModesConflict) => void differed.push(conflict),
    }
    const part = createModesPart({ modes, first: { rules: state.rules, by }, now: clocks.now, wake: fleet.now, events: told })
    fleet.add(part)
    const put = createPutModes({ fleet, part, modes, clocks })
    return { id, fleet, part, put, state: modes.state, versions, differed, own }
  }

  async function three(files: readonly Mode[] = ['v2', 'v2', 'v2']) {
    const clocks = manualClocks()
    let memory = createMemory(clocks.now)
    const replicas = files.map((file, at) => {
      const breakable = breakableStore(memory.open())
      return { ...replicaOf(`r${at}`, breakable.store, clocks, file), breakable }
    })
    for (const { fleet } of replicas) {
      const started = fleet.start()
      await clocks.pass(5)
      await started
    }
    await clocks.pass(1200)
    /** Gives all replicas another store, which has nothing and sends no news. */
    const replaceStore = async () => {
      // The stamps of a store are times: two stores of one millisecond could have the same ones.
      await clocks.pass(5)
      memory = createMemory(clocks.now)
      for (const { breakable } of replicas) breakable.inner = memory.open()
    }
    const [a, b, c] = replicas as [(typeof replicas)[0], (typeof replicas)[0], (typeof replicas)[0]]
    return { clocks, a, b, c, replicas, replaceStore }
  }

  const ADMIN = { source: 'admin' } as const

  it('takes the modes of one file, if the files of the replicas differ', async () => {
    const { a, b, c } = await three(['v1', 'diff-v1', 'v2'])
    expect([a, b, c].map(({ state }) => state().rules.default)).toEqual(['v1', 'v1', 'v1'])
    expect(new Set([a, b, c].map(({ state }) => state().tag)).size).toBe(1)
  })

  it('gives the newest modes back to a store that lost all', async () => {
    const { clocks, a, b, replaceStore } = await three()
    const putting = a.put.put(rulesOf('v1'), ADMIN, () => true)
    await clocks.pass(200)
    await putting
    await replaceStore()
    await clocks.pass(1500)
    const [found] = await b.fleet.store.read([{ kind: 'document', name: 'modes' }])
    expect(found?.value).toMatchObject({ version: 2, text: expect.stringContaining('"v1"') })
    expect([a, b].map(({ versions }) => versions.at(-1))).toEqual([2, 2])
  })

  it('changes nothing more when the store answers after a person was told that it does not', async () => {
    const { clocks, a, b } = await three()
    const { inner } = a.breakable
    a.breakable.inner = { ...inner, exchange: (batch) => pause(400, clocks).then(() => inner.exchange(batch)) }
    const before = b.put.put(rulesOf('v1'), ADMIN, () => true)
    await clocks.pass(5)
    const { tag } = b.state()
    const putting = a.put.put(rulesOf('diff-v1'), ADMIN, (expected) => expected === tag)
    await clocks.pass(260)
    expect(await putting).toEqual({ end: 'down' })
    await clocks.pass(2000)
    await before
    expect([a, b].map(({ state }) => state().rules.default)).toEqual(['v1', 'v1'])
  })

  /** A document that these replicas cannot read. */
  const TOMORROW = JSON.stringify({ rules: { default: 'of tomorrow' }, by: ADMIN, at: 0 })

  it('proposes no modes of a file in place of those that it cannot read', async () => {
    const { clocks, a } = await three()
    await a.fleet.store.replace('modes', 1, TOMORROW)
    await clocks.pass(1200)
    a.part.propose(rulesOf('v1'), { source: 'file', path: 'crosswalk.json' })
    await clocks.pass(1200)
    expect(a.part.changes()).toEqual([])
  })

  it('puts modes after the store has lost those that it could not read', async () => {
    const { clocks, a, replaceStore } = await three()
    await a.fleet.store.replace('modes', 1, TOMORROW)
    await clocks.pass(1200)
    await replaceStore()
    await clocks.pass(1500)
    const putting = a.put.put(rulesOf('v1'), ADMIN, () => true)
    await clocks.pass(1500)
    expect(await putting).toMatchObject({ end: 'put' })
    expect(a.part.unread()).toBeUndefined()
  })

  it('lets the same modes win everywhere, if a store comes back with others of the same version', async () => {
    const { clocks, a, b, c } = await three()
    for (const one of [a, b, c]) one.breakable.broken = 'refuses'
    await clocks.pass(300)
    await a.put.putHere(rulesOf('v1'), ADMIN)
    await b.put.putHere(rulesOf('diff-v1'), ADMIN)
    const [lost, won] = a.state().tag > b.state().tag ? ['diff-v1', 'v1'] : ['v1', 'diff-v1']
    const winner = (a.state().tag > b.state().tag ? a : b).state().rules.default
    for (const one of [b, a, c]) {
      one.breakable.broken = undefined
      await clocks.pass(2000)
    }
    expect([a, b, c].map(({ state }) => state().rules.default)).toEqual([winner, winner, winner])
    const conflicts = [a, b, c].flatMap(({ differed }) => differed)
    expect(conflicts.map((one) => conflictNote(one, false))).toEqual([
      {
        ...{ what: 'conflict', from: `everything else ${lost}`, to: `everything else ${won}`, version: 2 },
        text: expect.stringMatching(
          /^the store and this replica had different modes of version 2, .*: what was put by admin port is lost$/,
        ),
      },
    ])
  })

  it('notes a change only where it was put', async () => {
    const { clocks, a, b } = await three()
    const putting = a.put.put(rulesOf('v1'), ADMIN, () => true)
    await clocks.pass(200)
    expect(await putting).toMatchObject({ end: 'put', missing: [] })
    expect([a.own, b.own]).toEqual([
      [false, true],
      [false, false],
    ])
  })

  type Step =
    | { readonly do: 'put' | 'here' | 'file'; readonly at: number; readonly mode: Mode }
    | { readonly do: 'break'; readonly at: number; readonly broken: Broken | undefined }
    | { readonly do: 'pass'; readonly ms: number }
    | { readonly do: 'empty' }

  const at = fc.integer({ min: 0, max: 2 })
  const mode = fc.constantFrom(...MODE_NAMES)
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('put' as const, 'here' as const, 'file' as const), at, mode }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('break' as const),
        at,
        broken: fc.constantFrom<Broken | undefined>('refuses', 'loses answers', 'is silent', undefined),
      }),
    },
    { weight: 5, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(0, 5, 50, 300, 1100) }) },
    { weight: 1, arbitrary: fc.constant({ do: 'empty' as const }) },
  )

  it('ends in one version everywhere, and no version goes down', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { clocks, replicas, replaceStore } = await three()
        for (const one of steps) {
          if (one.do === 'pass') await clocks.pass(one.ms)
          else if (one.do === 'empty') await replaceStore()
          else {
            const replica = replicas[one.at]
            if (!replica) continue
            if (one.do === 'break') replica.breakable.broken = one.broken
            else if (one.do === 'file') replica.part.propose(rulesOf(one.mode), { source: 'file', path: 'crosswalk.json' })
            else if (one.do === 'here') void replica.put.putHere(rulesOf(one.mode), ADMIN)
            else void replica.put.put(rulesOf(one.mode), ADMIN, () => true)
          }
          await quiet()
        }
        for (const { breakable } of replicas) breakable.broken = undefined
        await clocks.pass(4000)
        expect(new Set(replicas.map(({ state }) => state().tag)).size).toBe(1)
        const found = await Promise.all(replicas.map(({ fleet }) => fleet.store.read([{ kind: 'document', name: 'modes' }])))
        expect(found.map(([document]) => document?.value)).toEqual(replicas.map(({ part }) => part.known()))
        for (const { versions } of replicas) expect(versions).toEqual(versions.toSorted((x, y) => x - y))
      }),
      { numRuns: 60 },
    )
  })

  it('replaces modes that another version of Crosswalk wrote, if it is told to replace whatever is there', async () => {
    const { clocks, a, b } = await three()
    const { document } = await a.breakable.store.replace('modes', 1, '{"rules":{"default":"of tomorrow"},"by":{},"at":0}')
    await clocks.pass(2000)
    expect(a.state()).toMatchObject({ version: 1 })
    const refused = a.put.put(rulesOf('v1'), ADMIN, (tag) => tag === a.state().tag)
    await clocks.pass(500)
    expect(await refused).toEqual({ end: 'overtaken' })
    const put = a.put.put(rulesOf('v1'), ADMIN, () => true)
    await clocks.pass(1500)
    expect(await put).toMatchObject({ end: 'put', missing: [] })
    expect([a, b].map(({ state }) => [state().version, state().rules.default])).toEqual([
      [document.version + 1, 'v1'],
      [document.version + 1, 'v1'],
    ])
  })
})

describe('put modes', () => {
  async function replicaOf(memory: Memory, values: Partial<Config> = {}) {
    const breakable = breakableStore(memory.open())
    const { replica, join } = joinFleet(breakable.store)
    const settings = { 'store.url': 'redis://in.memory', ...values }
    const proxy = await startStage({ v1: NOWHERE, v2: NOWHERE, proxy: settings, join: { replica, join }, file: 'crosswalk.json' })
    const ask = async (path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(proxy.adminUrl + path, {
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { method: 'PUT', body: JSON.stringify(body) }),
      })
      // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer
      return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: (await answer.json()) as any }
    }
    const put = (mode: string, tag: string, query = '') => ask(`/modes${query}`, { default: mode }, { 'if-match': tag })
    return { ...proxy, breakable, replica, ask, put, modes: () => ask('/modes') }
  }

  type TestReplica = Awaited<ReturnType<typeof replicaOf>>

  let memory: Memory
  let a: TestReplica
  let b: TestReplica
  let c: TestReplica

  beforeAll(async () => {
    memory = createMemory(Date.now)
    a = await replicaOf(memory)
    b = await replicaOf(memory)
    c = await replicaOf(memory)
  })

  /** Makes the store well, and waits until all replicas agree. */
  afterEach(async () => {
    for (const one of [a, b, c]) Object.assign(one.breakable, { broken: undefined, slowMs: 0 })
    await until(async () => new Set(await Promise.all([a, b, c].map(async (one) => (await one.modes()).etag))).size === 1)
  })

  const versionOf = async (one: TestReplica): Promise<number> => (await one.modes()).body.version
  const idsOf = (...replicas: readonly TestReplica[]) => replicas.map(({ replica }) => replica).sort()
  const notesOf = ({ log }: TestReplica) => log.filter(({ msg }) => String(msg).startsWith('the modes changed')).length

  it('puts modes in force on all replicas, and says which obeyed', async () => {
    const { etag, body } = await a.modes()
    const noted = [a, b].map(notesOf)
    const put = await b.put('diff-v1', etag)
    expect(put).toMatchObject({ status: 200, body: { default: 'diff-v1', version: body.version + 1, missing: [] } })
    expect([...put.body.obeyed].sort()).toEqual(idsOf(a, b, c))
    const { changed, version } = put.body
    for (const one of [a, b, c]) expect(await one.modes()).toMatchObject({ etag: put.etag, body: { default: 'diff-v1', version, changed } })
    expect([a, b].map(notesOf)).toEqual([noted[0], (noted[1] ?? 0) + 1])
  })

  it('lets one of 40 requests with one etag win, over all replicas', async () => {
    const { etag, body } = await a.modes()
    const ends = await Promise.all(
      Array.from({ length: 40 }, (_, at) => ([a, b, c][at % 3] ?? a).put(at % 2 === 0 ? 'v1' : 'diff-v1', etag)),
    )
    expect(ends.map(({ status }) => status).sort()).toEqual([200, ...Array(39).fill(412)])
    const [lost] = ends.filter(({ status }) => status === 412)
    expect(lost?.body.message).toMatch(/^the modes are at version \d+ since .* \(admin port, from 127\.0\.0\.1\)/)
    expect(await versionOf(c)).toBe(body.version + 1)
  })

  it('asks for If-Match, and takes *', async () => {
    const version = await versionOf(a)
    expect(await a.ask('/modes', { default: 'v1' })).toMatchObject({ status: 428, body: { message: expect.stringContaining('If-Match') } })
    expect(await a.put('v1', 'v1')).toMatchObject({ status: 400 })
    expect(await a.put('v9', '*')).toMatchObject({ status: 400 })
    expect(await a.put('v1', '*', '?scope=all')).toMatchObject({ status: 400 })
    expect(await a.put('v1', '*', '?scope=replica')).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('store answers') },
    })
    expect(await a.put('v1', '*')).toMatchObject({ status: 200, body: { version: version + 1 } })
  })

  it.each(['refuses', 'is silent'] as const)('answers 503 within 300 ms while the store %s', async (broken) => {
    const { etag, body } = await a.modes()
    for (const one of [a, b, c]) one.breakable.broken = broken
    const took = startOwnTime()
    const refused = await a.put('v1', etag)
    expect(took()).toBeLessThan(300)
    expect(refused).toMatchObject({ status: 503, body: { message: expect.stringContaining('PUT /modes?scope=replica') } })
    expect((await a.modes()).body).toEqual(body)
  })

  it('says how late a store answers that is too slow for a change', async () => {
    const version = await versionOf(a)
    a.breakable.slowMs = 400
    const { status, body } = await until(async () => {
      const answer = await a.put('v1', '"no-such-tag"')
      return /too late/.test(answer.body.message) && answer
    })
    expect(status).toBe(503)
    expect(body.message).toMatch(
      /^the store answers too late: its last answer took \d+ ms, .* read GET \/modes before you try again\. PUT \/modes\?scope=/,
    )
    a.breakable.slowMs = 0
    await until(async () => (await a.put('v1', '"no-such-tag"')).status === 412)
    expect(await versionOf(a)).toBe(version)
  })

  it('tells in /readyz how late a store answers', () => {
    const modes = { known: () => 'store' as const, unknown: () => undefined, unread: () => undefined }
    const storeAfter = (tookMs: number | undefined) => {
      const state = { problem: undefined, foreignKey: undefined, silentMs: 1, tookMs } as ReturnType<Fleet['state']>
      return storeStandingOf({ state: () => state }, modes, { lost: () => undefined })().store
    }
    expect([undefined, 3, 250].map(storeAfter)).toEqual(['ok', 'ok', 'ok'])
    expect(storeAfter(512.4)).toBe('slow: its last answer took 512 ms, and a change of the modes for all replicas waits for 250 ms')
  })

  it('changes one replica alone while the store is away, and proposes that to all afterwards', async () => {
    const version = await versionOf(a)
    for (const one of [a, b, c]) one.breakable.broken = 'refuses'
    const alone = await a.put('diff-v2', '*', '?scope=replica')
    expect(alone).toMatchObject({ status: 200, body: { default: 'diff-v2', version: version + 1, obeyed: [a.replica] } })
    expect(await versionOf(b)).toBe(version)
    for (const one of [a, b, c]) one.breakable.broken = undefined
    await until(async () => (await versionOf(b)) === version + 1)
    expect(await b.modes()).toMatchObject({ etag: alone.etag, body: { default: 'diff-v2' } })
  })

  it('names a replica that has not obeyed', async () => {
    c.breakable.broken = 'refuses'
    const { status, body } = await a.put('v1', '*')
    expect([status, [...body.obeyed].sort()]).toEqual([200, idsOf(a, b)])
    expect(body.missing).toEqual([{ id: c.replica, seenMs: expect.any(Number) }])
    c.breakable.broken = undefined
    await until(async () => (await versionOf(c)) === body.version)
  })

  it('names a replica of another version, of which nobody knows whether it has obeyed', async () => {
    const newer = memory.open()
    const beat = (nth: number, ms: number) =>
      newer.exchange({ replica: 'newer', nth, changes: [{ kind: 'beat', text: '{"form":2}', ms }], reads: [], isUrgent: false })
    await beat(1, 60_000)
    const { status, body } = await a.put('v1', '*')
    const listed = (await a.ask('/replicas')).body
    const metrics = await (await fetch(`${a.adminUrl}/metrics`)).text()
    await beat(2, 1)
    expect([status, [...body.obeyed].sort()]).toEqual([200, idsOf(a, b, c)])
    expect(body.missing).toEqual([{ id: 'newer', seenMs: expect.any(Number) }])
    const problem = expect.stringMatching(/^It speaks a newer version of Crosswalk/)
    expect(listed).toContainEqual({ id: 'newer', state: 'live', self: false, leads: false, seenMs: expect.any(Number), problem })
    expect(metrics).toContain('crosswalk_replicas 4')
  })

  it('lists the replicas', async () => {
    const { body } = await b.ask('/replicas')
    expect(body.map(({ id }: { readonly id: string }) => id).sort()).toEqual(idsOf(a, b, c))
    expect(body.find(({ self }: { readonly self: boolean }) => self)).toMatchObject({ id: b.replica, state: 'live', lost: 0 })
  })

  it('takes a changed file once for all replicas, and a later PUT stays', async () => {
    const rules: ModeRules = { default: 'diff-v1', rules: [], testers: [] }
    const file = { source: 'file', path: 'crosswalk.json' } as const
    expect(a.changeModes(rules, file)).toBeUndefined()
    await until(async () => (await b.modes()).body.default === 'diff-v1')
    const version = await versionOf(b)
    expect((await b.modes()).body).toMatchObject({ changed: { by: file }, drift: expect.stringContaining('All replicas share those.') })
    const put = await a.put('v1', '*')
    expect(b.changeModes(rules, file)).toBeUndefined()
    expect(a.log.filter(({ msg }) => msg === `the store took the modes of the file, as version ${version}`)).toHaveLength(1)
    expect(b.log.map(({ msg }) => msg)).toContain('the modes of the file are those that were proposed last: they are not proposed again')
    expect(await b.put('v2', '"1-000000000000"')).toMatchObject({ status: 412, etag: put.etag })
  })

  it('says that the modes of the file wait for the store, and when it took them', async () => {
    const outages = () => a.log.filter(({ msg }) => String(msg).startsWith('the store does not answer')).length
    const before = outages()
    a.breakable.broken = 'refuses'
    await until(async () => outages() > before)
    expect(a.changeModes({ default: 'diff-v2', rules: [], testers: [] }, { source: 'file', path: 'crosswalk.json' })).toBeUndefined()
    const last = () => String(a.log.findLast(({ msg }) => String(msg).includes('the modes of the file'))?.msg)
    expect(last()).toMatch(/^the store has not taken the modes of the file: .*; they are proposed as soon as it answers$/)
    a.breakable.broken = undefined
    await until(async () => last() === `the store took the modes of the file, as version ${await versionOf(b)}`)
  })

  it('starts with the modes of the store, not with those of its file', async () => {
    const { etag } = await a.put('v1', '*')
    const late = await replicaOf(memory, { modes: { default: 'diff-v2', rules: [], testers: [] } })
    expect(await late.modes()).toMatchObject({
      etag,
      body: { default: 'v1', drift: expect.stringContaining('says: everything else diff-v2.') },
    })
    expect((await a.modes()).etag).toBe(etag)
  })
})
