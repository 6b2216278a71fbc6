import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { createCrosswalk } from '../../../src/index.ts'
import { runCommand } from '../../cli/support.ts'
import { bearer } from '../../stage/proxy.ts'
import { startStage } from '../../stage/stage.ts'

const LIST = 'iam.groups.list'
const ROLES = 'iam.roles.list'
const ALICE = { CROSSWALK_ADMIN_TOKEN: 'the-token-of-alice' }

const stage = await startStage({
  'admin.tokens': [{ name: 'alice', token: 'the-token-of-alice' }],
  'admin.readToken': 'the-token-to-read',
})
afterAll(() => stage.close())

async function ask(path: string, method = 'GET', token = 'the-token-of-alice') {
  const answer = await fetch(stage.server.adminUrl + path, { method, headers: bearer(token) })
  return { status: answer.status, body: await answer.json() }
}
const open = async () => ((await ask('/circuits')).body as { operation: string }[]).map(({ operation }) => operation)
const command = (...argv: string[]) => runCommand(['circuits', ...argv, '--admin', stage.server.adminUrl], ALICE)

/** Lets v2 fail until the circuits of these reads are open. */
async function openThem(...paths: string[]) {
  for (const path of paths) await stage.fault({ match: `GET ${path.replace('v1', 'v2')}`, status: 500 })
  for (const path of paths) for (let at = 0; at < 6; at += 1) await stage.request('GET', path)
  await stage.settled()
  await stage.clearFaults()
}

beforeEach(() => stage.setModes({ default: 'v1' }).then(() => stage.setModes({ default: 'v2' })))

