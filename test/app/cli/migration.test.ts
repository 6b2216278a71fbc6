import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../../src/app/cli/run.ts'
import { watchConfig } from '../../../src/app/cli/stay.ts'
import { configWith } from '../../../src/app/config/config.ts'
import type { Actor } from '../../../src/migrate/records/record.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'
import { runCommand, untilEscaped } from './support.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-modes-'))
afterAll(() => rmSync(directory, { recursive: true }))

describe('commands that ask the admin port', () => {
  let stage: Stage
  beforeEach(async () => {
    stage = await startStage({ mode: 'diff-v1' })
  })
  const ask = (...argv: string[]) => runCommand([...argv, '--admin', stage.adminUrl])

  it('clients prints text, CSV and JSON and names what blocks each client', async () => {
    await stage.request('GET', '/iam/v1/groups')
    await stage.request('GET', '/registry/v1/vuln_reports')
    await stage.request('GET', '/iam/v1/groups', { token: stage.sandbox.tokens.viewer })
    const text = (await ask('clients')).out
    expect(text).toMatch(/^[0-9a-f]{16} {2}needs v1 {2}2 calls, 0 mismatches, last seen \d{4}-/m)
    expect(text).toMatch(/^ {2}blocked by registry\.vuln_reports\.list: /m)
    expect(text).toMatch(/^[0-9a-f]{16} {2}could call v2 itself {2}1 call, 0 mismatches,/m)
    const [head, ...lines] = (await ask('clients', '--csv')).out.split('\r\n')
    expect(head).toBe('caller,subject,operation,calls,last_seen,modes,mismatches,could_move,blockers,cautions,protocols,agents,name')
    expect(lines).toHaveLength(3)
    expect(JSON.parse((await ask('clients', '--json')).out)).toMatchObject([
      { calls: 2, couldMove: false },
      { calls: 1, couldMove: true },
    ])
    expect((await ask('clients', '--json', '--csv')).code).toBe(2)
  })
})

describe('commands that ask an admin port with tokens', () => {
  const READ = 'the-token-that-reads'
  const CHANGE = 'the-token-that-changes'
  const CALLS = [['cutover', '--target', '0.5'], ['clients'], ['case', 'none']]
  let stage: Stage
  beforeEach(async () => {
    stage = await startStage({ mode: 'diff-v1', proxy: { 'admin.token': CHANGE, 'admin.readToken': READ } })
    await stage.request('GET', '/iam/v1/groups')
    await stage.settled()
  })

  it.each(CALLS)('%s reads with either token, from any source of settings', async (...call) => {
    const argv = [...call, '--admin', stage.adminUrl]
    const file = join(directory, 'tokens.json')
    writeFileSync(file, JSON.stringify({ admin: { readToken: READ } }))
    const ran = [
      await runCommand(argv, { CROSSWALK_ADMIN_READ_TOKEN: READ }),
      await runCommand(argv, { CROSSWALK_ADMIN_TOKEN: CHANGE }),
      await runCommand([...argv, '--admin-token', CHANGE]),
      await runCommand([...argv, '--config', file]),
    ]
    for (const { out, err } of ran) {
      expect(out + err).toMatch(/INCONCLUSIVE|could call v2 itself|There is no comparison/)
      expect(out + err).not.toMatch(/the-token-that/)
    }
  })

  it.each(CALLS)('%s asks for a missing token and rejects a wrong one', async (...call) => {
    const { adminUrl } = stage
    const where = 'admin.readToken (CROSSWALK_ADMIN_READ_TOKEN) or admin.token (CROSSWALK_ADMIN_TOKEN).'
    const argv = [...call, '--admin', adminUrl]
    const code = call[0] === 'cutover' ? 3 : 1
    expect(await runCommand(argv)).toEqual({ code, out: '', err: `${adminUrl} asks for a token; give ${where}` })
    expect(await runCommand(argv, { CROSSWALK_ADMIN_TOKEN: 'another-token-than-that' })).toEqual({
      code,
      out: '',
      err: `${adminUrl} does not know the token; put another into ${where}`,
    })
    expect((await runCommand(argv, { CROSSWALK_ADMIN_TOKEN: 'short' })).err).toMatch(
      /^admin\.token in the environment variable CROSSWALK_ADMIN_TOKEN must be a token of/,
    )
  })
})

it.each([
  [403, /does not go by that name; ask it by an address, or list the name in its admin\.names\.$/],
  [404, /answers \/clients with HTTP 404: is it the admin port of Crosswalk\?$/],
])('clients explains HTTP %i', async (status, problem) => {
  const other = await startUpstream(answering({}, status))
  expect(await runCommand(['clients', '--admin', other.url])).toEqual({ code: 1, out: '', err: expect.stringMatching(problem) })
})

it.each([
  ['cutover', 3],
  ['clients', 1],
])('%s requires a running proxy', async (command, code) => {
  expect(await runCommand([command], { CROSSWALK_ADMIN_PORT: '1' })).toEqual({
    code,
    out: '',
    err: 'No proxy answers on http://127.0.0.1:1; start one with crosswalk demo or crosswalk serve, or give its admin address with --admin.',
  })
})

it.each([
  ['cutover', 3],
  ['clients', 1],
])('%s says why a proxy that is there cannot be asked', async (command, code) => {
  const { adminUrl } = await startStage({ mode: 'diff-v1' })
  const secure = adminUrl.replace('http:', 'https:')
  expect(await runCommand([command, '--admin', secure])).toEqual({
    code,
    out: '',
    err: `${secure} cannot be reached: it speaks plain text there: give the address as http://, or another port.`,
  })
})

