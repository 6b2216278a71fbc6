import { beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../src/app/config/settings.ts'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { startQuietSandbox, startStage } from '../stage/stage.ts'

const START = Date.UTC(2026, 4, 1, 12)
const STAFF = { authorization: 'Bearer demo-admin', 'content-type': 'application/json' }

describe.each([{ readmeMovesRepo: false }, { readmeMovesRepo: true }])('before a v2 with %o', ({ readmeMovesRepo }) => {
  let v2: Sandbox
  let seconds = 0

  beforeAll(async () => {
    v2 = await startQuietSandbox({ now: () => START + 1000 * seconds++, readmeMovesRepo })
  })

  const proxy = async (values: Partial<Config>) =>
    (await startStage({ v1: null, sandbox: v2, proxy: { 'log.level': 'silent', ...values } })).url

  const send = async (method: string, url: string, body?: unknown) => {
    const response = await fetch(url, { method, headers: STAFF, ...(body !== undefined && { body: JSON.stringify(body) }) })
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  /** Creates a repo whose readme changes in v2 after a v1 client has read it. */
  const changedBehind = async (v1: string, name: string) => {
    const { body: made } = await send('POST', `${v1}/registry/v1/repos/${v2.organization}`, { name, readme: 'first' })
    const readme = `${v2.url}/registry/v2/repos/${made.id}/readme`
    const shown = async () => (await send('GET', `${v1}/registry/v1/repos?id=${made.id}`)).body.items[0]
    const before = (await shown()).readme
    // The v1 caller must not do this: its own write would end the cached text.
    await send('PATCH', readme, { content: 'second' })
    const stored = async () => (await send('GET', readme)).body.content
    return { id: made.id, before, shown, stored }
  }

  it('shows a readme changed in v2 at once, and keeps it when v1 writes back', async () => {
    const v1 = await proxy({})
    const { id, before, shown, stored } = await changedBehind(v1, 'fresh')
    const row = await shown()
    expect([before, row.readme]).toEqual(['first', 'second'])
    const written = await send('PUT', `${v1}/registry/v1/repos/${id}`, row)
    expect([written.status, written.body.readme, await stored()]).toEqual([200, 'second', 'second'])
  })

  it('shows a cached readme for the configured time if v2 reports no change', async () => {
    const v1 = await proxy({ 'keep.ttlMs': 60_000 })
    const { id, shown, stored } = await changedBehind(v1, 'kept')
    expect((await shown()).readme).toBe(readmeMovesRepo ? 'second' : 'first')
    const written = await send('PUT', `${v1}/registry/v1/repos/${id}`, { name: 'kept', readme: 'second' })
    expect([written.body.readme, await stored()]).toEqual(['second', 'second'])
    expect((await shown()).readme).toBe('second')
  })
})
