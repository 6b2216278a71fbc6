import * as make from '../../expect.ts'
import { anything, inFolder, items, ok, refused, same, shows, time } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import { type Case, map } from '../../target.ts'

const IDENTITIES = '/iam/v1/identities'

const keys = { issuer: 'https://keys.example', subject: 'puller', issuer_keys: make.publicKeys }
const aws = { aws_account: '123456789012', arn: 'arn:aws:sts::123456789012:assumed-role/r/s', user_id: 'AROA:s' }

/** facts §3.2, §3.3, §13 */
export const identities: readonly Case[] = [
  inFolder('identities: a claim match with all members', ['iam.identities.create', 'iam.identities.list'], async (api, parent) => {
    const claims = { claims: map({ snake_key: '1', camelKey: '2' }), claim_patterns: map({ 'job/name': '^a.*' }) }
    const claim_match = { issuer: 'https://i.example', subject_pattern: '^robot-.*$', audience: 'https://a.example', ...claims }
    const made = await make.identity(api, parent, { description: 'words', claim_match })
    const expected = shape.identity(parent, { id: made.id, description: 'words', claim_match })
    ok(api, { status: 200, type: null, body: made }, expected)
    ok(api, await api.get(IDENTITIES, { id: made.id }), { items: [expected] })
    const patterns = { issuer_pattern: '^https://.*$', subject: 's', audience_pattern: '.*' }
    const second = await make.identity(api.otherwise, parent, { name: 'second', claim_match: patterns })
    const shown = { ...patterns, claims: map({}), claim_patterns: map({}) }
    ok(api, { status: 200, type: null, body: second }, shape.identity(parent, { name: 'second', claim_match: shown }))
  }),
  inFolder(
    'identities: static keys, AWS and service principals',
    ['iam.identities.create', 'iam.identities.list'],
    { roles: ['admin'] },
    async (api, parent) => {
      const identity = (fields: Record<string, unknown>, by = api) => make.identity(by, parent, { claim_match: undefined, ...fields })
      const fixed = await identity({ static: { ...keys, audiences: ['https://a.example'] } })
      const shown = { ...keys, expiration: time, audiences: ['https://a.example'] }
      ok(api, { status: 200, type: null, body: fixed }, shape.identity(parent, { static: shown }))
      const amazon = await identity({ aws_identity: aws })
      ok(api, { status: 200, type: null, body: amazon }, shape.identity(parent, { aws_identity: aws }))
      const pattern = { aws_account: '123456789012', arn_pattern: '.*', user_id_pattern: '.*' }
      const wide = await identity({ aws_identity: pattern })
      ok(api, { status: 200, type: null, body: wide }, shape.identity(parent, { aws_identity: pattern }))
      const service = await identity({ service_principal: 'CATALOG_SYNCER' }, api.as('admin'))
      ok(api, { status: 200, type: null, body: service }, shape.identity(parent, { service_principal: 'CATALOG_SYNCER' }))
      same(items(await api.get(IDENTITIES, { 'uidp.children_of': parent })).length, 4, 'all of them')
    },
  ),
  inFolder('identities: a PUT replaces what it carries', ['iam.identities.update'], async (api, parent) => {
    const { id } = await make.identity(api, parent, { description: 'words' })
    const path = `${IDENTITIES}/${id}`
    const next = { issuer: 'https://other.example', subject_pattern: '.*' }
    const shown = { ...next, claims: map({}), claim_patterns: map({}) }
    ok(
      api,
      await api.put(path, { name: 'renamed', claim_match: next }),
      shape.identity(parent, { id, name: 'renamed', claim_match: shown }),
    )
    ok(api, await api.put(path, { name: 'kept' }), shape.identity(parent, { name: 'kept', claim_match: shown }))
    const read = items(await api.get(IDENTITIES, { id }))[0]
    const written = await api.send({ method: 'PUT', path, text: JSON.stringify({ ...read, description: 'back' }) })
    ok(api, written, shape.identity(parent, { name: 'kept', description: 'back', claim_match: shown }))
    ok(api, await api.otherwise.put(path, { name: 'aws', aws_identity: aws }), shape.identity(parent, { name: 'aws', aws_identity: aws }))
    ok(api, await api.get(IDENTITIES, { id }), { items: [shape.identity(parent, { name: 'aws', aws_identity: aws })] })
  }),
  inFolder(
    'identities: refusals',
    ['iam.identities.create', 'iam.identities.update', 'iam.identities.delete'],
    { roles: ['viewer', 'outsider'] },
    async (api, parent) => {
      const path = `${IDENTITIES}/${parent}`
      const pattern = 'Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"'
      refused(await api.post(path, {}), 3, pattern)
      refused(await api.post(path, { name: 'Robot', claim_match: make.claimMatch }), 3, pattern)
      refused(await api.post(path, { name: 'robot' }), 3)
      refused(await api.post(path, { name: 'robot', claim_match: { issuer: 'https://i.example' } }), 3)
      refused(await api.post(path, { name: 'robot', aws_identity: { aws_account: '12', arn: 'a', user_id: 'u' } }), 3)
      refused(await api.inAnyWords.post(path, { name: 'robot', claim_match: make.claimMatch, static: keys }), 3)
      refused(await api.inAnyWords.post(path, { name: 'robot', service_principal: 'BAKER' }), 3)
      refused(await api.put(`${path}/${'0'.repeat(16)}`, { name: 'robot' }), 5)
      for (const role of ['viewer', 'outsider'] as const) {
        refused(await api.as(role).post(path, { name: 'robot', claim_match: make.claimMatch }), 7)
        refused(await api.as(role).put(`${path}/${'0'.repeat(16)}`, { name: 'robot' }), 7)
        refused(await api.as(role).delete(`${path}/${'0'.repeat(16)}`), 7)
      }
      refused(await api.as('nobody').post(path, { name: 'robot', claim_match: make.claimMatch }), 16)
    },
  ),
  inFolder('identities: deleted with its bindings, and again', ['iam.identities.delete'], async (api, parent) => {
    const viewer = await make.builtIn(api, 'viewer')
    const { id } = await make.identity(api, parent)
    const bound = await make.binding(api, parent, id, viewer.id)
    ok(api, await api.delete(`${IDENTITIES}/${id}`), {})
    ok(api, await api.get('/iam/v1/rolebindings', { id: bound.id }), { items: [] })
    ok(api, await api.delete(`${IDENTITIES}/${id}`), {})
    ok(api, await api.get(IDENTITIES, { id }), { items: [] })
    refused(await api.put(`${IDENTITIES}/${id}`, { name: 'gone' }), 5)
  }),
  inFolder('identities: lookup', ['iam.identities.lookup'], { roles: ['admin', 'nobody'] }, async (api, parent) => {
    const keyed = { ...keys, subject: api.name() }
    const { id } = await make.identity(api, parent, { claim_match: undefined, static: keyed })
    const shown = shape.identity(parent, { id, static: { ...keyed, expiration: time, audiences: [] } })
    ok(api, await api.get(`${IDENTITIES}/lookup`, { issuer: keyed.issuer, subject: keyed.subject }), shown)
    refused(await api.as('admin').get(`${IDENTITIES}/lookup`, { issuer: 'https://nowhere.example', subject: 'nobody' }), 5)
    refused(await api.as('nobody').get(`${IDENTITIES}/lookup`, { issuer: 'https://nowhere.example', subject: 'nobody' }), 16)
    refused(await api.get(`${IDENTITIES}/lookup`, { issuer: ['a', 'b'] }), 3, 'too many values for field "issuer": a, b')
  }),
  shows('identities: own metadata', ['iam.identity_metadata.update'], async (api) => {
    const path = `${IDENTITIES}/metadata`
    const questions = {
      company_name: 'Example',
      product: 'images',
      job_title: 'engineer',
      utm_campaign: 'c',
      utm_content: 'o',
      utm_medium: 'm',
      utm_source: 's',
      utm_term: 't',
      latest_form_submit_url: 'https://example.com/form',
      latest_internal_referring_url: 'https://example.com/from',
      hubspot_utk: 'u',
      self_serve: true,
    }
    const shown = { onboarding_questions: { ...questions, providers: [] }, name: anything, given_name: anything, family_name: anything }
    ok(api, await api.patch(path, { onboarding_questions: questions, updatesOptIn: true }), { ...shown, updatesOptIn: true })
    const part = { onboarding_questions: { job_title: 'lead' } }
    const merged = { ...shown, onboarding_questions: { ...questions, job_title: 'lead', providers: [] }, updatesOptIn: true }
    ok(api, await api.otherwise.patch(path, part), merged)
    ok(api, await api.patch(path, {}), merged)
    ok(api, await api.patch(path, { updatesOptIn: false }), { ...merged, updatesOptIn: false })
    refused(await api.as('nobody').patch(path, {}), 16)
  }),
]
