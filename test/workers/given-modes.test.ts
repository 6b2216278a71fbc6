import { expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import type { ModeRules } from '../../src/migrate/modes/rules.ts'
import { breakableStore } from '../stage/breakable-store.ts'
import { startProxy } from '../stage/proxy.ts'

const NOWHERE = { 'upstream.v2': 'http://127.0.0.1:1', 'upstream.v1': 'http://127.0.0.1:1' }
const REASON = '2 of 20 answers were wrong'
const canary = { operations: '*', clients: '*', mode: 'v1', canary: { percent: 50, mode: 'v2' } } as const
const PUT: ModeRules = { default: 'v1', rules: [canary], testers: [] }

/** A process that starts while the store does not answer. */
async function startAlone(options: Parameters<typeof joinFleet>[1]) {
  const { store } = Object.assign(breakableStore(createMemory(Date.now).open()), { broken: 'refuses' as const })
  const proxy = await startProxy({ ...NOWHERE, modes: { default: 'v2', rules: [], testers: [] } }, { join: joinFleet(store, options) })
  onTestFinished(proxy.close)
  return proxy
}

it('gives a process that starts without the store the modes and open circuits that its supervisor knows', async () => {
  const supervisor = await startProxy({ ...NOWHERE, modes: PUT }, { join: joinFleet(createMemory(Date.now).open()) })
  onTestFinished(supervisor.close)
  const known = supervisor.keptModes()
  expect(known).toMatchObject({ document: { version: 1 }, open: {} })
  const kept = known && { ...known, open: { 'iam.groups.list': REASON } }
  const worker = await startAlone({ kept: structuredClone(kept) })
  const since = expect.stringMatching(new RegExp(`^${REASON}, open since `))
  expect(worker.keptModes()).toEqual({ ...kept, open: { 'iam.groups.list': since } })
  expect(await (await fetch(`${worker.adminUrl}/modes`)).json()).toMatchObject({ default: 'v1', rules: [expect.anything()] })
  expect(await (await fetch(`${worker.url}/iam/v1/groups`)).text()).not.toContain('does not know the modes')
  expect(worker.log.map(({ msg }) => msg)).toContain('the store does not answer: the last known modes are active, those of the supervisor')
})

it('gives nothing of modes that nobody knows', async () => {
  const supervisor = await startAlone({})
  expect(supervisor.keptModes()).toBeUndefined()
  expect(await (await fetch(`${supervisor.url}/iam/v1/groups`)).text()).toContain('does not know the modes')
})