describe('circuits', () => {
  it('are listed with time and reason, and one alone is closed by its name, with a note that names who did it', async () => {
    expect((await command()).out).toBe('No circuit is open.')
    await openThem('/iam/v1/groups', '/iam/v1/roles')
    expect(await open()).toEqual([LIST, ROLES])
    expect(((await ask('/circuits')).body as object[])[0]).toEqual({
      operation: LIST,
      reason: expect.stringMatching(/^errors: \d of the last \d answers failed/),
      openedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      owner: 'the default mode',
      until: 'a person closes it',
    })
    const before = stage.server.reads.modes().version
    expect(await ask(`/circuits/${LIST}/close`, 'POST')).toEqual({ status: 200, body: { closed: [LIST], kept: [] } })
    expect(await open()).toEqual([ROLES])
    expect(stage.server.reads.modes().version).toBe(before)
    const note = await stage.server.logged(({ what, operation }) => what === 'circuit-closed' && operation === LIST)
    expect(note).toMatchObject({ by: { source: 'admin', token: 'alice' }, msg: expect.stringContaining('it was closed by hand') })
  })

  it('are listed and closed by the command, one or all', async () => {
    await openThem('/iam/v1/groups', '/iam/v1/roles')
    const listed = await command()
    expect(listed.out.split('\n')).toEqual([
      expect.stringMatching(/^iam\.groups\.list {2}open since \d{4}-\S+ for the default mode$/),
      expect.stringMatching(/^ {2}errors: /),
      '  until a person closes it',
      expect.stringMatching(/^iam\.roles\.list {2}open since \d{4}-\S+ for the default mode$/),
      expect.stringMatching(/^ {2}errors: /),
      '  until a person closes it',
    ])
    expect(await command('close', LIST)).toEqual({ code: 0, out: `1 circuit closed\n  ${LIST}`, err: '' })
    expect(JSON.parse((await command('close', '--all', '--json')).out)).toEqual({ closed: [ROLES], kept: [] })
    expect(await open()).toEqual([])
  })

  it('are closed by nobody who only reads, and not under a wrong name', async () => {
    await openThem('/iam/v1/groups')
    expect((await ask(`/circuits/${LIST}/close`, 'POST', 'the-token-to-read')).status).toBe(403)
    expect((await ask('/circuits/close', 'POST', 'the-token-to-read')).status).toBe(403)
    expect(await command('close', 'iam.group.list')).toMatchObject({
      code: 1,
      err: 'there is no open circuit "iam.group.list"; did you mean "iam.groups.list"?',
    })
    expect(await open()).toEqual([LIST])
  })

  it.each([
    [['shut'], 'crosswalk circuits has no command "shut"; use close.'],
    [['close'], 'Usage: crosswalk circuits [close NAME | close --all]'],
    [['close', LIST, '--all'], 'Usage: crosswalk circuits [close NAME | close --all]'],
    [['--all'], 'Usage: crosswalk circuits [close NAME | close --all]'],
  ])('refuse %j', async (argv, err) => expect(await command(...argv)).toEqual({ code: 2, out: '', err }))

  it('that turned back a rollout are closed by that rollout alone', async () => {
    const rollout = { name: 'groups', target: 0.001, retries: 2, watch: '1h', steps: [{ percent: 100, hold: '1h' }] }
    await stage.setModes({
      default: 'v1',
      rules: [{ operations: 'iam.groups.*', clients: '*', mode: 'v1', canary: { mode: 'diff-v2', rollout } }],
    } as never)
    await openThem('/iam/v1/groups')
    const until = 'the rollout groups is resumed or aborted'
    expect((await ask('/circuits')).body).toMatchObject([{ operation: LIST, owner: 'rollout groups', rollout: 'groups', until }])
    const sentence = `the circuit of ${LIST} turned back the rollout groups; resume or abort that, such as by: crosswalk rollouts groups resume`
    expect(await ask(`/circuits/${LIST}/close`, 'POST')).toMatchObject({ status: 400, body: { message: sentence } })
    expect(await command('close', '--all')).toEqual({ code: 1, out: '0 circuits closed', err: `Still open: ${sentence}.` })
    expect((await command()).out).toContain('It turned back the rollout groups: crosswalk rollouts groups resume closes it')
    await ask('/rollouts/groups/resume', 'POST')
    expect(await open()).toEqual([])
  })

  it('outlive a rollout, and tell of which they are in the note, on the page, in the library and in the rollout that stays', async () => {
    const rule = (name: string, clients: string) => {
      const canary = { mode: 'diff-v2', rollout: { name, target: 0.001, steps: [{ percent: 100, hold: '1h' }] } }
      return { operations: 'iam.groups.*', clients, mode: 'v1', canary }
    }
    await stage.setModes({ default: 'v1', rules: [rule('first', '0*'), rule('second', '*')] } as never)
    await openThem('/iam/v1/groups')
    const [opened] = stage.server.reads.circuits()
    expect(opened).toMatchObject({ operation: LIST, owner: 'rollout first and rollout second' })
    const since = `, open since ${new Date(opened?.at ?? 0).toISOString()} for rollout first and rollout second`
    const note = await stage.server.logged(({ what, msg }) => what === 'circuit' && String(msg).includes('rollout first'))
    expect(note.msg).toContain(`${since}. Only a person can close it`)
    await stage.setModes({ default: 'v1', rules: [rule('second', '*')] } as never)
    expect(stage.server.reads.circuits()).toEqual([{ ...opened, rollout: 'second', until: 'the rollout second is resumed or aborted' }])
    expect((await ask('/report.json')).body).toMatchObject({ now: { circuits: { [LIST]: expect.stringContaining(since) } } })
    expect((await ask('/rollouts')).body).toMatchObject([{ name: 'second', reason: expect.stringContaining(since) }])
  })

  it('are closed by a program', async () => {
    const crosswalk = await createCrosswalk({ upstream: { v2: stage.sandbox.url, v1: stage.sandbox.url }, modes: { default: 'v2' } })
    await crosswalk.listen()
    const headers = bearer(stage.sandbox.tokens.owner)
    await stage.fault({ match: 'GET /iam/v2/groups', status: 500 })
    for (let at = 0; at < 6; at += 1) await (await fetch(`${crosswalk.url}/iam/v1/groups`, { headers })).text()
    await crosswalk.idle()
    await stage.clearFaults()
    const state = async () => (await crosswalk.evidence()).circuits[LIST]?.state
    expect(await state()).toBe('open')
    expect(() => crosswalk.closeCircuit('registry.repos.list')).toThrow(
      'there is no open circuit "registry.repos.list"; open are iam.groups.list',
    )
    crosswalk.closeCircuit(LIST)
    expect(await state()).not.toBe('open')
    await crosswalk.close()
  })
})
