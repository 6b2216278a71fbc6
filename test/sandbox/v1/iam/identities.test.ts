import { describe, expect, test } from 'vitest'
import { DIALECTS, startV1 } from '../harness.ts'

const KEYS = JSON.stringify({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'AAAA' }] })
const claim = { issuer: 'https://issuer.example.com', subject: 'build' }

describe.each(DIALECTS)('identities, %s dialect', (dialect) => {
  test('show the whole resource with only the set relationship and its set members', async () => {
    const { send, organization, world } = startV1(dialect)
    const made = await send(`POST /iam/v1/identities/${organization}`, {
      name: 'build',
      claimMatch: { ...claim, claims: { some_key: '1' } },
    })
    const now = world.clock.now().toISOString()
    const common = { id: made.body.id, name: 'build', description: '' }
    const relation = { ...claim, claims: { some_key: '1' } }
    const expected =
      dialect === 'published'
        ? { ...common, createdAt: now, updatedAt: now, lastSeen: now, claimMatch: { ...relation, claimPatterns: {} } }
        : {
            ...common,
            created_at: now,
            updated_at: now,
            last_seen: now,
            claim_match: { ...relation, claim_patterns: {} },
            group_id: organization,
          }
    expect(made).toEqual({ status: 200, body: expected })
    expect((await send(`GET /iam/v1/identities?id=${made.body.id}`)).body.items).toEqual([expected])
  })
})

describe('writing', () => {
  test('accepts each kind of relationship in v1 names', async () => {
    const { send, organization } = startV1('published')
    const create = async (relationship: object) =>
      (await send(`POST /iam/v1/identities/${organization}`, { name: 'x', ...relationship })).body
    const keys = { issuer: 'https://i', subject: 's', issuerKeys: KEYS, expiration: '2026-07-01T00:00:00Z' }
    expect(await create({ static: keys })).toMatchObject({
      static: { issuer: 'https://i', expiration: '2026-07-01T00:00:00.000Z', audiences: [] },
    })
    expect(await create({ servicePrincipal: 'INGESTER' })).toMatchObject({ servicePrincipal: 'INGESTER' })
    const aws = { awsAccount: '123456789012', arn: 'arn:aws:iam::1:role/x', userIdPattern: '.*' }
    expect((await create({ aws_identity: aws })).awsIdentity).toEqual(aws)
  })

  test('names members in errors as v1 does', async () => {
    const { send, organization } = startV1()
    const late = { issuer: 'https://i', subject: 's', issuer_keys: KEYS, expiration: '2036-01-01T00:00:00Z' }
    const refused = await send(`POST /iam/v1/identities/${organization}`, { name: 'x', static: late })
    expect(refused.body.message).toBe('Invalid argument: static.expiration: must be at most 365 days away')
  })

  test('resets the description, replaces a named relationship and keeps the company', async () => {
    const { send, organization, world } = startV1()
    const { body } = await send(`POST /iam/v1/identities/${organization}`, {
      name: 'build',
      description: 'd',
      claim_match: { ...claim, audience: 'a' },
    })
    world.store.identities.put({ ...world.store.identities.get(body.id)!, company: 'Example' })
    const kept = await send(`PUT /iam/v1/identities/${body.id}`, { name: 'build' })
    expect(kept.body).toMatchObject({ description: '', claim_match: { ...claim, audience: 'a' } })
    const replaced = await send(`PUT /iam/v1/identities/${body.id}`, { name: 'build', claim_match: claim })
    expect(replaced.body.claim_match).toEqual({ ...claim, claims: {}, claim_patterns: {} })
    const switched = await send(`PUT /iam/v1/identities/${body.id}`, { name: 'build', service_principal: 'INGESTER' })
    expect(switched.body).not.toHaveProperty('claim_match')
    expect(world.store.identities.get(body.id)?.company).toBe('Example')
  })

  test('deletes the bindings of a deleted identity too', async () => {
    const { send, world } = startV1()
    const bot = world.store.identities.values().find(({ name }) => name === 'ci-bot')
    expect(await send(`DELETE /iam/v1/identities/${bot?.uid}`)).toEqual({ status: 200, body: {} })
    expect(world.store.roleBindings.values().some(({ identityUid }) => identityUid === bot?.uid)).toBe(false)
  })
})

describe('lookup', () => {
  const path = (issuer: string, subject: string) => `GET /iam/v1/identities/lookup?issuer=${encodeURIComponent(issuer)}&subject=${subject}`

  test('answers the whole identity to any caller with a token', async () => {
    const { send } = startV1()
    const found = await send(path('https://accounts.example.com', 'alice@example.com'), undefined, { token: 'demo-outsider' })
    expect(found).toMatchObject({ status: 200, body: { name: 'alice@example.com' } })
  })

  test('answers NOT_FOUND for an unregistered identity', async () => {
    const { send } = startV1()
    expect(await send(path('https://nowhere', 'nobody'))).toMatchObject({ status: 404, body: { code: 5, details: [] } })
    expect((await send('GET /iam/v1/identities/lookup?issuer=x')).body.message).toBe('Invalid argument: subject: is required')
  })
})

describe.each(DIALECTS)('own metadata, %s dialect', (dialect) => {
  test('changes the members that the body names', async () => {
    const { send, world } = startV1(dialect)
    await send('PATCH /iam/v1/identities/metadata', { onboardingQuestions: { jobTitle: 'dev', product: 'images', providers: ['x'] } })
    const { body } = await send('PATCH /iam/v1/identities/metadata', {
      onboarding_questions: { company_name: 'Example', product: '' },
      updatesOptIn: true,
    })
    const questions = body[dialect === 'published' ? 'onboardingQuestions' : 'onboarding_questions']
    const spelled = dialect === 'published' ? { companyName: 'Example', jobTitle: 'dev' } : { company_name: 'Example', job_title: 'dev' }
    expect(questions).toMatchObject({ ...spelled, product: '', providers: [] })
    expect(body).toMatchObject({ name: 'alice@example.com', updatesOptIn: true })
    const alice = world.store.identities.values().find(({ name }) => name === 'alice@example.com')
    expect(alice).toMatchObject({ company: 'Example', metadata: { jobTitle: 'dev' } })
  })
})
