import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../src/app/cli/run.ts'
import { startSandbox } from '../../src/sandbox/start.ts'
import { runCommand } from '../cli/support.ts'
import { file, har, ORG, REPO } from './files.ts'

const TOKEN = 'demo-owner'

async function sandbox() {
  const running = await startSandbox({ port: 0 })
  onTestFinished(() => running.close())
  return running
}

/** Runs the command without interrupting it. */
async function sent(argv: readonly string[], env: Record<string, string> = { TOKEN }) {
  const [out, err]: [string[], string[]] = [[], []]
  const io = { out: (line: string) => out.push(line), err: (line: string) => err.push(line), env, stdin: async () => '' }
  const code = await run(argv, { ...io, untilStopped: () => new Promise(() => {}), untilEscaped: () => new Promise(() => {}) })
  return { code, out: out.join('\n'), err: err.join('\n') }
}

const ARCHIVE = har([
  { path: `/iam/v1/groups?uidp.descendants_of=${ORG}`, token: 'recorded-token' },
  { path: `/iam/v1/groups?uidp.descendants_of=${ORG}`, token: 'recorded-token' },
  { path: `/registry/v1/repos?id=${REPO}`, token: 'recorded-token' },
  { path: '/registry/v1/repos?id=none', token: 'recorded-token' },
  { path: `/registry/v1/vuln_reports?parent_id=${REPO}` },
  { path: `/registry/v1/eoltags?page_token=abc` },
  { path: `/iam/v1/groups/${ORG}`, method: 'PUT', body: '{"name":"renamed"}' },
  { path: `/iam/v1/groups/${ORG}`, method: 'DELETE' },
  { path: '/favicon.ico' },
])

const journalOf = async (url: string) => (await (await fetch(`${url}/-/journal`)).json()) as readonly { method: string }[]

describe('crosswalk replay --against', () => {
  it('sends every different read to both sides, and nothing else', async () => {
    const { url } = await sandbox()
    const path = await file('traffic.har', ARCHIVE)
    const flags = ['--against', url, '--upstream-v2', url, '--rate', '1000']
    const { code, out, err } = await sent(['replay', path, ...flags, '--json'])
    expect([code, err]).toEqual([0, ''])
    const { rows, left } = JSON.parse(out)
    expect(rows.map(({ operation, outcome, v1, v2 }: Record<string, unknown>) => [operation, outcome, v1, v2])).toEqual([
      ['iam.groups.list', 'match', 200, 200],
      ['registry.repos.list', 'match', 200, 200],
      ['registry.repos.list', 'match', 200, 200],
    ])
    expect(left).toEqual({ writes: 2, forms: 0, repeated: 1, pageTokens: 1, v1Only: 1, other: 1, beyond: 0 })
    expect(new Set((await journalOf(url)).map(({ method }) => method))).toEqual(new Set(['GET']))
  })

  it('finds and records the effect of an injected bug, and exits with its code', async () => {
    const { url } = await sandbox()
    const fault = { match: 'GET /iam/v2/groups', change: { at: '/groups/0/name', to: 'another' } }
    await fetch(`${url}/-/faults`, { method: 'POST', body: JSON.stringify(fault), headers: { 'content-type': 'application/json' } })
    const path = await file('traffic.har', ARCHIVE)
    const records = join(dirname(path), 'records.ndjson')
    const { code, out } = await sent(['replay', path, '--against', url, '--upstream-v2', url, '--rate', '1000', '--records', records])
    expect(code).toBe(1)
    expect(out).toContain('3 reads sent to both sides: 1 mismatch, 0 transient, 0 error')
    expect(out).toContain('not sent: 2 writes, which are never sent')
    expect(out).toContain('mismatch  iam.groups.list?uidp.descendants_of=root  HTTP 200 and 200  value /items/*/name')
    const written = await readFile(records, 'utf8')
    expect(written + out).not.toMatch(/demo-owner|recorded-token/)
    const { out: report } = await runCommand(['report', records])
    expect(report).toContain('outside')
    expect(report).toContain('value /items/*/name')
  })

  it('observes its limits', async () => {
    const { url } = await sandbox()
    const path = await file('traffic.har', ARCHIVE)
    const began = performance.now()
    const { out } = await sent(['replay', path, '--against', url, '--upstream-v2', url, '--rate', '10', '--max', '2', '--json'])
    expect(performance.now() - began).toBeGreaterThanOrEqual(100)
    expect(JSON.parse(out)).toMatchObject({ rows: [{}, {}], left: { beyond: 1 } })
  })

  it('says what it needs', async () => {
    const path = await file('traffic.har', ARCHIVE)
    const [v1, v2] = [
      ['--against', 'http://127.0.0.1:9'],
      ['--upstream-v2', 'http://127.0.0.1:9'],
    ]
    expect(await sent(['replay', path, ...v1], {})).toMatchObject({ code: 2, err: expect.stringContaining('upstream.v2 is not set') })
    expect(await sent(['replay', path, ...v1, ...v2], {})).toMatchObject({ code: 2, err: expect.stringContaining('TOKEN is not set') })
    expect(await sent(['replay', path, ...v1, ...v2, '--rate', '0'])).toMatchObject({ code: 2, err: expect.stringContaining('--rate') })
    expect(await sent(['replay', path, ...v1, ...v2, '--max', '-1'])).toMatchObject({ code: 2, err: expect.stringContaining('--max') })
    const records = await file(
      'records.ndjson',
      '{"kind":"traffic","caller":"a","operation":"iam.groups.list","mode":"v1","calls":1,"at":"2026-01-01T00:00:00Z"}\n',
    )
    expect(await sent(['replay', records, ...v1, ...v2])).toMatchObject({ code: 1, err: expect.stringContaining('keep no values') })
  })
})
