import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import type { Comparison, Entry, WouldSend } from '../../src/diff/records/record.ts'
import { MODES } from '../../src/modes/choose/mode.ts'
import { ALL_V2 } from '../../src/modes/choose/rules.ts'
import { type Stage, startStage } from '../stage/stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-writes-'))
afterAll(() => rmSync(directory, { recursive: true }))

let stage: Stage
afterEach(() => stage.close())

let files = 0
const start = async (mode: (typeof MODES)[number]) => {
  files += 1
  const file = join(directory, `${files}.ndjson`)
  stage = await startStage({ modes: { ...ALL_V2, default: mode }, 'records.file': file, 'records.values': 'shown' })
  return file
}

const isWrite = ({ method, path }: { method: string; path: string }) => method !== 'GET' && !path.startsWith('/-/')
const writes = async () =>
  (await stage.journal()).filter(isWrite).map(({ method, path }) => `${method} ${path.split('/').slice(1, 4).join('/')}`)

/** Returns the records of a proxy that has stopped. */
const records = (file: string): readonly Entry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

describe.each(MODES)('in mode %s', (mode) => {
  it('a write reaches exactly one side, and both sides then read the resource', async () => {
    await start(mode)
    const { organization } = stage.sandbox
    const made = await stage.request('POST', `/iam/v1/groups/${organization}`, { body: { name: 'made', description: 'one' } })
    expect(made.status).toBe(200)
    await stage.settled()
    const changed = await stage.request('PUT', `/iam/v1/groups/${made.body.id}`, { body: { name: 'made', description: 'two' } })
    await stage.settled()
    const gone = await stage.request('DELETE', `/iam/v1/groups/${made.body.id}`)
    expect([changed.status, changed.body.description, gone.status]).toEqual([200, 'two', 200])
    await stage.settled()
    const methods = { v1: ['POST', 'PUT', 'DELETE'], v2: ['POST', 'PATCH', 'DELETE'] }
    const side = mode === 'v1' || mode === 'diff-v1' ? 'v1' : 'v2'
    expect(await writes()).toEqual(methods[side].map((method) => `${method} iam/${side}/groups`))
    const { operations } = await stage.evidence()
    const checked = operations.map(({ operation, matches, mismatches }) => [operation, matches, mismatches])
    expect(checked).toEqual(mode.startsWith('diff') ? ['create', 'delete', 'update'].map((verb) => [`iam.groups.${verb}`, 1, 0]) : [])
  })

  it('a write that fails is not sent elsewhere', async () => {
    await start(mode)
    await stage.fault({ match: 'POST /iam/v', status: 503 })
    const answer = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
    expect(answer.status).toBe(503)
    await stage.settled()
    expect(await writes()).toHaveLength(1)
  })
})

describe('the v2 call of a write', () => {
  it('is recorded if v1 served the write, and is not sent', async () => {
    const file = await start('diff-v1')
    const { organization } = stage.sandbox
    const made = await stage.request('POST', `/registry/v1/repos/${organization}`, { body: { name: 'made', description: 'one' } })
    await stage.request('PUT', `/registry/v1/repos/${made.body.id}`, { body: { name: 'made', catalogTier: 'BASE' } })
    await stage.settled()
    expect((await writes()).filter((write) => write.includes('/v2/'))).toEqual([])
    await stage.server.close()
    const sent = records(file).filter((entry): entry is WouldSend => entry.kind === 'would-send')
    expect(sent.map(({ operation, call }) => ({ operation, ...call }))).toEqual([
      {
        operation: 'registry.repos.create',
        method: 'POST',
        path: `/registry/v2/repos/${organization}`,
        query: [],
        body: expect.objectContaining({ name: 'made', description: 'one' }),
      },
      {
        operation: 'registry.repos.update',
        method: 'PATCH',
        path: `/registry/v2/repos/${made.body.id}`,
        query: [['updateMask', '*']],
        body: expect.objectContaining({ catalogTier: 'CATALOG_TIER_BASE' }),
      },
    ])
  })
})

describe('a write that v2 answers but loses', () => {
  const found = async (verb: string) => {
    await stage.settled()
    const { operations } = await stage.evidence()
    expect(operations.find(({ operation }) => operation === `iam.groups.${verb}`)).toMatchObject({ mismatches: 1, matches: 0 })
    const [first] = (await (await fetch(`${stage.server.adminUrl}/comparisons?operation=iam.groups.${verb}`)).json()) as Comparison[]
    return first?.reason
  }
  const lose = (method: string, body: object) =>
    stage.fault({ match: `${method} /iam/v2/groups`, times: 1, status: 200, body: JSON.stringify(body) })

  it('is detected if it was a create', async () => {
    await start('diff-v2')
    const uid = `${stage.sandbox.organization}/00000000000000aa`
    await lose('POST', { uid, name: 'ghost', createTime: '2026-01-01T00:00:00.000Z', updateTime: '2026-01-01T00:00:00.000Z' })
    const { status, body } = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'ghost' } })
    expect([status, body.id]).toEqual([200, uid])
    expect(await found('create')).toBe('the write was answered, but the resource is not there')
  })

  it('is detected if it was an update', async () => {
    await start('diff-v2')
    const { body } = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, {
      body: { name: 'made', description: 'one' },
    })
    await lose('PATCH', { uid: body.id, name: 'made', description: 'two', updateTime: new Date(Date.now() + 1000).toISOString() })
    await stage.request('PUT', `/iam/v1/groups/${body.id}`, { body: { name: 'made', description: 'two' } })
    expect(await found('update')).toBe('the write was answered, but the resource is as old as before')
  })

  it('is detected if it was a delete', async () => {
    await start('diff-v2')
    const { body } = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
    await lose('DELETE', {})
    await stage.request('DELETE', `/iam/v1/groups/${body.id}`)
    expect(await found('delete')).toBe('the delete was answered, but the resource is still there')
  })

  it('is no alarm if the resource was deleted right after', async () => {
    await start('diff-v2')
    for (let nth = 0; nth < 10; nth += 1) {
      const { body } = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: `made-${nth}` } })
      await stage.request('DELETE', `/iam/v1/groups/${body.id}`, { token: stage.sandbox.tokens.admin })
    }
    await stage.settled()
    expect((await stage.evidence()).operations.map(({ mismatches }) => mismatches)).toEqual([0, 0])
  })
})

it('counts a write whose effect cannot be read', async () => {
  await start('diff-v1')
  const { body: identities } = await stage.request('GET', '/iam/v1/identities?limit=1')
  const metadata = { identity: identities.items[0].id, name: 'x' }
  const { status, body } = await stage.request('PATCH', '/iam/v1/identities/metadata', { body: metadata })
  expect([status, body]).toEqual([200, expect.anything()])
  await stage.settled()
  expect((await stage.evidence()).skipped).toEqual({ gone: 0, stranger: 0, pageToken: 0, unreadable: 1 })
})
