import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../src/migrate/clients.ts'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import { type Guide, guideSchema } from '../../src/tools/guide-request.ts'
import { hasCurl, paste, runCommand } from '../cli/support.ts'
import { type Stage, startStage } from '../stage/stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-guide-'))
let stage: Stage
let caller = ''
let guide: Guide

const clients = (...argv: string[]) =>
  runCommand(['clients', ...argv, '--admin', stage.server.adminUrl, '--upstream-v2', stage.sandbox.url])
const section = (operation: string) => guide.sections.find((one) => one.operation === operation)

beforeAll(async () => {
  stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
  const org = stage.sandbox.organization
  for (const offset of [1, 2]) await stage.request('GET', `/iam/v1/groups?limit=2&offset=${offset}&uidp.descendants_of=${org}`)
  await stage.request('GET', `/iam/v1/groups?id=${org}`)
  await stage.request('GET', `/registry/v1/tags?excludeDates=true&name=hunter2`)
  await stage.request('PUT', `/iam/v1/groups/${org}`, { body: { name: 'demo', description: 'hunter3' } })
  await stage.request('POST', `/iam/v1/roles/${org}`, { body: { name: 'guided', capabilities: ['groups.list'] } })
  await stage.request('GET', '/libraries/v1/artifacts?ecosystems=GO')
  await stage.request('GET', '/registry/v1/vuln_reports')
  await stage.fault({ match: 'GET /iam/v2/roles', change: { at: '/roles/0/name', to: 'other' } })
  await stage.request('GET', '/iam/v1/roles')
  await stage.request('GET', '/iam/v1/roles', { token: stage.sandbox.tokens.viewer })
  await stage.settled()
  await stage.clearFaults()
  const [first] = JSON.parse((await clients('--json')).out)
  caller = first.caller
  guide = guideSchema.parse(JSON.parse((await clients(caller.slice(0, 6), '--guide', '--json')).out))
})
afterAll(async () => {
  rmSync(directory, { recursive: true })
  await stage.close()
})

describe('the guide of a client', () => {
  it('begins with what is called most', () => {
    expect(guide.client).toMatchObject({ caller, calls: 9 })
    expect(guide.sections.map(({ operation, calls }) => [operation, calls])[0]).toEqual(['iam.groups.list', 3])
    expect(guide.sections).toHaveLength(5)
  })

  it('shows each kind of request with its own parameters, and no secret', () => {
    const org = stage.sandbox.organization
    expect(section('iam.groups.list')?.requests.map(({ v1, share }) => [v1, share])).toEqual([
      [`GET /iam/v1/groups?uidp.descendants_of=${org}&offset=1&limit=2`, 2 / 3],
      [`GET /iam/v1/groups?id=${org}`, 1 / 3],
    ])
    expect(section('registry.tags.list')?.requests[0]).toMatchObject({
      v1: 'GET /registry/v1/tags?name=<name>&exclude_dates=true',
      calls: [{ url: expect.stringMatching(/\/registry\/v2\/tags\?name=<name>&include_referrers=true&include_dates=false&/) }],
    })
    expect(JSON.stringify(guide)).not.toContain('hunter')
  })

  it('has the parameters that the client gives, and those whose default changed', () => {
    expect(section('iam.groups.list')?.parameters.map(({ v1, v2, fate }) => [v1, v2, fate])).toEqual([
      ['uidp.descendants_of', 'uidp.descendants_of', 'same'],
      ['id', '(path)', 'moved'],
      ['offset', 'skip', 'renamed'],
      ['limit', 'page_size', 'renamed'],
    ])
    expect(section('registry.tags.list')?.parameters.map(({ v1 }) => v1)).toEqual([
      'name',
      'exclude_referrers',
      'exclude_dates',
      'exclude_epochs',
    ])
  })

  it('has the members that the client sends, and the mask that keeps what a PUT did', () => {
    expect(section('iam.groups.update')?.body.map(({ v1 }) => v1)).toEqual(['name', 'description'])
    expect(section('iam.groups.update')?.requests[0]?.calls[0]).toMatchObject({
      method: 'PATCH',
      url: expect.stringMatching(/\?updateMask=name%2Cdescription%2Cverified$/),
      body: { name: '<name>', description: '<description>' },
    })
  })

  it('names the differences that its requests can meet', () => {
    const codes = (operation: string) => section(operation)?.differences.map(({ code }) => code)
    expect(codes('iam.roles.create')).toEqual([])
    expect(codes('iam.groups.update')).toEqual([])
    expect(codes('iam.groups.list')).toEqual([])
  })

  it('shows where its answers differed', () => {
    expect(section('iam.roles.list')).toMatchObject({ mismatches: 1, seen: [{ kind: 'value', where: '/items/*/name', count: 1 }] })
  })

  it('says what v2 cannot do, and what comes closest', () => {
    expect(guide.blockers).toMatchObject([
      {
        use: 'libraries.artifacts.list?ecosystems',
        calls: 1,
        requests: ['GET /libraries/v1/artifacts?ecosystems=GO'],
        instead: expect.any(String),
      },
      { use: 'registry.vuln_reports.list', calls: 1, because: 'vulnerability reports have no v2 endpoint' },
    ])
    expect(guide.checklist[0]).toContain('libraries.artifacts.list?ecosystems')
  })

  it('has only topics that concern it', () => {
    expect(guide.topics.map(({ title }) => title)).toContain('Updates')
    expect(guide.topics.map(({ title }) => title)).not.toContain('Deletes')
  })
})

