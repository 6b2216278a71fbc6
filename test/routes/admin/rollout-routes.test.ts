import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import { bearer, startProxy } from '../../stage/proxy.ts'

const proxy = await startProxy({
  'upstream.v2': 'http://127.0.0.1:1',
  'upstream.v1': 'http://127.0.0.1:1',
  'admin.tokens': [{ name: 'alice', token: 'the-token-of-alice' }],
  'admin.readToken': 'the-token-to-read',
})
afterAll(() => proxy.close())

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

describe('a command', () => {
  it('needs no body, whatever type it names', async () => {
    const { status, body } = await command('/rollouts/iam/pause', { headers: { 'content-type': 'application/json' } })
    expect([status, body.phase]).toEqual([200, 'paused'])
    expect((await ask('/modes', { method: 'PUT', headers: { 'content-type': 'application/json' } })).status).toBe(400)
  })
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
