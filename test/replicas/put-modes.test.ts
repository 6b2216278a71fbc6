import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { Config } from '../../src/app/config/settings.ts'
import { joinFleet, storeStandingOf } from '../../src/app/server/fleet.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import { createMemory, type Memory } from '../../src/fleet/store/memory.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import { breakableStore } from '../stage/breakable-store.ts'
import { startOwnTime } from '../stage/own-time.ts'
import { startProxy } from '../stage/proxy.ts'
import { until } from '../stage/until.ts'

const started: (() => Promise<void>)[] = []
const NOWHERE = { 'upstream.v2': 'http://127.0.0.1:1', 'upstream.v1': 'http://127.0.0.1:1' }

async function replicaOf(memory: Memory, values: Partial<Config> = {}) {
  const breakable = breakableStore(memory.open())
  const { replica, join } = joinFleet(breakable.store)
  const proxy = await startProxy(
    { ...NOWHERE, 'store.url': 'redis://in.memory', ...values },
    { join: { replica, join }, file: 'crosswalk.json' },
  )
  started.push(proxy.close)
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

afterAll(async () => {
  await Promise.all(started.map((close) => close()))
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
  const ends = await Promise.all(Array.from({ length: 40 }, (_, at) => ([a, b, c][at % 3] ?? a).put(at % 2 === 0 ? 'v1' : 'diff-v1', etag)))
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
