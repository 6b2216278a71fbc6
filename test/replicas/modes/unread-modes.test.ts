import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { breakableStore } from '../../stage/breakable-store.ts'
import { startProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'

const FOUND =
  'the store holds modes of version 2 that another version of Crosswalk wrote, and this one cannot read them (The modes are wrong: default must be one of v1, v2, diff-v1, diff-v2); run that version here too, or replace the modes with PUT /modes and If-Match: *'

const documentOf = (mode: string) =>
  JSON.stringify({ rules: { default: mode, rules: [], testers: [] }, by: { source: 'start' }, at: Date.now() })

/** Starts a replica whose store holds modes that it cannot read. */
async function replica(values: Partial<Config> = {}) {
  const upstream = await startUpstream(answering({ response: 'pong' }))
  onTestFinished(upstream.close)
  const breakable = breakableStore(createMemory(Date.now).open())
  await breakable.store.replace('modes', 0, documentOf('v1'))
  await breakable.store.replace('modes', 1, documentOf('of tomorrow'))
  const settings = { 'upstream.v2': upstream.url, 'upstream.v1': upstream.url, 'store.url': 'redis://in.memory', ...values }
  const proxy = await startProxy(settings, { join: joinFleet(breakable.store) })
  onTestFinished(proxy.close)
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