it.each([
  ['127.0.0.2', '127.0.0.2'],
  ['0.0.0.0', '127.0.0.1'],
])('clients asks the admin port at admin.host %s', async (host, asked) => {
  const { err } = await runCommand(['clients'], { CROSSWALK_ADMIN_HOST: host, CROSSWALK_ADMIN_PORT: '1' })
  expect(err).toContain(`No proxy answers on http://${asked}:1; `)
})

describe('modes in the configuration', () => {
  it('accept one mode as a flag; demo then adds a v1 service', async () => {
    const lines: string[] = []
    let stop = () => {}
    const started = new Promise<void>((resolve) => {
      const out = (line: string) => {
        lines.push(line)
        if (line.startsWith('curl -sS') && lines.filter((one) => one.startsWith('curl')).length === 5) resolve()
      }
      const untilStopped = () =>
        new Promise<void>((done) => {
          stop = done
        })
      const argv = ['demo', '--mode', 'diff-v1', '--port', '0', '--admin-port', '0', '--sandbox-port', '0', '--log-level', 'silent']
      void run(argv, { out, err: out, env: {}, stdin: async () => '', untilStopped, untilEscaped })
    })
    await started
    const admin = /admin +(\S+)/.exec(lines.join('\n'))?.[1]
    expect(await (await fetch(`${admin}/modes`)).json()).toMatchObject({ default: 'diff-v1', rules: [], testers: [] })
    stop()
  })

  it.each([
    [['serve', '--upstream-v2', 'http://127.0.0.1:1', '--mode', 'diff-v1'], 2, 'The modes need a v1 service: set upstream.v1'],
    [
      ['serve', '--upstream-v2', 'http://127.0.0.1:1', '--mode', 'v3'],
      2,
      'modes is "v3" in the flag --mode, but it must be a mode (v1, v2, diff-v1, diff-v2)',
    ],
    [
      [
        'serve',
        '--upstream-v2',
        'http://127.0.0.1:1',
        '--mode',
        '{"default":"v2","rules":[{"mode":"v2","canary":{"percent":101,"mode":"v1"}}]}',
      ],
      2,
      'modes.rules.0.canary.percent in the flag --mode must be a number from 0 to 100.',
    ],
  ])('reject %j', async (argv, code, err) => {
    expect(await runCommand(argv as string[])).toEqual({ code, out: '', err: expect.stringContaining(err as string) })
  })
})

describe('the configuration file while the proxy runs', () => {
  const path = join(directory, 'config.json')

  /** Follows the file for a server that takes what this one does not refuse. `afterWriting` resolves with the next printed line. */
  function watching(content: string, server: Partial<Parameters<typeof watchConfig>[2]> = {}) {
    writeFileSync(path, content)
    let line = (_: string) => {}
    const print = (text: string) => line(text)
    const io = {
      out: print,
      err: print,
      text: print,
      help: print,
      env: {},
      stdin: async () => '',
      untilStopped: async () => {},
      untilEscaped,
    }
    const taking = { changeModes: () => undefined, reload: () => undefined, sharesModes: false, ...server }
    const { end } = watchConfig({ config: path }, io, taking, configWith({}))
    onTestFinished(end)
    return (content: string) =>
      new Promise<string>((resolve) => {
        line = resolve
        writeFileSync(path, content)
      })
  }

  it('changes the modes, explains a wrong file and names what waits for a restart', async () => {
    const changed: string[] = []
    const changeModes = (rules: object, { source, path: from }: Actor) => {
      changed.push(`${source} ${from} ${JSON.stringify(rules)}`)
      return undefined
    }
    const reloaded: object[] = []
    const reload = (changes: object) => {
      reloaded.push(changes)
      return undefined
    }
    const afterWriting = watching('{}', { changeModes, reload })
    expect(await afterWriting('{"modes": {"default": "diff-v1"}}')).toBe('The modes are now: everything else diff-v1.')
    expect(changed).toEqual([`file ${path} {"default":"diff-v1","rules":[],"testers":[]}`])
    expect(await afterWriting('{"modes": {"default": "v9"}}')).toBe(
      `The configuration stays as it was. modes.default in the file ${path}:1:23 must be one of v1, v2, diff-v1, diff-v2.`,
    )
    expect(await afterWriting('{')).toContain('The configuration stays as it was. The configuration file')
    expect(await afterWriting('{"modes": {"default": "diff-v1"}, "log": {"level": "warn"}}')).toBe('Active from now on: log.level.')
    expect(reloaded).toEqual([{ 'log.level': 'warn' }])
    expect(await afterWriting('{"modes": {"default": "diff-v1"}, "log": {"level": "warn"}, "limits": {"streams": 7}}')).toBe(
      'limits.streams changed: restart to use it, because the connections of clients are open already.',
    )
    expect([changed.length, reloaded.length]).toEqual([1, 1])
    // It has what it started with again: no restart is due.
    expect(await afterWriting('{"modes": {"default": "v2"}, "log": {"level": "warn"}}')).toBe('The modes are now: everything else v2.')
  })

  it('says that modes are only proposed where replicas share them', async () => {
    const afterWriting = watching('{}', { sharesModes: true })
    const proposed = 'The modes of the file are proposed to all replicas: everything else diff-v1.'
    expect(await afterWriting('{"modes": {"default": "diff-v1"}}')).toBe(proposed)
  })

  it('changes nothing if it asks for v1 without a v1 service', async () => {
    const afterWriting = watching('{"modes": "v2"}', { changeModes: () => 'The modes need a v1 service.' })
    expect(await afterWriting('{"modes": "v1"}')).toBe('The modes stay as they were. The modes need a v1 service.')
  })
})
