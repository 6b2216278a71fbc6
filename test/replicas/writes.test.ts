import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createSharedWrites } from '../../src/fleet/judging.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { StoreDown } from '../../src/fleet/store/store.ts'
import type { EvidenceReport } from '../../src/migrate/migration.ts'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { createOwnWrites, createRecentWrites, type WrittenResource } from '../../src/migrate/modes/serve.ts'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { isReadBack } from '../../src/tables/operations.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { sharedStage } from './shared-stage.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
const operationOf = (id: string) => {
  const found = operations.find((operation) => operation.id === id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

const DELETE = operationOf('iam.roles.delete')
const { readBack } = DELETE
const ROLE: WrittenResource | undefined =
  readBack && isReadBack(readBack) ? { resource: readBack.resource, uid: 'a/1', goesWith: undefined, own: {} } : undefined

function stage() {
  const shared = sharedStage()
  const { ticks } = shared.clocks
  const join = (id: string) =>
    shared.join(id, (fleet) => {
      const [ownWrites, recentWrites] = [createOwnWrites(), createRecentWrites()]
      const writes = createSharedWrites({ ownWrites, recentWrites, operations, fleet, ticks })
      fleet.add(writes)
      const write = (params: Record<string, string>, caller: string) => {
        const ends = [recentWrites.begin(DELETE, params, caller), ownWrites.begin(caller)]
        return () => void ends.map((end) => end())
      }
      const watch = () => {
        const [wrote, others] = [ownWrites.watch('ann'), recentWrites.watch()]
        return () => ({ wrote: wrote(), mayBeGone: ROLE && others.mayBeGone(ROLE) })
      }
      return { writes, write, watch }
    })
  /** Waits for what the others tell, while the clocks move on. */
  const told = async ({ writes }: Awaited<ReturnType<typeof join>>) => {
    const answer = writes.told()
    await shared.clocks.pass(2500)
    return answer
  }
  return { ...shared, join, told }
}

describe('a write through another replica', () => {
  it('is known once the others have told their writes', async () => {
    const { join, told } = stage()
    const [a, b] = [await join('a'), await join('b')]
    const seen = a.watch()
    b.write({ id: 'a/1' }, 'ann')()
    expect(seen()).toEqual({ wrote: false, mayBeGone: false })
    expect(await told(a)).toBe(true)
    expect(seen()).toEqual({ wrote: true, mayBeGone: true })
  })

  it('is known as long as it is under way, and of nobody else', async () => {
    const { clocks, join, told } = stage()
    const [a, b] = [await join('a'), await join('b')]
    const end = b.write({ id: 'a/1' }, 'ann')
    await told(a)
    expect(a.watch()()).toEqual({ wrote: true, mayBeGone: true })
    end()
    await told(a)
    expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
    b.write({ id: 'a/2' }, 'bob')
    await told(a)
    expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
    b.write({ id: 'a/1' }, 'ann')
    await b.fleet.close()
    await clocks.pass(65_000)
    expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
  })

  it('may be any one if there were more than are told', async () => {
    const { join, told } = stage()
    const [a, b] = [await join('a'), await join('b')]
    const seen = a.watch()
    for (let at = 0; at < 1001; at += 1) b.write({ id: `b/${at}` }, 'bob')()
    await told(a)
    expect(seen()).toEqual({ wrote: true, mayBeGone: true })
    await told(a)
    expect(a.watch()()).toEqual({ wrote: false, mayBeGone: false })
  })

  it('is unknown while the store does not answer, and another replica that has left is not asked', async () => {
    const { breaks, clocks, join, told } = stage()
    const [a, b] = [await join('a'), await join('b')]
    breaks.all = true
    expect(await told(a)).toBe(false)
    breaks.all = false
    await clocks.pass(1000)
    expect(await told(a)).toBe(true)
    await b.fleet.close()
    expect(await told(a)).toBe(true)
  })
})

describe('a resource that was created through one replica and deleted through another', () => {
  let sandbox: Sandbox
  afterEach(() => sandbox.close())

  const send = async (proxy: TestProxy, method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${sandbox.tokens.owner}` }
    const answer = await fetch(proxy.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    expect(answer.status).toBe(200)
    return (await answer.json()) as { id: string }
  }

  it.each([
    ['a race', false, { races: 1, mismatches: 0 }],
    ['inconclusive while the store does not answer', true, { inconclusive: 1, mismatches: 0 }],
  ])('is %s', async (_, isDown, outcome) => {
    sandbox = await startQuietSandbox({})
    const memory = createMemory(Date.now)
    const breaks = { all: false }
    const start = async () => {
      const store = memory.open()
      const exchange: typeof store.exchange = async (batch) => {
        if (breaks.all) throw new StoreDown('the store does not answer')
        return store.exchange(batch)
      }
      const settings = { 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, modes: { ...ALL_V2, default: 'diff-v2' as const } }
      const proxy = await startProxy(settings, { join: joinFleet({ ...store, exchange }) })
      onTestFinished(proxy.close)
      return proxy
    }
    const [a, b] = [await start(), await start()]
    for (const proxy of [a, b]) await send(proxy, 'GET', '/iam/v1/groups')
    await Promise.all([a, b].map((proxy) => proxy.idle()))
    const slow = { match: 'GET /iam/v1/groups', delayMs: 200, times: 1 }
    await fetch(`${sandbox.url}/-/faults`, { method: 'POST', body: JSON.stringify(slow) })
    breaks.all = isDown
    const { id } = await send(a, 'POST', `/iam/v1/groups/${sandbox.organization}`, { name: 'made' })
    await send(b, 'DELETE', `/iam/v1/groups/${id}`)
    await Promise.all([a, b].map((proxy) => proxy.idle()))
    const { operations: rows } = (await (await fetch(`${a.adminUrl}/evidence`)).json()) as EvidenceReport
    expect(rows.find(({ operation }) => operation === 'iam.groups.create')).toMatchObject(outcome)
  })
})
