import { mkdtempSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type ModeRules, readModeRules } from '../../../src/migrate/modes/rules.ts'
import { listening } from '../../stage/programs.ts'
import { NOWHERE, startStage, type TestProxy } from '../../stage/stage.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'
import { runCommand } from './support.ts'

const TOKEN = { CROSSWALK_ADMIN_TOKEN: 'the-token-of-alice' }
const READERS = [{ CROSSWALK_ADMIN_TOKEN: 'the-token-to-read' }, { CROSSWALK_ADMIN_READ_TOKEN: 'the-token-to-read' }]

/** A proxy for the tests of a group, whose admin port asks for these tokens. */
function guardedProxy(): Pick<TestProxy, 'adminUrl'> {
  let proxy: TestProxy
  beforeAll(async () => {
    const tokens = { 'admin.token': 'the-token-of-alice', 'admin.readToken': 'the-token-to-read' }
    proxy = await startStage({ v1: NOWHERE, v2: NOWHERE, proxy: tokens })
  })
  return {
    get adminUrl() {
      return proxy.adminUrl
    },
  }
}

describe('modes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-modes-'))
  const write = (name: string, value: unknown) => {
    const path = join(folder, name)
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
    return path
  }

  const proxy = guardedProxy()

  const run = (argv: readonly string[], stdin = '') => runCommand([...argv, '--admin', proxy.adminUrl], TOKEN, stdin)

  describe('crosswalk modes', () => {
    beforeEach(async () => void (await run(['modes', 'set', '-', '--if-match', '*'], '{"default":"v2"}')))

    it('tells them, says what a file would change, and puts it in force', async () => {
      const told = await run(['modes'])
      const lines = [expect.stringMatching(/^Modes: version \d+ since /), '  everything else v2']
      expect([told.code, ...told.out.split('\n')]).toEqual([0, ...lines])
      const version = Number(/\d+/.exec(told.out)?.[0])
      const file = write('shadow.json', { default: 'v1', rules: [{ operations: 'iam.*', mode: 'diff-v1' }] })
      const change = 'iam.*: no rule → diff-v1; default: v2 → v1.'
      expect(await run(['modes', 'diff', file])).toEqual({ code: 1, out: `Version ${version}: ${change}`, err: '' })
      expect(JSON.parse((await run(['modes', 'diff', file, '--json'])).out)).toEqual({ version, change: change.slice(0, -1) })
      expect(await run(['modes', 'set', file])).toEqual({ code: 0, out: `Version ${version + 1}: ${change}`, err: '' })
      expect(await run(['modes', 'diff', file])).toEqual({ code: 0, out: `Version ${version + 1}: nothing differs.`, err: '' })
    })

    it('reads a file that begins with a byte order mark, as those of settings may', async () => {
      const file = write('marked.json', '\uFEFF{"default":"v1"}')
      expect(await run(['modes', 'diff', file])).toMatchObject({ code: 1, out: expect.stringContaining('default: v2 → v1'), err: '' })
      expect(await run(['modes', 'set', file])).toMatchObject({ code: 0, err: '' })
    })

    it('writes a file for set, which replaces nothing that came meanwhile', async () => {
      const { out: mine } = await run(['modes', 'get', '--json'])
      const edited = JSON.stringify({ ...JSON.parse(mine), default: 'diff-v1' })
      expect(await run(['modes', 'set', '-'], '{"default":"v2"}')).toMatchObject({ code: 0 })
      const late = await run(['modes', 'set', '-'], edited)
      expect(late).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^the modes are at version \d+ since .*; read them again\.$/),
      })
      expect(await run(['modes', 'set', '-', '--if-match', '*'], edited)).toMatchObject({ code: 0 })
      const { default: inForce } = JSON.parse((await run(['modes', 'get', '--json'])).out)
      expect(inForce).toBe('diff-v1')
    })

    it.each([
      [['modes', 'sett'], 'did you mean "set"?'],
      [['modes', 'set'], 'Usage: crosswalk modes'],
      [['modes', 'get', 'x'], 'Usage: crosswalk modes'],
      [['modes', 'set', write('broken.json', '{')], 'is not JSON'],
      [['modes', 'set', write('wrong.json', { default: 'v3' })], 'The modes are wrong'],
    ])('%j is misused', async (argv, sentence) => {
      expect(await run(argv)).toEqual({ code: 2, out: '', err: expect.stringContaining(sentence) })
    })

    it('changes nothing with a token that only reads', async () => {
      const given = ['modes', 'set', '-', '--admin', proxy.adminUrl]
      for (const reader of READERS)
        expect(await runCommand(given, reader, '{"default":"v2"}')).toMatchObject({ code: 1, err: expect.stringContaining('only reads') })
    })
  })

  describe('crosswalk status', () => {
    it('says why a proxy is not ready', async () => {
      const { code, out } = await run(['status'])
      expect(code).toBe(1)
      expect(out).toMatch(/^Not ready\n {2}the v2 service does not answer its ping: /)
    })

    it('tells services, modes, rollouts and open circuits on one screen', async () => {
      const steps = [{ percent: 10, hold: '1h' }]
      const rules = [{ operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout: { name: 'iam', steps } } }]
      const stage = await startStage({ proxy: { modes: readModeRules({ default: 'v2', rules }) as ModeRules } })
      const { code, out } = await runCommand(['status', '--admin', stage.adminUrl])
      expect(code).toBe(0)
      expect(out.split('\n')).toEqual([
        'Ready',
        '  v2: ok',
        '  v1: ok',
        expect.stringMatching(/^Modes: version 1 since /),
        expect.stringContaining('iam.*'),
        'Rollouts:',
        expect.stringMatching(/^ {2}iam {2}running, step 1 of 1, 10 %/),
        expect.stringMatching(/^ {4}/),
        'Open circuits: none',
        'crosswalk cutover says whether traffic may move.',
      ])
    })
  })

  describe('admin.publicUrl', () => {
    it('is where status, cutover and the metrics say that the page is, and a name of the port', async () => {
      const known = await startStage({ v1: NOWHERE, v2: NOWHERE, proxy: { 'admin.publicUrl': 'https://crosswalk.internal' } })
      const at = ['--admin', known.adminUrl]
      const page = 'The page: https://crosswalk.internal/report'
      expect((await runCommand(['status', ...at])).out.split('\n')).toContain(page)
      expect((await runCommand(['cutover', ...at])).out.split('\n').at(-1)).toBe(page)
      const { asked } = JSON.parse((await runCommand(['cutover', '--json', ...at])).out)
      expect(asked).toEqual([{ admin: known.adminUrl, page: 'https://crosswalk.internal/report' }])
      const metrics = await (await fetch(`${known.adminUrl}/metrics`)).text()
      expect(metrics).toContain('crosswalk_page_info{url="https://crosswalk.internal/report"} 1')
      const answers = ['crosswalk.internal', 'other.internal'].map((host) => statusFor(known.adminUrl, host))
      expect(await Promise.all(answers)).toEqual([200, 403])
      const mine = await (await fetch(`${known.adminUrl}/modes`)).json()
      const put = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(mine) }
      expect((await fetch(`${known.adminUrl}/modes`, put)).status).toBe(200)
    })

    it.each(['https://crosswalk.internal/admin', 'https://u:s3cret@crosswalk.internal', 'crosswalk.internal'])(
      'refuses %s',
      async (given) => {
        const { code, err } = await runCommand(['serve', '--check', '--upstream-v2', 'http://127.0.0.1:1', '--admin-public-url', given])
        expect([code, err]).toEqual([2, expect.stringMatching(/^admin\.publicUrl is .*must be an address such as https:/)])
        expect(err).not.toContain('s3cret')
      },
    )
  })

  /** `fetch` refuses to name another host. */
  function statusFor(adminUrl: string, host: string): Promise<number | undefined> {
    return new Promise((resolve) => {
      http.get(`${adminUrl}/healthz`, { headers: { host } }, (answer) => resolve(answer.resume().statusCode))
    })
  }

  describe('cutover --wait', () => {
    const startBusy = async (times: number) => {
      let asked = 0
      const busy = 'Replica b still compares.'
      const fleet = () => ({ self: 'a', problems: asked++ < times ? [busy] : [], epoch: { nth: 0, tables: '' }, replicas: [] })
      const evidence = () => ({ operations: [], traffic: {}, strangers: {}, uncounted: 0, circuits: {}, queue: {}, fleet: fleet() })
      const server = http.createServer((request, response) => response.end(JSON.stringify(request.url === '/evidence' ? evidence() : [])))
      onTestFinished(() => void server.close())
      return { admin: (await listening(server)).url, asked: () => asked }
    }

    it('asks again until replicas have told all', async () => {
      const { admin, asked } = await startBusy(1)
      expect((await runCommand(['cutover', '--admin', admin, '--wait', '30'])).code).toBe(1)
      expect(asked()).toBe(2)
    })

    it('asks once without it', async () => {
      const { admin, asked } = await startBusy(1)
      expect((await runCommand(['cutover', '--admin', admin])).code).toBe(3)
      expect(asked()).toBe(1)
      expect((await runCommand(['cutover', '--wait', 'x'])).code).toBe(2)
    })
  })
})

