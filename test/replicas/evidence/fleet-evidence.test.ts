import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { EpochView } from '../../../src/migrate/evidence/cutover.ts'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { runCommand } from '../../cli/support.ts'
import { breakableStore } from '../../stage/breakable-store.ts'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'

const SIDES = { modes: { default: 'diff-v1' as const, rules: [], testers: [] } }

describe('two replicas that share a store', () => {
  let [a, b]: TestProxy[] = []
  let sandbox: Awaited<ReturnType<typeof startQuietSandbox>>
  const memory = createMemory(Date.now)
  const breakable = breakableStore(memory.open())
  beforeAll(async () => {
    sandbox = await startQuietSandbox({})
    const sides = { ...SIDES, 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url }
    a = await startProxy(sides, { join: joinFleet(breakable.store) })
    b = await startProxy(sides, { join: joinFleet(memory.open()) })
  })
  afterAll(async () => {
    await Promise.all([a?.close(), b?.close()])
    await sandbox.close()
  })
  const proxy = (one: TestProxy | undefined) => one as TestProxy
  const get = async (one: TestProxy | undefined, path: string) => {
    const headers = { authorization: `Bearer ${sandbox.tokens.owner}` }
    const sent = proxy(one).log.filter(({ msg }) => msg === 'request').length
    await (await fetch(proxy(one).url + path, { headers })).text()
    while (proxy(one).log.filter(({ msg }) => msg === 'request').length === sent) await setImmediate()
  }
  const asked = async (one: TestProxy | undefined) =>
    (await fetch(`${proxy(one).adminUrl}/evidence`)).json() as Promise<EvidenceReport & Required<Pick<EvidenceReport, 'fleet'>>>
  const cutover = (...some: (TestProxy | undefined)[]) =>
    runCommand(['cutover', '--each', '--target', '0.9', ...some.flatMap((one) => ['--admin', proxy(one).adminUrl])])

  it('say at either one what both have seen, each pair once', async () => {
    for (const one of [a, b, a, b]) for (const query of ['?limit=1', '?order_by=name']) await get(one, `/iam/v1/groups${query}`)
    await get(b, '/iam/v1/roles')
    const [here, there] = [await asked(a), await asked(b)]
    const groups = { operation: 'iam.groups.list', comparisons: 8, n: 2, bad: 0, repeats: { n: 6 }, callers: 1, shapes: 2 }
    expect(here).toMatchObject({ operations: [groups, { operation: 'iam.roles.list', n: 1 }], fleet: { problems: [] } })
    expect(here.traffic).toEqual({ 'iam.groups.list': 8, 'iam.roles.list': 1 })
    const { fleet, operations, traffic, declarations } = there
    const counted = (some: typeof operations) => some.map(({ circuit, ...counts }) => counts)
    expect(counted(here.operations)).toEqual(counted(operations))
    expect(here).toMatchObject({ traffic, declarations })
    expect(fleet.replicas.map(({ id }) => id)).toContain(here.fleet.self)
    expect(fleet.epoch).toMatchObject({ nth: 0 })
  })

  it('are one fleet for a cutover that asks both', async () => {
    const { out, code } = await cutover(a, b)
    expect(out).toContain('after 2 observations')
    expect(out).not.toContain('reached more than one proxy')
    expect(code).toBe(1)
  })

  it('are not judged while one of them does not hand over what it knows', async () => {
    breakable.broken = 'refuses'
    await get(a, '/iam/v1/roles?limit=1')
    const { fleet } = await asked(b)
    expect(fleet.problems).toEqual([expect.stringContaining('has not handed over what it knows')])
    const { out, code } = await cutover(b)
    expect(out).toMatch(/^INCONCLUSIVE: Replica \S+ has not handed over what it knows/m)
    expect(code).toBe(3)
    expect((await asked(a)).fleet.problems).toEqual([expect.stringContaining('store does not answer')])
    breakable.broken = undefined
    expect(await asked(b)).toMatchObject({ fleet: { problems: [] }, traffic: { 'iam.roles.list': 2 } })
  })

  it('begin an epoch together, and forget what was seen before', async () => {
    const begun = (await (await fetch(`${proxy(a).adminUrl}/evidence/epoch`, { method: 'POST' })).json()) as EpochView
    expect(begun).toMatchObject({ nth: 1, by: { source: 'admin' } })
    expect(await asked(b)).toMatchObject({ operations: [], traffic: {}, fleet: { problems: [], epoch: begun } })
    await get(b, '/iam/v1/groups')
    expect(await asked(a)).toMatchObject({ operations: [{ operation: 'iam.groups.list', n: 1 }], traffic: { 'iam.groups.list': 1 } })
    expect(proxy(a).log.filter(({ what }) => what === 'epoch')).toHaveLength(1)
  })

  it('say that they are of different epochs', async () => {
    const other = await startProxy(
      { ...SIDES, 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, 'upstream.v2Build': 'next' },
      { join: joinFleet(memory.open()) },
    )
    const [here, there] = [await asked(a), await asked(other)]
    await other.close()
    expect(here.fleet.problems).toEqual([expect.stringMatching(/^Replica \S+ has other mapping tables or another v2 build/)])
    expect(there).toMatchObject({ operations: [], traffic: { 'iam.groups.list': 1 }, fleet: { epoch: { build: 'next' } } })
  })
})

it('has no epochs without a store', async () => {
  const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
  const { status } = await fetch(`${proxy.adminUrl}/evidence/epoch`, { method: 'POST' })
  await proxy.close()
  expect(status).toBe(400)
})
