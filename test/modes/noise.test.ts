import { afterEach, describe, expect, it } from 'vitest'
import type { EvidenceReport } from '../../src/migrate/migration.ts'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import type { Comparison } from '../../src/migrate/records/record.ts'
import { bearer, startProxy, type TestProxy } from '../stage/proxy.ts'
import { startUpstream } from '../stage/upstream.ts'

const UID = 'a'.repeat(40)

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

/** Starts services whose lists of groups are what `v1` and `v2` return at the moment, and a proxy. */
async function stage(answers: { v1: () => object; v2: () => object }, learnEvery = 0): Promise<TestProxy> {
  const v1 = await startUpstream((request, response) => {
    const row = request.method === 'GET' ? answers.v1() : {}
    response.end(JSON.stringify(request.method === 'GET' ? { items: [row] } : row))
  })
  const v2 = await startUpstream((_, response) => void response.end(JSON.stringify({ groups: [answers.v2()], nextPageToken: '' })))
  const proxy = await startProxy({
    'upstream.v1': v1.url,
    'upstream.v2': v2.url,
    modes: { ...ALL_V2, default: 'diff-v1' },
    'diff.learnEvery': learnEvery,
  })
  open.push(proxy, v1, v2)
  return proxy
}

const evidence = async (proxy: TestProxy) => (await fetch(`${proxy.adminUrl}/evidence`)).json() as Promise<EvidenceReport>
const comparisons = async (proxy: TestProxy) => (await fetch(`${proxy.adminUrl}/comparisons`)).json() as Promise<Comparison[]>

/** Sends this many requests, each from its own caller, and waits until all are compared. */
async function ask(proxy: TestProxy, times: number): Promise<void> {
  const before = (await evidence(proxy)).queue.done
  for (let nth = 0; nth < times; nth += 1) await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer(`caller-${before + nth}`) })
  for (;;) if ((await evidence(proxy)).queue.done === before + times) return
}

/** A v1 service's answer about the group that v2 calls `{ uid, name: 'a' }`. */
const v1Row = (more: object) => {
  const kinds = { kind: 'ORG_KIND_UNSPECIFIED', status: 'ORG_STATUS_UNSPECIFIED' }
  return {
    id: UID,
    name: 'a',
    description: '',
    resource_limits: {},
    verified: false,
    ...kinds,
    created_at: null,
    updated_at: null,
    ...more,
  }
}

/** Returns another description each time. */
function moments() {
  let count = 0
  return () => {
    count += 1
    return v1Row({ description: `moment ${count}` })
  }
}

describe('a member that v1 changes by itself', () => {
  it('is learnt from two v1 reads and is noise then; a missing one still counts', async () => {
    let v1: () => object = moments()
    const proxy = await stage({ v1: () => v1(), v2: () => ({ uid: UID, name: 'a', description: 'x' }) }, 1)
    await ask(proxy, 3)
    const member = { operation: 'iam.groups.list', where: '/items/*/description', kind: 'value', asks: expect.any(Number) }
    expect((await evidence(proxy)).noise).toMatchObject([member])
    const before = (await evidence(proxy)).operations[0]?.noise ?? 0
    await ask(proxy, 2)
    expect((await evidence(proxy)).operations).toMatchObject([{ noise: before + 2, mismatches: 0 }])
    v1 = () => v1Row({ description: undefined })
    await ask(proxy, 1)
    expect((await evidence(proxy)).operations).toMatchObject([{ noise: before + 2, mismatches: 1 }])
  })

  it('is a race while it is not learnt, and never a mismatch', async () => {
    const proxy = await stage({ v1: moments(), v2: () => ({ uid: UID, name: 'a', description: 'x' }) })
    await ask(proxy, 3)
    expect((await evidence(proxy)).operations).toMatchObject([{ races: 3, mismatches: 0, noise: 0, n: 0 }])
  })
})

describe('a difference', () => {
  it('that persists while v1 does not change is a mismatch', async () => {
    const proxy = await stage({ v1: () => v1Row({}), v2: () => ({ uid: UID, name: 'b' }) })
    await ask(proxy, 1)
    expect(await comparisons(proxy)).toMatchObject([{ outcome: 'mismatch', totals: [{ kind: 'value', where: '/items/*/name', count: 1 }] }])
  })

  it('that v1 removes by changing is a race', async () => {
    const names = ['a', 'b', 'b', 'b']
    const proxy = await stage({ v1: () => v1Row({ name: names.shift() ?? 'b' }), v2: () => ({ uid: UID, name: 'b' }) })
    await ask(proxy, 1)
    expect(await comparisons(proxy)).toMatchObject([{ outcome: 'race', reason: 'v1 changed between the two answers' }])
  })

  it('that occurred once, while v1 did not change, is transient', async () => {
    const names = ['wrong']
    const proxy = await stage({ v1: () => v1Row({}), v2: () => ({ uid: UID, name: names.shift() ?? 'a' }) })
    await ask(proxy, 1)
    expect(await comparisons(proxy)).toMatchObject([{ outcome: 'transient', reason: expect.stringContaining('when it was asked again') }])
  })

  it('that occurred once, while the caller wrote, is a race', async () => {
    const names = ['wrong']
    let held = () => {}
    let arrived = () => {}
    const asked = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const v1 = await startUpstream(
      (request, response) => void response.end(JSON.stringify(request.method === 'GET' ? { items: [v1Row({})] } : {})),
    )
    const v2 = await startUpstream((_, response) => {
      const name = names.shift()
      const answer = () => void response.end(JSON.stringify({ groups: [{ uid: UID, name: name ?? 'a' }], nextPageToken: '' }))
      if (name === undefined) return answer()
      held = answer
      arrived()
    })
    const modes = { ...ALL_V2, default: 'diff-v1' as const }
    const proxy = await startProxy({
      'upstream.v1': v1.url,
      'upstream.v2': v2.url,
      modes,
      'diff.learnEvery': 0,
      'diff.verifyWrites': false,
    })
    open.push(proxy, v1, v2)
    await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer('caller') })
    await asked
    await fetch(`${proxy.url}/iam/v1/groups/${UID}/${'b'.repeat(16)}`, { method: 'PUT', body: '{"name":"a"}', headers: bearer('caller') })
    held()
    for (;;) if ((await evidence(proxy)).queue.done === 2) break
    expect(await comparisons(proxy)).toMatchObject([{ outcome: 'race', reason: 'the caller wrote at the same time' }])
  })
})

describe('declared differences', () => {
  it('are explained by their code; one that never matched is stale', async () => {
    const proxy = await stage({ v1: () => v1Row({}), v2: () => ({ uid: UID, name: 'a' }) })
    await fetch(`${proxy.url}/iam/v1/groups?limit=x`, { headers: bearer('t') })
    await ask(proxy, 1)
    const { declarations } = await evidence(proxy)
    expect(new Set(declarations.map(({ state }) => state))).toContain('stale')
    expect(declarations.find(({ code }) => code === 'error-details')).toMatchObject({ comparisons: expect.any(Number) })
  })
})
