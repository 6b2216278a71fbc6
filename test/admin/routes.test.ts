import Fastify from 'fastify'
import { beforeEach, describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { createAdmin } from '../../src/admin/admin.ts'
import { addContract } from '../../src/admin/routes.ts'
import { createCrosswalk } from '../../src/index.ts'
import type { RolloutStatus } from '../../src/migrate/rollout/machine.ts'
import type { OpenApiDocument } from '../../src/tools/openapi.ts'
import { runCommand } from '../app/cli/support.ts'
import { bearer, type LogLine, startStage } from '../stage/stage.ts'
import { documentWith } from '../tools/openapi-documents.ts'

describe('circuit routes', async () => {
  const LIST = 'iam.groups.list'
  const ROLES = 'iam.roles.list'
  const ALICE = { CROSSWALK_ADMIN_TOKEN: 'the-token-of-alice' }

  const stage = await startStage({
    proxy: { 'admin.tokens': [{ name: 'alice', token: 'the-token-of-alice' }], 'admin.readToken': 'the-token-to-read' },
  })

  async function ask(path: string, method = 'GET', token = 'the-token-of-alice') {
    const answer = await fetch(stage.adminUrl + path, { method, headers: bearer(token) })
    return { status: answer.status, body: await answer.json() }
  }
  const open = async () => ((await ask('/circuits')).body as { operation: string }[]).map(({ operation }) => operation)
  const command = (...argv: string[]) => runCommand(['circuits', ...argv, '--admin', stage.adminUrl], ALICE)

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
      const before = stage.reads.modes().version
      const from = stage.log.length
      expect(await ask(`/circuits/${LIST}/close`, 'POST')).toEqual({ status: 200, body: { closed: [LIST], kept: [] } })
      expect(await open()).toEqual([ROLES])
      expect(stage.reads.modes().version).toBe(before)
      const isNew = (line: LogLine) => stage.log.indexOf(line) >= from
      const note = await stage.logged((line) => isNew(line) && line.what === 'circuit-closed' && line.operation === LIST)
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
      const [opened] = stage.reads.circuits()
      expect(opened).toMatchObject({ operation: LIST, owner: 'rollout first and rollout second' })
      const since = `, open since ${new Date(opened?.at ?? 0).toISOString()} for rollout first and rollout second`
      const note = await stage.logged(({ what, msg }) => what === 'circuit' && String(msg).includes('rollout first'))
      expect(note.msg).toContain(`${since}. Only a person can close it`)
      await stage.setModes({ default: 'v1', rules: [rule('second', '*')] } as never)
      expect(stage.reads.circuits()).toEqual([{ ...opened, rollout: 'second', until: 'the rollout second is resumed or aborted' }])
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
})

describe('contract route', () => {
  it('writes the document once for each name of the machine', async () => {
    const made: string[] = []
    const app = Fastify()
    const contract = (server: string): OpenApiDocument => {
      const document = documentWith({ server, operations: ['ping.*'] })
      const toJSON = () => {
        made.push(server)
        return document
      }
      return Object.assign({ ...document }, { toJSON })
    }
    const documents = new Map(['a', 'b'].map((name) => [name, contract(`http://${name}.example:8080`)]))
    addContract(
      app,
      (server) => documents.get(new URL(server).hostname.slice(0, 1)) as OpenApiDocument,
      () => 'http://0.0.0.0:8080',
    )
    const ask = (host: string, known = '') => app.inject({ url: '/openapi.json', headers: { host, 'if-none-match': known } })
    const first = await ask('a.example:8081')
    expect(first.json().servers).toEqual([{ url: 'http://a.example:8080' }])
    const etag = String(first.headers.etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) expect((await ask('a.example:8081', known)).statusCode).toBe(304)
    expect((await ask('b.example:8081', etag)).json().servers).toEqual([{ url: 'http://b.example:8080' }])
    expect(made).toEqual(['http://a.example:8080', 'http://b.example:8080'])
  })

  it('answers callers that may read, and no others', async () => {
    const sources = {
      operations: () => [],
      contract: () => documentWith({ operations: ['ping.*'] }),
      proxyUrl: () => 'http://127.0.0.1:8080',
    }
    const tokens = [{ name: 'admin.readToken', token: 'the-token-that-reads', right: 'read' }] as const
    const admin = createAdmin(sources as unknown as Parameters<typeof createAdmin>[0], { names: [], tokens: () => tokens })
    const ask = (headers: Record<string, string>) => admin.inject({ url: '/openapi.json', headers })
    expect((await ask({})).statusCode).toBe(401)
    expect((await ask({ authorization: 'Bearer the-token-that-reads' })).statusCode).toBe(200)
  })
})

describe('rollout routes', async () => {
  const proxy = await startStage({
    v1: 'http://127.0.0.1:1',
    v2: 'http://127.0.0.1:1',
    proxy: { 'admin.tokens': [{ name: 'alice', token: 'the-token-of-alice' }], 'admin.readToken': 'the-token-to-read' },
  })

  interface Asked {
    readonly method?: string
    readonly token?: string
    readonly body?: object
    readonly headers?: Readonly<Record<string, string>>
  }

  async function ask<T = { readonly code: number; readonly message: string }>(path: string, asked: Asked = {}) {
    const { method = 'GET', token = 'the-token-of-alice', body, headers } = asked
    const sent = body && { body: JSON.stringify(body) }
    const type = body && { 'content-type': 'application/json' }
    const answer = await fetch(proxy.adminUrl + path, { method, ...sent, headers: { ...bearer(token), ...type, ...headers } })
    return { status: answer.status, etag: answer.headers.get('etag') ?? '', body: (await answer.json()) as T }
  }
  const command = (path: string, asked: Asked = {}) =>
    ask<RolloutStatus & { code: number; message: string }>(path, { method: 'POST', ...asked })
  const rollouts = () => ask<readonly RolloutStatus[]>('/rollouts')

  const rollout = (name: string) => ({
    name,
    steps: [
      { percent: 10, observations: 5 },
      { percent: 50, hold: '1h' },
    ],
  })
  const rule = (operations: string, name: string) => ({ operations, mode: 'v1', canary: { mode: 'diff-v2', rollout: rollout(name) } })
  const MODES = { default: 'v1', rules: [rule('iam.*', 'iam'), rule('registry.*', 'registry')] }

  beforeEach(async () => {
    await ask('/modes', { method: 'PUT', body: { default: 'v1' } })
    await ask('/modes', { method: 'PUT', body: MODES })
  })

  it('a command needs no body, whatever type it names', async () => {
    const { status, body } = await command('/rollouts/iam/pause', { headers: { 'content-type': 'application/json' } })
    expect([status, body.phase]).toEqual([200, 'paused'])
    expect((await ask('/modes', { method: 'PUT', headers: { 'content-type': 'application/json' } })).status).toBe(400)
  })

  describe('GET /rollouts', () => {
    it('tells every rollout in force', async () => {
      expect((await rollouts()).body).toMatchObject([
        { name: 'iam', operations: ['iam.*'], phase: 'running', step: 1, steps: 2, percent: 10, wanted: 5 },
        { name: 'registry', phase: 'running' },
      ])
    })

    it('is repeated by GET /modes, and a PUT that sends it back ignores it', async () => {
      await command('/rollouts/iam/promote')
      const { status, body } = await ask<object>('/modes')
      expect(body).toMatchObject({
        default: 'v1',
        rollouts: [
          { name: 'iam', step: 2 },
          { name: 'registry', step: 1 },
        ],
      })
      expect((await ask('/modes', { method: 'PUT', body })).status).toBe(status)
      expect((await rollouts()).body).toMatchObject([{ step: 2, percent: 50 }, { step: 1 }])
    })

    it('tells the operations that each decides about', async () => {
      const rules = [{ operations: 'iam.roles.list', mode: 'v1' }, rule('iam.roles.*', 'iam'), rule('*', 'all')]
      await ask('/modes', { method: 'PUT', body: { default: 'v1', rules } })
      const [iam, all] = (await rollouts()).body
      const others = mappings.flatMap(({ operations }) => operations).filter(({ id }) => !id.startsWith('iam.roles.'))
      expect(iam?.reach).toEqual(['iam.roles.create', 'iam.roles.update', 'iam.roles.delete'])
      expect(all?.reach).toEqual(others.flatMap(({ id, kind }) => (kind === 'v1-only' ? [] : id)))
      expect(all?.reach.length).toBeLessThan(others.length)
    })

    it('is missing from GET /modes without rollouts', async () => {
      await ask('/modes', { method: 'PUT', body: { default: 'v1' } })
      expect((await ask('/modes')).body).not.toHaveProperty('rollouts')
      expect((await rollouts()).body).toEqual([])
    })
  })

  describe('POST /rollouts/NAME/COMMAND', () => {
    it.each([
      ['pause', { phase: 'paused', percent: 10 }],
      ['promote', { phase: 'running', step: 2, percent: 50 }],
      ['abort', { phase: 'aborted', percent: 0 }],
    ])('answers %s with the new status, and tells who gave it', async (name, status) => {
      const answer = await command(`/rollouts/iam/${name}`)
      expect(answer).toMatchObject({ status: 200, body: { name: 'iam', ...status, reason: expect.stringContaining('token alice') } })
      expect((await rollouts()).body).toMatchObject([status, { phase: 'running', step: 1 }])
    })

    it('resumes what was paused, and takes a body without looking at it', async () => {
      await command('/rollouts/iam/pause', { body: { why: 'lunch' } })
      expect((await command('/rollouts/iam/resume')).body).toMatchObject({ phase: 'running', step: 1 })
    })

    it('refuses a command that makes no sense with the reason', async () => {
      await command('/rollouts/iam/abort')
      expect(await command('/rollouts/iam/promote')).toMatchObject({
        status: 400,
        body: { code: 9, message: 'The rollout iam is aborted: only other steps, or another name, start it again.', details: [] },
      })
    })

    it.each([
      ['iamm', 'there is no rollout "iamm"; did you mean "iam"?'],
      ['nothing', 'there is no rollout "nothing"; GET /rollouts lists them'],
      ['%00', 'there is no rollout "\\u0000"; GET /rollouts lists them'],
    ])('does not know %s', async (name, message) => {
      expect(await command(`/rollouts/${name}/pause`)).toMatchObject({ status: 404, body: { code: 5, message } })
    })

    it('knows no name if no rule has a rollout', async () => {
      await ask('/modes', { method: 'PUT', body: { default: 'v1' } })
      expect((await command('/rollouts/iam/pause')).body.message).toBe('there is no rollout "iam"; no rule has one')
    })

    it('is all that moves a rollout', async () => {
      const before = await rollouts()
      for (const method of ['GET', 'PUT', 'DELETE']) {
        expect(await ask('/rollouts/iam/abort', { method })).toMatchObject({
          status: 405,
          body: { code: 12, message: expect.stringContaining('POST') },
        })
      }
      expect((await command('/rollouts/iam/finish')).status).toBe(404)
      expect(await rollouts()).toEqual(before)
    })

    it.each([
      ['stop', 'there is no rollout command "stop"; use pause, resume, promote, abort'],
      ['puase', 'there is no rollout command "puase"; did you mean "pause"?'],
    ])('is none of the name %s', async (word, message) => {
      for (const method of ['GET', 'POST']) {
        expect(await ask(`/rollouts/iam/${word}`, { method })).toMatchObject({ status: 404, body: { code: 5, message } })
      }
    })

    it.each([
      ['nobody', { token: 'another' }, 401],
      ['a reader', { token: 'the-token-to-read' }, 403],
      ['a foreign page', { headers: { origin: 'http://evil.example' } }, 403],
      ['a page of another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ])('takes nothing from %s', async (_, asked, status) => {
      const before = await rollouts()
      expect((await command('/rollouts/iam/abort', asked)).status).toBe(status)
      expect(await rollouts()).toEqual(before)
    })
  })

  describe('If-Match', () => {
    it('lets one of two promote who saw the same rollouts', async () => {
      const { etag } = await rollouts()
      const headers = { 'if-match': etag }
      const first = await command('/rollouts/iam/promote', { headers })
      const second = await command('/rollouts/iam/promote', { headers })
      expect([first.status, second.status]).toEqual([200, 412])
      expect(second).toMatchObject({ etag: first.etag, body: { code: 9, message: expect.stringContaining('read GET /rollouts again') } })
      expect((await rollouts()).etag).toBe(first.etag)
      expect((await command('/rollouts/iam/pause', { headers: { 'if-match': first.etag } })).status).toBe(200)
    })

    it.each([
      ['"other"', 412],
      ['other', 400],
      ['*', 200],
    ])('%s gets %i', async (header, status) => {
      expect((await command('/rollouts/iam/pause', { headers: { 'if-match': header } })).status).toBe(status)
    })
  })
})
