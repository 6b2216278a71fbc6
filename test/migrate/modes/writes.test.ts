import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Comparison, Entry, WouldSend } from '../../../src/migrate/records/record.ts'
import { userUid } from '../../../src/sandbox/data/data.ts'
import { MODES } from '../../../src/serve/sides.ts'
import { action, type ErrorForm, int, number, readOnly, resource, text } from '../../../src/tables/language.ts'
import { until } from '../../stage/clocks.ts'
import { type Stage, startStage } from '../../stage/stage.ts'

const directory = mkdtempSync(join(tmpdir(), 'crosswalk-writes-'))
afterAll(() => rmSync(directory, { recursive: true }))

let stage: Stage

let files = 0
const start = async (mode: (typeof MODES)[number]) => {
  files += 1
  const file = join(directory, `${files}.ndjson`)
  stage = await startStage({ mode, proxy: { 'records.file': file, 'records.values': 'shown' } })
  return file
}

const isWrite = ({ method, path }: { method: string; path: string }) => method !== 'GET' && !path.startsWith('/-/')
const writes = async () =>
  (await stage.journal()).filter(isWrite).map(({ method, path }) => `${method} ${path.split('/').slice(1, 4).join('/')}`)

/** Returns the records of a proxy that has stopped. */
const records = (file: string): readonly Entry[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

describe.each(MODES)('in mode %s', (mode) => {
  it('a write reaches exactly one side, and both sides then read the resource', async () => {
    await start(mode)
    const { organization } = stage.sandbox
    const made = await stage.request('POST', `/iam/v1/groups/${organization}`, { body: { name: 'made', description: 'one' } })
    expect(made.status).toBe(200)
    await stage.settled()
    const changed = await stage.request('PUT', `/iam/v1/groups/${made.body.id}`, { body: { name: 'made', description: 'two' } })
    await stage.settled()
    const gone = await stage.request('DELETE', `/iam/v1/groups/${made.body.id}`)
    expect([changed.status, changed.body.description, gone.status]).toEqual([200, 'two', 200])
    await stage.settled()
    const methods = { v1: ['POST', 'PUT', 'DELETE'], v2: ['POST', 'PATCH', 'DELETE'] }
    const side = mode === 'v1' || mode === 'diff-v1' ? 'v1' : 'v2'
    expect(await writes()).toEqual(methods[side].map((method) => `${method} iam/${side}/groups`))
    const { operations } = await stage.evidence()
    const checked = operations.map(({ operation, matches, mismatches }) => [operation, matches, mismatches])
    expect(checked).toEqual(mode.startsWith('diff') ? ['create', 'delete', 'update'].map((verb) => [`iam.groups.${verb}`, 1, 0]) : [])
  })

  it('a write that fails is not sent elsewhere', async () => {
    await start(mode)
    await stage.fault({ match: 'POST /iam/v', status: 503 })
    const answer = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
    expect(answer.status).toBe(503)
    await stage.settled()
    expect(await writes()).toHaveLength(1)
  })
})

it('the v2 call of a write is recorded if v1 served the write, and is not sent', async () => {
  const file = await start('diff-v1')
  const { organization } = stage.sandbox
  const made = await stage.request('POST', `/registry/v1/repos/${organization}`, { body: { name: 'made', description: 'one' } })
  await stage.request('PUT', `/registry/v1/repos/${made.body.id}`, { body: { name: 'made', catalogTier: 'BASE' } })
  await stage.settled()
  expect((await writes()).filter((write) => write.includes('/v2/'))).toEqual([])
  await stage.servers[0].close()
  const sent = records(file).filter((entry): entry is WouldSend => entry.kind === 'would-send')
  expect(sent.map(({ operation, call }) => ({ operation, ...call }))).toEqual([
    {
      operation: 'registry.repos.create',
      method: 'POST',
      path: `/registry/v2/repos/${organization}`,
      query: [],
      body: expect.objectContaining({ name: 'made', description: 'one' }),
    },
    {
      operation: 'registry.repos.update',
      method: 'PATCH',
      path: `/registry/v2/repos/${made.body.id}`,
      query: [['updateMask', '*']],
      body: expect.objectContaining({ catalogTier: 'CATALOG_TIER_BASE' }),
    },
  ])
})

/** Returns the first comparison of an operation, and whether it is the only one and counts against v2. */
const checkedOf = async (operation: string) => {
  await stage.settled()
  const found = (await (await fetch(`${stage.adminUrl}/comparisons?operation=${operation}`)).json()) as Comparison[]
  expect(found.map(({ outcome }) => outcome)).toHaveLength(1)
  return { outcome: found[0]?.outcome, reason: found[0]?.reason, places: found[0]?.totals.map(({ where }) => where) }
}

const NOT_THERE = { outcome: 'mismatch', reason: 'the write was answered, but the resource is not there', places: [] }
const STILL_THERE = { outcome: 'mismatch', reason: 'the delete was answered, but the resource is still there', places: [] }
const otherValues = (...places: string[]) => {
  return { outcome: 'mismatch', reason: 'the write was answered, but the resource has other values', places }
}

/** Creates something at the sandbox itself, beside the proxy. */
const made = async (path: string, body: object) => {
  const headers = { authorization: `Bearer ${stage.sandbox.tokens.owner}` }
  const answer = await fetch(`${stage.sandbox.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(answer.status).toBe(200)
  return answer.json() as Promise<{ id: string; created_at: string }>
}

/** Makes an identity and a role, which a binding needs. */
const robotAndReader = async (organization: string) => {
  const robot = { name: 'robot', claim_match: { issuer: 'https://x.example', subject: 's' } }
  const { id: identity } = await made(`/iam/v1/identities/${organization}`, robot)
  const { id: role } = await made(`/iam/v1/roles/${organization}`, { name: 'reader', capabilities: ['groups.list'] })
  return { identity, role }
}

const lose = (match: string, body: object) => stage.fault({ match, times: 1, status: 200, body: JSON.stringify(body) })

describe('a write that is read back when the process ends', () => {
  it.each([
    ['diff-v1', 'GET /iam/v2/groups', {}],
    ['diff-v2', 'GET /iam/v2/groups', {}],
    ['diff-v2', 'GET /iam/v1/groups', { status: 401 }],
  ] as const)('in mode %s is left out by chance while %s waits', async (mode, slow, answer) => {
    const file = await start(mode)
    await stage.request('GET', '/iam/v1/roles')
    await stage.settled()
    if ('status' in answer) await stage.fault({ match: 'POST /iam/v2/groups', times: 1, ...answer })
    await stage.fault({ match: slow, delayMs: 60_000 })
    await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'made' } })
    const isHeld = async () => (await stage.journal()).some(({ method, path }) => `${method} ${path}`.startsWith(slow))
    await until(isHeld)
    await stage.close()
    const about = records(file).filter((entry) => 'operation' in entry && entry.operation === 'iam.groups.create')
    expect(about.filter(({ kind }) => kind === 'comparison')).toEqual([])
    expect(about).toContainEqual(expect.objectContaining({ kind: 'tally', uncompared: { waiting: 1 } }))
  })
})

describe('a write that v2 answers but loses', () => {
  const found = async (verb: string) => {
    await stage.settled()
    const { operations } = await stage.evidence()
    expect(operations.find(({ operation }) => operation === `iam.groups.${verb}`)).toMatchObject({ mismatches: 1, matches: 0 })
    const [first] = (await (await fetch(`${stage.adminUrl}/comparisons?operation=iam.groups.${verb}`)).json()) as Comparison[]
    return first?.reason
  }

  it.each([429, 503])('proves nothing if v1 answers %i to the second read, which would show it', async (status) => {
    await start('diff-v2')
    const uid = `${stage.sandbox.organization}/00000000000000aa`
    await lose('POST /iam/v2/groups', { uid, name: 'ghost' })
    await stage.fault({ match: 'GET /iam/v1/groups', times: 1, delayMs: 0 })
    await stage.fault({ match: 'GET /iam/v1/groups', times: 1, status })
    await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: 'ghost' } })
    expect(await checkedOf('iam.groups.create')).toEqual({
      outcome: 'inconclusive',
      reason: `v1 answered HTTP ${status} to the read of what was written`,
      places: [],
    })
    const { operations } = await stage.evidence()
    expect(operations).toMatchObject([{ operation: 'iam.groups.create', n: 0, matches: 0, uncompared: { v1Failed: 1 } }])
  })

  it.each([
    { asked: { name: 'made', description: 'two' }, of: 'a text' },
    { asked: { name: 'other' }, of: 'a name without the description' },
  ])('is detected if v2 answers what it has in place of $of', async ({ asked }) => {
    await start('diff-v2')
    const group = await made(`/iam/v1/groups/${stage.sandbox.organization}`, { name: 'made', description: 'one' })
    const headers = { authorization: `Bearer ${stage.sandbox.tokens.owner}` }
    const list = (await (await fetch(`${stage.sandbox.url}/iam/v2/groups`, { headers })).json()) as { groups: readonly { uid: string }[] }
    await lose('PATCH /iam/v2/groups', list.groups.find(({ uid }) => uid === group.id) ?? {})
    await stage.request('PUT', `/iam/v1/groups/${group.id}`, { body: asked })
    expect(await found('update')).toBe('the write was answered, but not with what it asked for')
  })

  it.each(['create', 'update', 'delete'])('is detected if it was the %s of an account association', async (verb) => {
    await start('diff-v2')
    const group = (await made(`/iam/v1/groups/${stage.sandbox.organization}`, { name: 'clouds' })).id
    const path = `/iam/v1/account_associations/${group}`
    const body = { name: 'cloud', amazon: { account: '123456789012' } }
    if (verb !== 'create') await made(path, { ...body, amazon: { account: '000000000000' } })
    const [method, sent] = ({ create: ['POST', 'POST'], update: ['PUT', 'PATCH'], delete: ['DELETE', 'DELETE'] } as const)[verb as 'create']
    const time = new Date(Date.now() + 1000).toISOString()
    await lose(`${sent} /iam/v2/accountAssociations`, verb === 'delete' ? {} : { uid: group, ...body, createTime: time, updateTime: time })
    expect((await stage.request(method, path, verb === 'delete' ? {} : { body })).status).toBe(200)
    const expected = {
      create: NOT_THERE,
      update: { ...NOT_THERE, reason: 'the write was answered, but the resource is as old as before' },
      delete: STILL_THERE,
    }
    expect(await checkedOf(`iam.account_associations.${verb}`)).toEqual(expected[verb as 'create'])
  })

  it('is detected if it was the second of a batch', async () => {
    await start('diff-v2')
    const { organization } = stage.sandbox
    const { identity, role } = await robotAndReader(organization)
    const first = await made(`/iam/v1/rolebindings/${organization}`, { identity, role })
    const parts = { createTime: first.created_at, group: { uid: organization }, role: { uid: role }, identity: { uid: identity } }
    await lose('POST /iam/v2/roleBindings:batchCreate', {
      roleBindings: [first.id, `${organization}/00000000000000aa`].map((uid) => ({ uid, ...parts })),
    })
    await stage.request('POST', `/iam/v1/rolebindings/batch/${organization}`, {
      body: [
        { identity, role },
        { identity, role },
      ],
    })
    expect(await checkedOf('iam.role_bindings.create_batch')).toEqual(NOT_THERE)
  })

  it('is no alarm if the resource was deleted right after', async () => {
    await start('diff-v2')
    for (let nth = 0; nth < 10; nth += 1) {
      const { body } = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, { body: { name: `made-${nth}` } })
      await stage.request('DELETE', `/iam/v1/groups/${body.id}`, { token: stage.sandbox.tokens.admin })
    }
    await stage.settled()
    expect((await stage.evidence()).operations.map(({ mismatches }) => mismatches)).toEqual([0, 0])
  })
})

describe('a write that v2 did well', () => {
  const judged = async () => {
    await stage.settled()
    return (await stage.evidence()).operations.map(({ matches, mismatches }) => ({ matches, mismatches }))
  }
  const WELL = [{ matches: 1, mismatches: 0 }]
  const synced = { name: 'synced', sync_config: { source: 'chainguard/nginx' } }

  it.each([
    { of: 'a group', path: '/iam/v1/groups', body: { name: 'made', kind: 'ORG_KIND_UNSPECIFIED', verified: false } },
    { of: 'a synced repo', path: '/registry/v1/repos', body: { ...synced, description: '', catalog_tier: 'UNKNOWN', bundles: [] } },
  ])('is no alarm if the create of $of writes unset values out', async ({ path, body }) => {
    await start('diff-v2')
    expect((await stage.request('POST', `${path}/${stage.sandbox.organization}`, { body })).status).toBe(200)
    expect(await judged()).toEqual(WELL)
  })

  it('is no alarm if it accepts a document twice', async () => {
    await start('diff-v2')
    const body = { document_ids: ['skills-tos.v1', 'skills-tos.v1'] }
    expect((await stage.request('POST', `/iam/v1/terms/${stage.sandbox.organization}`, { body })).status).toBe(200)
    expect(await judged()).toEqual(WELL)
  })

  it('is no alarm if a batch names groups of its own, which v1 ignores', async () => {
    await start('diff-v2')
    const binding = { ...(await robotAndReader(stage.sandbox.organization)), id: '', group: 'another' }
    const path = `/iam/v1/rolebindings/batch/${stage.sandbox.organization}`
    expect((await stage.request('POST', path, { body: [binding] })).status).toBe(200)
    expect(await judged()).toEqual(WELL)
  })

  it.each(['diff-v1', 'diff-v2'] as const)('is judged in mode %s if it repeats what v2 decides', async (mode) => {
    await start(mode)
    const repo = await made(`/registry/v1/repos/${stage.sandbox.organization}`, synced)
    const body = { ...repo, description: 'two' }
    expect((await stage.request('PUT', `/registry/v1/repos/${repo.id}`, { body })).status).toBe(200)
    expect(await judged()).toEqual(WELL)
  })
})

describe('what else is read after a write', () => {
  const provider = async () => {
    const { organization } = stage.sandbox
    const default_role = (await made(`/iam/v1/roles/${organization}`, { name: 'reader', capabilities: ['groups.list'] })).id
    const oidc = { issuer: 'https://login.example', client_id: 'client', client_secret: 'a secret' }
    const { id } = await made(`/iam/v1/identityProviders/${organization}`, { name: 'login', default_role, oidc })
    const mapping = (name: string) => ({ external_group_id: name, role_uidp: default_role, scope: organization })
    return { id, mapping }
  }

  it('finds a group role mapping that v2 answers but loses', async () => {
    await start('diff-v2')
    const { id, mapping } = await provider()
    await lose('POST /iam/v2/externalGroupRoleMappings', { uid: `${id}/00000000000000aa`, identityProviderUid: id })
    await stage.request('POST', `/iam/v1/externalGroupRoleMappings/${id}`, { body: mapping('staff') })
    expect(await checkedOf('iam.external_group_role_mappings.create')).toEqual(NOT_THERE)
  })

  it('finds the second mapping of a batch that is still there', async () => {
    await start('diff-v2')
    const { id, mapping } = await provider()
    const ids = [`${id}/00000000000000aa`, (await made(`/iam/v1/externalGroupRoleMappings/${id}`, mapping('staff'))).id]
    await lose('POST /iam/v2/externalGroupRoleMappings:batchDelete', { externalGroupRoleMappings: [] })
    const { status } = await stage.request('POST', '/iam/v1/externalGroupRoleMappings:batchDelete', { body: { parent_id: id, ids } })
    expect([status, await checkedOf('iam.external_group_role_mappings.batch_delete')]).toEqual([200, STILL_THERE])
  })

  it('finds a SCIM token that was answered but not made', async () => {
    await start('diff-v2')
    const { id } = await provider()
    await lose('POST /iam/v2/identityProviders', { token: 'cgscim_x', identityProviderUid: id, etag: 'new', endpointUrl: 'x' })
    const { status } = await stage.request('POST', `/iam/v1/identityProviders/${id}:generateScimToken`, { body: {} })
    expect([status, await checkedOf('iam.identity_providers.generate_scim_token')]).toEqual([200, otherValues('/endpoint_url', '/etag')])
  })

  it.each([
    ['generateScimToken', { drop: '/token' }, {}, 'token'],
    ['generateScimToken', { change: { at: '/token', to: '' } }, {}, 'token'],
    ['regenerateScimToken', { drop: '/token' }, {}, 'token'],
    ['regenerateScimToken', { change: { at: '/requestedOverlap', to: '7s' } }, { overlap: '3600s' }, 'requested_overlap'],
    ['revokeScimToken', { drop: '/revokeTime' }, {}, 'revoke_time'],
  ])('finds an answer to %s without what no read shows: %j', async (action, fault, body, name) => {
    await start('diff-v2')
    const { id } = await provider()
    const act = (verb: string, body: object = {}) => stage.request('POST', `/iam/v1/identityProviders/${id}:${verb}`, { body })
    const { etag } = action === 'generateScimToken' ? {} : (await act('generateScimToken')).body
    await stage.settled()
    await stage.fault({ match: `POST /iam/v2/identityProviders/`, times: 1, ...fault })
    expect((await act(action, action === 'regenerateScimToken' ? { ...body, etag } : body)).status).toBe(200)
    const operation = `iam.identity_providers.${action.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
    expect(await checkedOf(operation)).toMatchObject({
      ...{ outcome: 'mismatch', reason: `the write was answered, but ${name} does not hold what it must` },
    })
  })

  it('finds a batch whose answer names nothing', async () => {
    await start('diff-v2')
    const { organization } = stage.sandbox
    await lose('POST /iam/v2/roleBindings:batchCreate', { roleBindings: [] })
    await stage.request('POST', `/iam/v1/rolebindings/batch/${organization}`, { body: [{ identity: 'a', role: 'b' }] })
    const expected = { outcome: 'mismatch', reason: 'the answer does not name what was written', places: [] }
    expect(await checkedOf('iam.role_bindings.create_batch')).toEqual(expected)
  })

  it('counts a write that no read shows by its answer', async () => {
    await start('diff-v2')
    const { status } = await stage.request('PATCH', '/iam/v1/identities/metadata', { body: { updates_opt_in: true } })
    expect([status, await checkedOf('iam.identity_metadata.update')]).toEqual([
      200,
      {
        outcome: 'inconclusive',
        reason: 'cannot be verified: no operation shows what callers have told about themselves',
        places: [],
      },
    ])
  })

  it('finds a document that was not accepted', async () => {
    await start('diff-v2')
    const { organization } = stage.sandbox
    await lose('POST /iam/v2/terms', { group: organization, documentIds: ['skills-tos.v1'] })
    const { status } = await stage.request('POST', `/iam/v1/terms/${organization}`, { body: { document_ids: ['skills-tos.v1'] } })
    expect([status, await checkedOf('iam.terms.accept')]).toEqual([200, otherValues('/document_ids/*')])
  })

  it.each(['specification', 'published'] as const)('finds a nested member that is stored otherwise, in the %s dialect', async (dialect) => {
    stage = await startStage({ mode: 'diff-v2', proxy: { 'v1.dialect': dialect } })
    await stage.fault({ match: 'POST /iam/v2/identities', times: 1, change: { at: '/claimMatch/subject', to: 'other' } })
    const body = { name: 'robot', claim_match: { issuer: 'https://x.example', subject: 's' } }
    await stage.request('POST', `/iam/v1/identities/${stage.sandbox.organization}`, { body })
    expect(await checkedOf('iam.identities.create')).toEqual(otherValues('/claim_match/subject'))
  })

  it('finds the role that the answer to a binding names wrongly', async () => {
    await start('diff-v2')
    const { organization } = stage.sandbox
    const { identity, role } = await robotAndReader(organization)
    await stage.fault({ match: 'POST /iam/v2/roleBindings', times: 1, change: { at: '/role/uid', to: '00000000000000aa' } })
    await stage.request('POST', `/iam/v1/rolebindings/${organization}`, { body: { identity, role } })
    expect(await checkedOf('iam.role_bindings.create')).toEqual(otherValues('/role'))
  })

  it.each(['diff-v1', 'diff-v2'] as const)('knows nothing of what its caller may not read, in mode %s', async (mode) => {
    await start(mode)
    const { organization, tokens } = stage.sandbox
    const folder = (await made(`/iam/v1/groups/${organization}`, { name: 'closed' })).id
    const role = (await made(`/iam/v1/roles/${organization}`, { name: 'creator', capabilities: ['groups.create'] })).id
    await made(`/iam/v1/rolebindings/${folder}`, { identity: userUid('outsider'), role })
    const written = await stage.request('POST', `/iam/v1/groups/${folder}`, { body: { name: 'hidden' }, token: tokens.outsider })
    expect([written.status, (await checkedOf('iam.groups.create')).outcome]).toEqual([200, 'inconclusive'])
  })

  it('finds a lost create beside the delete of another resource', async () => {
    await start('diff-v2')
    const { organization } = stage.sandbox
    const role = (await made(`/iam/v1/roles/${organization}`, { name: 'reader', capabilities: ['groups.list'] })).id
    await stage.clearJournal()
    const body = JSON.stringify({ uid: `${organization}/00000000000000aa`, name: 'ghost' })
    await stage.fault({ match: 'POST /iam/v2/groups', times: 1, delayMs: 300, status: 200, body })
    const created = stage.request('POST', `/iam/v1/groups/${organization}`, { body: { name: 'ghost' } })
    await until(async () => (await stage.journal()).some(({ method }) => method === 'POST'))
    await stage.request('DELETE', `/iam/v1/roles/${role}`)
    await created
    expect(await checkedOf('iam.groups.create')).toEqual(NOT_THERE)
  })
})

