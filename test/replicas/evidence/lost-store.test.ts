import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../../src/app/server/fleet.ts'
import { createEpochs } from '../../../src/fleet/epochs.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import type { Store } from '../../../src/fleet/store/store.ts'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { runCommand } from '../../cli/support.ts'
import { bearer, startProxy, type TestProxy } from '../../stage/proxy.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'

/** A store that can come back empty, as a Redis without a file does. */
function losableStore() {
  let memory = createMemory(Date.now)
  const open = (): Store => {
    let own = { memory, store: memory.open() }
    const now = () => {
      if (own.memory !== memory) own = { memory, store: memory.open() }
      return own.store
    }
    return {
      exchange: async (batch) => now().exchange(batch),
      read: async (reads) => now().read(reads),
      replace: async (...asked) => now().replace(...asked),
      onNews: (listener) => own.store.onNews(listener),
      close: async () => own.store.close(),
    }
  }
  return {
    open,
    lose() {
      memory = createMemory(Date.now)
    },
  }
}

const KINDS = ['', '?limit=5', '?limit=500', '?offset=1']

it('a store that came back empty keeps the verdict from READY until a person begins an epoch', async () => {
  const store = losableStore()
  const sandbox = await startQuietSandbox({})
  const sides = { 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, modes: { ...ALL_V2, default: 'diff-v1' as const } }
  const proxies: readonly TestProxy[] = [
    await startProxy(sides, { join: joinFleet(store.open()) }),
    await startProxy(sides, { join: joinFleet(store.open()) }),
  ]
  onTestFinished(async () => {
    await Promise.all(proxies.map((proxy) => proxy.close()))
    await sandbox.close()
  })
  const [a, b] = proxies as [TestProxy, TestProxy]
  const read = async (count: number) => {
    for (const query of KINDS.slice(0, count)) await fetch(`${a.url}/iam/v1/groups${query}`, { headers: bearer(sandbox.tokens.owner) })
    await a.idle()
  }
  const asked = async (one: TestProxy) => (await fetch(`${one.adminUrl}/evidence`)).json() as Promise<EvidenceReport>
  const cutover = () =>
    runCommand(['cutover', '--each-min', '1', '--target', '0.99', '--operations', 'iam.groups.list', '--admin', b.adminUrl])
  await read(4)
  expect(await cutover()).toMatchObject({ code: 0 })

  store.lose()
  await expect
    .poll(async () => (await asked(b)).fleet?.problems)
    .toEqual([expect.stringMatching(/^The store lost what it knew of this epoch before /)])
  await read(4)
  expect(await cutover()).toMatchObject({ code: 3, out: expect.stringContaining('begin a new epoch') })
  const ready = (await (await fetch(`${a.adminUrl}/readyz`)).json()) as { store?: string }
  expect(ready.store).toContain('The store lost what it knew')
  expect(proxies.flatMap(({ log }) => log.filter(({ what }) => what === 'store-lost'))).toHaveLength(1)

  expect((await fetch(`${a.adminUrl}/evidence/epoch`, { method: 'POST' })).status).toBe(200)
  await read(4)
  expect((await asked(b)).fleet?.problems).toEqual([])
  expect(await cutover()).toMatchObject({ code: 0 })
})

it('a store that knows nothing of what records tell does, too', async () => {
  const store = losableStore()
  const sandbox = await startQuietSandbox({})
  const sides = { 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, modes: { ...ALL_V2, default: 'diff-v1' as const } }
  const folder = mkdtempSync(path.join(tmpdir(), 'crosswalk-lost-'))
  onTestFinished(async () => {
    await sandbox.close()
    rmSync(folder, { recursive: true })
  })
  const problems = async (proxy: TestProxy) =>
    ((await (await fetch(`${proxy.adminUrl}/evidence`)).json()) as EvidenceReport).fleet?.problems
  const records = path.join(folder, 'records.jsonl')
  for (const isLost of [false, true]) {
    const proxy = await startProxy({ ...sides, 'records.file': records }, { join: joinFleet(store.open()) })
    await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer(sandbox.tokens.owner) })
    await proxy.idle()
    await expect.poll(() => problems(proxy)).toEqual(isLost ? [expect.stringContaining('lost what it knew')] : [])
    await proxy.close()
    store.lose()
  }
})

it('a store that came back older than the replicas can tell again does, too, and one of them notes it', async () => {
  const memory = createMemory(Date.now)
  const notes: string[] = []
  const stage = () => {
    const store = memory.open()
    const note = ({ text }: { readonly text: string }) => void notes.push(text)
    const failed = (error: unknown) => expect(error).toBeUndefined()
    const epochs = createEpochs({ store, tables: 'tables', note, now: Date.now, hasEarlier: () => false, failed })
    const read = async () => {
      for (const { read, take } of epochs.readings()) take((await store.read([read]))[0])
    }
    return { epochs, read }
  }
  const replicas = [stage(), stage()]
  const readAll = async () => {
    for (const { read } of [...replicas, ...replicas]) await read()
  }
  await readAll()
  for (const { epochs } of replicas) epochs.miss()
  await readAll()
  expect(replicas.map(({ epochs }) => epochs.lost())).toEqual([notes[0], notes[0]])
  expect(notes).toEqual([expect.stringMatching(/^The store lost what it knew of this epoch before /)])
  await replicas[0]?.epochs.begin({ source: 'admin', address: '127.0.0.1' })
  await readAll()
  expect(replicas.map(({ epochs }) => epochs.lost())).toEqual([undefined, undefined])
})
