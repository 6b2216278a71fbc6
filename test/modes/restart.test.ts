import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { ALL_V2 } from '../../src/modes/choose/rules.ts'
import { startStage } from '../stage/stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-restart-'))
afterAll(() => rmSync(directory, { recursive: true }))

it('evidence, clients and declarations are restored from the records after a restart', async () => {
  const settings = { modes: { ...ALL_V2, default: 'diff-v1' as const }, 'records.file': join(directory, 'records.ndjson') }
  const first = await startStage(settings)
  await first.request('GET', '/iam/v1/groups')
  await first.request('GET', '/registry/v1/repos?limit=x')
  await first.request('GET', '/registry/v1/vuln_reports')
  await first.fault({ match: 'GET /registry/v2/repos', drop: '/repos/0' })
  await first.request('GET', '/registry/v1/repos')
  await first.settled()
  const before = await first.evidence()
  const clients = async (url: string) => (await fetch(`${url}/clients`)).json()
  const [known] = (await clients(first.server.adminUrl)) as { caller: string; calls: number; mismatches: number }[]
  await first.close()
  appendFileSync(settings['records.file'], '{"kind":"comparison","torn')

  const second = await startStage(settings)
  const after = await second.evidence()
  const counted = ({ operations }: typeof before) => operations.map(({ circuit, firstAt, lastAt, ...evidence }) => evidence)
  expect(counted(after)).toEqual(counted(before))
  expect(after.traffic).toEqual(before.traffic)
  expect(after.declarations).toEqual(before.declarations)
  expect(await clients(second.server.adminUrl)).toMatchObject([{ caller: known?.caller, calls: 4, mismatches: 1, couldMove: false }])
  await second.close()
  expect(readFileSync(settings['records.file'], 'utf8')).toContain('"what":"restart"')
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
      kind: 'note',
      at: expect.any(String),
      what: 'modes',
      text: 'file test: registry.* for some clients diff-v1, 10 % v2; everything else v2',
      by: { source: 'file', path: 'test' },
      from: 'everything else v2',
      to: 'registry.* for some clients diff-v1, 10 % v2; everything else v2',
      version: 2,
    },
  ])
})