describe('rollouts', () => {
  const proxy = guardedProxy()

  const put = (rules: readonly object[]) =>
    fetch(`${proxy.adminUrl}/modes`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', authorization: 'Bearer the-token-of-alice' },
      body: JSON.stringify({ default: 'v1', rules }),
    })

  const rollouts = (argv: readonly string[], env: Record<string, string> = TOKEN) =>
    runCommand(['rollouts', ...argv, '--admin', proxy.adminUrl], env)

  const steps = [
    { percent: 10, observations: 5 },
    { percent: 50, hold: '1h' },
  ]
  const iam = { operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout: { name: 'iam', steps } } }

  beforeEach(async () => void (await put([])))

  it('lists them, and gives one a command', async () => {
    expect(await rollouts([])).toEqual({ code: 0, out: 'No rule has a rollout.', err: '' })
    await put([iam])
    const listed = await rollouts([])
    expect([listed.code, ...listed.out.split('\n')]).toEqual([
      0,
      'iam  running, step 1 of 2, 10 % of the callers, 0 of 5 observations, 2 retries left',
      expect.stringMatching(/^ {2}It starts at its first step\. /),
    ])
    const paused = await rollouts(['iam', 'pause'])
    expect([paused.code, paused.out.split('\n')[0]]).toEqual([
      0,
      'iam  paused, step 1 of 2, 10 % of the callers, 0 of 5 observations, 2 retries left',
    ])
    const promoted = await rollouts(['iam', 'promote', '--json'])
    expect(JSON.parse(promoted.out)).toMatchObject({ name: 'iam', phase: 'running', step: 2, percent: 50 })
    expect(JSON.parse((await rollouts(['--json'])).out)).toMatchObject([{ name: 'iam', step: 2 }])
  })

  it('tells why a command is refused', async () => {
    await put([iam])
    expect(await rollouts(['iamm', 'pause'])).toEqual({ code: 1, out: '', err: 'there is no rollout "iamm"; did you mean "iam"?' })
    await rollouts(['iam', 'abort'])
    expect(await rollouts(['iam', 'resume'])).toMatchObject({ code: 1, err: expect.stringContaining('The rollout iam is aborted') })
    const err = `${proxy.adminUrl} asks for a token; give admin.token (CROSSWALK_ADMIN_TOKEN).`
    expect(await rollouts(['iam', 'pause'], {})).toEqual({ code: 1, out: '', err })
    for (const reader of READERS)
      expect(await rollouts(['iam', 'pause'], reader)).toMatchObject({ code: 1, err: expect.stringContaining('only reads') })
  })

  it.each([
    [['iam'], 'Usage: crosswalk rollouts [NAME pause|resume|promote|abort | OPERATION start]'],
    [['iam', 'pause', 'now'], 'Usage: crosswalk rollouts [NAME pause|resume|promote|abort | OPERATION start]'],
    [['iam', 'promot'], 'There is no rollout command "promot"; did you mean "promote"?'],
    [['iam', 'zebra'], 'There is no rollout command "zebra"; use start|pause|resume|promote|abort.'],
  ])('refuses %j', async (argv, err) => {
    expect(await rollouts(argv)).toEqual({ code: 2, out: '', err })
  })

  it('says that no proxy answers', async () => {
    const gone = await startUpstream(answering({}))
    await gone.close()
    const { code, err } = await runCommand(['rollouts', '--admin', gone.url])
    expect([code, err]).toEqual([1, expect.stringContaining('No proxy answers')])
  })
})
