import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Report } from '../../../src/admin/report/report.ts'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { Client } from '../../../src/migrate/clients.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import { runCommand } from '../../cli/support.ts'
import { breakableStore } from '../../stage/breakable-store.ts'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'

describe('two replicas that share a store', () => {
  let [a, b]: TestProxy[] = []
  let sandbox: Awaited<ReturnType<typeof startQuietSandbox>>
  const memory = createMemory(Date.now)
  const breakable = breakableStore(memory.open())
  beforeAll(async () => {
    sandbox = await startQuietSandbox({})
    const fault = { match: 'GET /iam/v2/groups', change: { at: '/groups/0/name', to: 'wrong' } }
    await fetch(`${sandbox.url}/-/faults`, { method: 'POST', body: JSON.stringify(fault), headers: { 'content-type': 'application/json' } })
    const modes = { default: 'diff-v1' as const, rules: [], testers: [] }
    const sides = { modes, 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, 'diff.learnEvery': 0 }
    a = await startProxy(sides, { join: joinFleet(breakable.store) })
    b = await startProxy(sides, { join: joinFleet(memory.open()) })
  })
  afterAll(async () => {
    await Promise.all([a?.close(), b?.close()])
    await sandbox.close()
  })
  const proxy = (one: TestProxy | undefined) => one as TestProxy
  const get = async (one: TestProxy | undefined, path: string, token: keyof typeof sandbox.tokens = 'owner') => {
    const headers = { authorization: `Bearer ${sandbox.tokens[token]}` }
    const sent = proxy(one).log.filter(({ msg }) => msg === 'request').length
    await (await fetch(proxy(one).url + path, { headers })).text()
    while (proxy(one).log.filter(({ msg }) => msg === 'request').length === sent) await setImmediate()
  }
  const ask = async <T>(one: TestProxy | undefined, path: string) => {
    const answer = await fetch(proxy(one).adminUrl + path)
    return { body: (await answer.json()) as T, missing: answer.headers.get('x-crosswalk-incomplete') }
  }

  it('say at either one who calls what at both', async () => {
    await get(a, '/iam/v1/roles')
    await get(b, '/iam/v1/roles')
    await get(b, '/iam/v1/roles', 'admin')
    const [here, there] = [await ask<Client[]>(a, '/clients'), await ask<Client[]>(b, '/clients')]
    const uses = { operation: 'iam.roles.list', modes: ['diff-v1'], mismatches: 0 }
    expect(here.body).toMatchObject([
      { calls: 2, operations: [{ ...uses, calls: 2, requests: [{ samples: 2 }] }] },
      { calls: 1, operations: [uses] },
    ])
    expect(there).toEqual(here)
    expect(here.missing).toBeNull()
  })

  it('show the differences of both, each with its replica', async () => {
    await get(a, '/iam/v1/groups')
    await get(b, '/iam/v1/groups', 'admin')
    const [here, there] = [await ask<Comparison[]>(a, '/comparisons'), await ask<Comparison[]>(b, '/comparisons')]
    expect(here.body).toEqual(there.body)
    expect(here.body.map(({ operation, outcome }) => [operation, outcome])).toEqual(Array(2).fill(['iam.groups.list', 'mismatch']))
    expect(new Set(here.body.map(({ replica }) => replica)).size).toBe(2)
    expect((await ask<Comparison[]>(a, '/comparisons?limit=1')).body).toHaveLength(1)
    const { body } = await ask<Client[]>(a, '/clients')
    expect(body.map(({ mismatches }) => mismatches)).toEqual([1, 1])
  })

  it('report together, each with the examples of both', async () => {
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
    const { headers } = await fetch(`${proxy(a).adminUrl}/report.json`)
    const known = { 'if-none-match': headers.get('etag') ?? '' }
    expect((await fetch(`${proxy(a).adminUrl}/report.json`, { headers: known })).status).toBe(304)
  })

  it('are asked once by a command that names both', async () => {
    const admin = [a, b].flatMap((one) => ['--admin', proxy(one).adminUrl])
    const { out, code } = await runCommand(['clients', '--json', ...admin])
    expect(code).toBe(0)
    expect((JSON.parse(out) as Client[]).map(({ calls }) => calls)).toEqual([3, 2])
  })

  it('say what one of them knows while the store does not answer, and that it is no more', async () => {
    breakable.broken = 'refuses'
    const { body, missing } = await ask<Client[]>(a, '/clients')
    expect(body.map(({ calls }) => calls)).toEqual([2])
    expect(missing).toBe('The store does not answer, so nobody knows what the other replicas have seen. This is what this replica knows.')
    const { err } = await runCommand(['clients', '--admin', proxy(a).adminUrl])
    expect(err).toContain(missing)
    const compared = await ask<Comparison[]>(a, '/comparisons')
    expect([compared.body.length, compared.missing]).toEqual([2, missing])
    const { body: report } = await ask<Report>(a, '/report.json')
    expect(report).toMatchObject({ ready: false, fleet: { problems: [expect.stringContaining('store does not answer')] } })
    expect(report.reasons[0]).toContain('store does not answer')
    breakable.broken = undefined
  })
})
