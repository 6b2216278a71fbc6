import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { answering, startUpstream } from '../stage/upstream.ts'
import { runCommand } from './support.ts'

const TOKEN = { CROSSWALK_ADMIN_TOKEN: 'the-token-of-alice' }

let proxy: TestProxy
beforeAll(async () => {
  proxy = await startProxy({
    'upstream.v2': 'http://127.0.0.1:1',
    'upstream.v1': 'http://127.0.0.1:1',
    'admin.token': 'the-token-of-alice',
    'admin.readToken': 'the-token-to-read',
  })
})
afterAll(() => proxy.close())

const put = (rules: readonly object[]) =>
  fetch(`${proxy.adminUrl}/modes`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json', authorization: 'Bearer the-token-of-alice' },
    body: JSON.stringify({ default: 'v1', rules }),
  })

const rollouts = (argv: readonly string[], env: Record<string, string> = TOKEN) =>
  runCommand(['rollouts', ...argv, '--admin', proxy.adminUrl], env)

describe('rollouts', () => {
  it('lists them, and gives one a command', async () => {
    expect(await rollouts([])).toEqual({ code: 0, out: 'No rule has a rollout.', err: '' })
    const steps = [
      { percent: 10, observations: 5 },
      { percent: 50, hold: '1h' },
    ]
    await put([{ operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout: { name: 'iam', steps } } }])
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
    expect(await rollouts(['iamm', 'pause'])).toEqual({ code: 1, out: '', err: 'there is no rollout "iamm"; did you mean "iam"?' })
    await rollouts(['iam', 'abort'])
    expect(await rollouts(['iam', 'resume'])).toMatchObject({ code: 1, err: expect.stringContaining('The rollout iam is aborted') })
    expect(await rollouts(['iam', 'pause'], {})).toMatchObject({ code: 1, err: expect.stringContaining('asks for a token') })
    const reader = { CROSSWALK_ADMIN_TOKEN: 'the-token-to-read' }
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