describe('the report', () => {
  it('leaves out the parameters of requests, which only a guide needs', async () => {
    const { clients: known } = (await (await fetch(`${stage.server.adminUrl}/report.json`)).json()) as { clients: readonly Client[] }
    expect(known[0]?.operations[0]).toMatchObject({ operation: 'iam.groups.list', calls: 3 })
    expect(known[0]?.operations[0]).not.toHaveProperty('requests')
  })
})

describe('crosswalk clients', () => {
  it('writes the guide in Markdown, or as a page', async () => {
    const markdown = (await clients(caller, '--guide')).out
    expect(markdown).toMatch(
      new RegExp(`^# Move ${caller} from v1 to v2\\n\\nThe client \`${caller}\`, which calls itself \`node\`, made 9 calls to v1`),
    )
    expect(markdown).toContain('\n- [ ] ')
    const file = join(directory, 'guide.html')
    expect(await clients(caller, '--guide', '--html', file)).toMatchObject({ code: 0, out: `written to ${file}` })
    expect(readFileSync(file, 'utf8')).toMatch(/^<!doctype html>[\s\S]*<h1>Move /)
  })

  it('lists one client', async () => {
    expect((await clients(caller)).out.split('\n').filter((line) => !line.startsWith(' '))).toHaveLength(1)
    const lines = (await clients()).out.split('\n').filter((line) => !line.startsWith(' '))
    expect(lines).toEqual([...Array(2).fill(expect.stringMatching(/^[0-9a-f]{16} /)), expect.stringMatching(/^2 clients, \d+ calls: /)])
  })

  it.each([
    [['--guide'], 2, 'Say which client: crosswalk clients ID --guide.'],
    [['x', '--guide', '--csv'], 2, 'Choose one of --csv and --guide.'],
    [['x', '--html', 'f'], 2, '--html goes with --guide.'],
    [['x', '--guide', '--html', 'f', '--json'], 2, 'Choose one of --html and --json.'],
    [['nobody', '--guide'], 1, 'No client "nobody" has called; crosswalk clients lists them.'],
    [['', '--guide'], 1, 'No client "" has called;'],
  ])('refuses %j', async (argv, code, said) => {
    expect(await clients(...argv)).toMatchObject({ code, out: '', err: expect.stringContaining(said) })
  })

  it('suggests the client that was meant', async () => {
    const typo = `${caller.slice(0, -1)}${caller.endsWith('0') ? '1' : '0'}`
    expect((await clients(typo, '--guide')).err).toBe(`No client "${typo}" has called; did you mean "${caller}"?`)
  })
})

describe.runIf(hasCurl())('the v2 calls of a guide, run by curl', () => {
  it.each([0, 1])('give the rows that v1 gives: call %i', async (nth) => {
    const { v1, calls } = section('iam.groups.list')?.requests[nth] ?? { v1: '', calls: [] }
    const { curl = '' } = calls[0] ?? {}
    const env = { V2: stage.sandbox.url, TOKEN: stage.sandbox.tokens.owner }
    const answer = await paste(curl.replace('-sS', "-sS -w '\\n%{http_code}'"), env)
    const [body = '', status] = answer.split('\n')
    expect(status).toBe('200')
    const found = JSON.parse(body)
    const [method = '', path = ''] = v1.split(' ')
    const { items } = (await stage.request(method, path)).body
    expect(items.length).toBeGreaterThan(0)
    const rows: readonly { readonly uid: string; readonly name: string }[] = found.groups ?? [found]
    expect(rows.map(({ uid, name }) => [uid, name])).toEqual(items.map(({ id, name }: Record<string, string>) => [id, name]))
  })
})
