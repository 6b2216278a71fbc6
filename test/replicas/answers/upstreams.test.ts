import { expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createMemory, type Memory } from '../../../src/fleet/store/memory.ts'
import { runCommand } from '../../cli/support.ts'
import { startProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'

async function replica(memory: Memory, v2: string, v1: string) {
  const { replica: id, join } = joinFleet(memory.open())
  const proxy = await startProxy({ 'upstream.v2': v2, 'upstream.v1': v1 }, { join: { replica: id, join } })
  onTestFinished(proxy.close)
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