it('counts a write whose effect cannot be read', async () => {
  await start('diff-v1')
  const { body: identities } = await stage.request('GET', '/iam/v1/identities?limit=1')
  const metadata = { identity: identities.items[0].id, name: 'x' }
  const { status, body } = await stage.request('PATCH', '/iam/v1/identities/metadata', { body: metadata })
  expect([status, body]).toEqual([200, expect.anything()])
  await stage.settled()
  expect((await stage.evidence()).skipped).toMatchObject({ gone: 0, stranger: 0, pageToken: 0, unreadable: 1 })
})

describe.each(['authors/{author}/books', 'books'])('a write of an API that numbers its %s', (all) => {
  const book = resource('book', {
    v2: '/shop/v2/books',
    plural: 'books',
    fields: { id: readOnly(int('number')), title: text('name'), price: number('price') },
  })
  const one = `${all}/{id}` as const
  const path = `/shop/v1/${all.replace('{author}', '3')}`
  const found = { resource: book, named: { param: 'id' } } as const
  const operations = [
    action('shop.books.get', `GET /shop/v1/${one}`, { v2: `GET /shop/v2/${one}`, answer: book, selects: 'id' }),
    action('shop.books.create', `POST /shop/v1/${all}`, {
      v2: `POST /shop/v2/${all}`,
      request: book,
      answer: book,
      readBack: { resource: book, named: { answer: 'id' } },
    }),
    action('shop.books.update', `PATCH /shop/v1/${one}`, { v2: `PATCH /shop/v2/${one}`, request: book, answer: book, readBack: found }),
    action('shop.books.delete', `DELETE /shop/v1/${one}`, { v2: `DELETE /shop/v2/${one}`, readBack: { ...found, gone: true } }),
  ]
  const errors: ErrorForm = {
    read: ({ status }) => (status === 404 ? { code: 'NOT_FOUND', message: 'none', details: [], foreign: false } : undefined),
    write: ({ http, message: said }) => ({ status: http, body: { message: said } }),
  }
  const tables = { name: 'shop', mappings: [{ domain: 'shop', operations }], differences: [], shapes: {}, errors }

  /** Two services over one book. v2 makes of the body of a write what `written` returns; undefined: it deletes. */
  async function startShop(written: (method: string, body: object) => object | undefined) {
    let kept: object | undefined
    const answer = (response: ServerResponse, body: object | undefined) =>
      void response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? { message: 'none' }))
    const at = (url = '') => url.replace('v2', 'v1') === `${path}/7`
    const inV1 = ({ name, price }: { name?: string; price?: number }) => ({ id: 7, title: name, price })
    return startStage({
      mode: 'diff-v2',
      tables,
      v1: ({ url }, response) => answer(response, kept && at(url) ? inV1(kept) : undefined),
      v2({ method = '', url }, response, sent) {
        if (method === 'GET') return answer(response, at(url) ? kept : undefined)
        kept = written(method, JSON.parse(sent || '{}'))
        answer(response, method === 'DELETE' ? {} : kept)
      },
    })
  }

  const write = async (shop: Awaited<ReturnType<typeof startShop>>) => {
    const body = { title: 'a', price: 1.5 }
    for (const [method, at, sent] of [
      ['POST', path, body],
      ['PATCH', `${path}/7`, body],
      ['DELETE', `${path}/7`],
    ] as const) {
      await shop.request(method, at, sent && { body: sent })
      await shop.settled()
    }
    const { operations: judged } = await shop.evidence()
    return Object.fromEntries(judged.map(({ operation, booked }) => [operation.split('.')[2], booked]))
  }

  const same = { uses: 1, same: 1 }
  const wrong = { uses: 1, wrong: 1 }

  it('is read where it was written', async () => {
    const shop = await startShop((method, body) => (method === 'DELETE' ? undefined : { number: 7, ...body }))
    expect(await write(shop)).toEqual({ create: same, update: same, delete: same })
  })

  it('is found to be lost', async () => {
    const shop = await startShop((_, body) => ({ number: 7, name: 'a', ...body, price: 2.5 }))
    expect(await write(shop)).toEqual({ create: wrong, update: wrong, delete: wrong })
  })
})
