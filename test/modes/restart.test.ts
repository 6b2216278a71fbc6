import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import type { Client } from '../../src/migrate/clients.ts'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { startStage } from '../stage/stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-restart-'))
afterAll(() => rmSync(directory, { recursive: true }))

it('evidence, clients and declarations are restored from the records after a restart', async () => {
  const settings = { modes: { ...ALL_V2, default: 'diff-v1' as const }, 'records.file': join(directory, 'records.ndjson') }
  const first = await startStage(settings)
  await first.request('GET', '/iam/v1/groups')
  await first.request('GET', '/registry/v1/repos?limit=x')
  await first.request('GET', '/registry/v1/vuln_reports')
  await first.fault({ match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } })
  await first.request('GET', '/registry/v1/repos')
  await first.settled()
  const before = await first.evidence()
  const clients = async (url: string) => (await fetch(`${url}/clients`)).json()
  const [known] = (await clients(first.server.adminUrl)) as { caller: string; calls: number; mismatches: number }[]
  await first.close()
  appendFileSync(settings['records.file'], '{"kind":"comparison","torn')

  const second = await startStage(settings)
  const after = await second.evidence()
  const untimed = ({ sameAt, wrongAt, ...kind }: { sameAt?: number; wrongAt?: number }) => kind
  const counted = ({ operations }: typeof before) =>
    operations.map(({ circuit, firstAt, lastAt, kinds, ...evidence }) => ({ ...evidence, kinds: kinds?.map(untimed) }))
  expect(counted(after)).toEqual(counted(before))
  expect(after.traffic).toEqual(before.traffic)
  expect(after.declarations).toEqual(before.declarations)
  expect(await clients(second.server.adminUrl)).toMatchObject([{ caller: known?.caller, calls: 4, mismatches: 1, couldMove: false }])
  await second.close()
  expect(readFileSync(settings['records.file'], 'utf8')).toContain('"what":"restart"')
})

it('the kinds of requests of a client are restored, and a secret is in no record', async () => {
  const file = join(directory, 'kinds.ndjson')
  const settings = { modes: { ...ALL_V2, default: 'v1' as const }, 'records.file': file }
  const first = await startStage(settings)
  const org = first.sandbox.organization
  for (const limit of [5, 7, 500]) await first.request('GET', `/iam/v1/groups?limit=${limit}&hunter1=hunter2`)
  await first.request('GET', '/iam/v1/roles?name=hunter3')
  await first.request('PUT', `/iam/v1/groups/${org}`, { body: { name: 'hunter4' } })
  await first.setModes({ default: 'v2' })
  await first.request('PUT', `/iam/v1/groups/${org}`, { body: { name: 'demo', description: 'hunter5' } })
  await first.request('GET', '/libraries/v1/artifacts?ecosystems=GO')
  await first.settled()
  const clients = async (url: string) => (await (await fetch(`${url}/clients`)).json()) as readonly Client[]
  const before = await clients(first.server.adminUrl)
  await first.close()
  expect(readFileSync(file, 'utf8')).not.toContain('hunter')

  const second = await startStage(settings)
  const [after] = await clients(second.server.adminUrl)
  await second.close()
  expect(after?.operations.map(({ requests }) => requests)).toEqual(before[0]?.operations.map(({ requests }) => requests))
  const kinds = (id: string) => after?.operations.find(({ operation }) => operation === id)?.requests
  expect(kinds('iam.groups.list')).toMatchObject([
    { samples: 2, query: [['limit', '5']], unknown: 1 },
    { samples: 1, query: [['limit', '500']] },
  ])
  expect(kinds('iam.roles.list')).toMatchObject([{ query: [['name']] }])
  expect(kinds('iam.groups.update')).toMatchObject([{ path: [['id', org]] }, { members: ['name', 'description'] }])
  expect(kinds('libraries.artifacts.list?ecosystems')).toMatchObject([{ query: [['ecosystems', 'GO']] }])
})

it('a change of modes is recorded without the names of clients', async () => {
  const file = join(directory, 'notes.ndjson')
  const stage = await startStage({ 'records.file': file })
  const rule = {
    operations: 'registry.*',
    clients: ['alice@example.com'],
    mode: 'diff-v1' as const,
    canary: { percent: 10, mode: 'v2' as const },
  }
  await stage.setModes({ rules: [rule] })
  await stage.close()
  const notes = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(notes).toEqual([
    {
      id: expect.any(String),
      nth: expect.any(Number),
      kind: 'note',
      at: expect.any(String),
      what: 'modes',
      text: 'file test: registry.* for 1 client: no rule → diff-v1, 10 % v2; default: unchanged',
      by: { source: 'file', path: 'test' },
      from: 'everything else v2',
      to: 'registry.* for 1 client diff-v1, 10 % v2; everything else v2',
      version: 2,
    },
  ])
})
