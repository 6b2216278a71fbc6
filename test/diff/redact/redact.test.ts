import { describe, expect, it } from 'vitest'
import {
  createRedactor,
  isSecretName,
  redactedFor,
  type Values,
  vocabularyOf,
  withoutSecrets,
} from '../../../src/migrate/compare/redact.ts'
import { comparisonOf, detailed, recordedCall } from '../../../src/migrate/records/record.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { variablesOf } from '../../../src/tables/uid.ts'
import { asked, child, court, operationOf, operations, ROOT_UID, seen } from '../given.ts'

const redactor = (values: Values = 'masked') => createRedactor({ values, key: () => 'k' })
const words = vocabularyOf(operationOf('registry.repos.list'))
const PLANTED = 'planted-secret-4711'

describe('masked values', () => {
  const { value, pointer, path } = redactor()

  it('keep texts that are provably harmless', () => {
    const harmless = {
      id: child(1),
      uid: ROOT_UID,
      group_id: ROOT_UID,
      digest: `sha256:${'a'.repeat(64)}`,
      total_count: '4711',
      create_time: '2026-01-02T03:04:05Z',
      catalog_tier: 'APPLICATION',
      description: '',
      verified: true,
      size: 5,
      readme: null,
    }
    expect(value(harmless, '', new Set([...words, ...Object.keys(harmless)]))).toEqual(harmless)
  })

  it('keep the names of the members around the rows of a list, and in an error, but not their texts', () => {
    const envelope = { totalCount: '3', nextPageToken: '', groups: [] }
    const detail = { '@type': PLANTED, reason: PLANTED, domain: PLANTED, metadata: {}, resourceType: PLANTED, resourceName: PLANTED }
    const fields = { '@type': PLANTED, fieldViolations: [{ field: PLANTED, description: PLANTED }] }
    const own = vocabularyOf(operationOf('iam.groups.list'))
    expect(value(envelope, '', own)).toEqual(envelope)
    const shown = value({ code: 5, message: PLANTED, details: [detail, fields] }, '', own) as { details: readonly object[] }
    expect(shown.details.map(Object.keys)).toEqual([Object.keys(detail), Object.keys(fields)])
    expect(JSON.stringify([shown, value({ nextPageToken: PLANTED, totalCount: PLANTED }, '', own)])).not.toContain(PLANTED)
  })

  it('hide every other text, but keep equal texts equal', () => {
    const [one, same, other] = [PLANTED, PLANTED, `${PLANTED}!`].map((text) => value(text, 'description', words))
    expect(one).toMatch(/^text-19-[0-9a-f]{8}$/)
    expect(same).toBe(one)
    expect(other).not.toBe(one)
    expect(createRedactor({ values: 'masked', key: () => 'other' }).value(PLANTED, 'description', words)).not.toBe(one)
  })

  it('hide a uid where no uid belongs, and names that no table has', () => {
    expect(value(ROOT_UID, 'description', words)).toMatch(/^text-40-/)
    expect(JSON.stringify(value({ environment: { [PLANTED]: PLANTED } }, 'custom_overlay', words))).not.toContain(PLANTED)
    const inRow = (key: string) => `/items/3/custom_overlay/environment/${key}`
    const where = '/items/*/custom_overlay/environment/*'
    expect(pointer({ at: inRow(`${PLANTED}~1x`), where, path: inRow(`${PLANTED}~1x`).replace('3', '[a]') }, words)).toMatch(
      /^\/items\/3\/custom_overlay\/environment\/text-21-[0-9a-f]{8}$/,
    )
  })

  it('cut long values', () => {
    expect(value(Array(9).fill(1), 'bundles', words)).toEqual([1, 1, 1, 1, 1, '… 4 more'])
    const deep = Array(20)
      .fill(0)
      .reduce<unknown>((inner) => ({ name: inner }), 1)
    expect(JSON.stringify(value(deep, '', words))).toContain('… deeper')
  })

  it('keep the fixed parts and the uids of a path', () => {
    expect(path(`/registry/v1/repos/${child(1)}`, words)).toBe(`/registry/v1/repos/${child(1)}`)
    expect(path(`/registry/v1/repos/${PLANTED}`, words)).toMatch(/^\/registry\/v1\/repos\/text-19-/)
  })
})

describe('shown values', () => {
  const { value } = redactor('shown')

  it('are cut, and contain nothing that looks like a secret', () => {
    expect(value('a repo', 'description', words)).toBe('a repo')
    expect(value('x'.repeat(500), 'description', words)).toBe(`${'x'.repeat(200)}… (500 characters)`)
    expect(value('use Bearer abc.def', 'description', words)).toBe('use [hidden]')
  })

  it('never contain the value of a secret member', () => {
    expect(value({ token: 'a', nested: { client_secret: 'b', clientSecret: { c: 'd' } } }, '', words)).toEqual({
      token: '[hidden]',
      nested: { client_secret: '[hidden]', clientSecret: '[hidden]' },
    })
  })
})

describe('a shown value with a secret at the cut', () => {
  const { value } = redactor('shown')
  it.each([
    ['a token', 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln'],
    ['a credential', `bearer ${'c2Vj'.repeat(100)}`],
    ['a private key', `-----BEGIN PRIVATE KEY-----\n${'MIIE'.repeat(500)}\n-----END PRIVATE KEY-----`],
    ['an access key', 'AKIAIOSFODNN7EXAMPLE'],
    ['a key with a prefix', 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'],
    ['an address with a password', `https://user:${'pass'.repeat(100)}@host`],
    ['an address with a token', 'https://host/?access_token=abcdefgh'],
  ])('hides %s wherever it begins', (_, secret) => {
    for (let begin = 100; begin < 220; begin += 1) {
      const text = `${'x '.repeat(110).slice(0, begin - 1)} ${secret} ${'y '.repeat(10_000)}`
      expect(value(text, 'description', words)).toBe(`${withoutSecrets(text).slice(0, 200)}… (${text.length} characters)`)
    }
  })

  it('keeps its length up to the cut', () => {
    const text = `${'ghp_abcdefgh '.repeat(3)}end`
    expect(value(text, 'description', words)).toBe('[hidden] [hidden] [hidden] end')
    expect(value('eyJ-'.repeat(2_000_000), 'description', words)).toBe('[hidden]… (8000000 characters)')
  })
})

describe('the v2 call that a write would have made', () => {
  it('keeps its shape and loses its texts', () => {
    const operation = operationOf('iam.identity_providers.create')
    const body = { name: PLANTED, oidc: { issuer: PLANTED, clientSecret: PLANTED, additionalScopes: [PLANTED] }, [PLANTED]: PLANTED }
    const query = [['updateMask', 'name']] as const
    const call = recordedCall(
      { method: 'POST', path: `/iam/v2/identityProviders/${ROOT_UID}`, query, body },
      redactedFor(operation, redactor()),
    )
    expect(call).toMatchObject({
      method: 'POST',
      path: `/iam/v2/identityProviders/${ROOT_UID}`,
      query: [['updateMask', 'name']],
      body: { name: expect.stringMatching(/^text-/), oidc: { clientSecret: '[hidden]' } },
    })
    expect(JSON.stringify(call)).not.toContain('planted')
  })
})

describe('secrets', () => {
  it.each(['client_secret', 'clientSecret', 'token', 'aws_token', 'code', 'Authorization', 'issuerKeys', 'api-key', 'set-cookie'])(
    'are known by the name %s',
    (name) => expect(isSecretName(name)).toBe(true),
  )

  it.each(['name', 'token_expire_time', 'key_id', 'credential_state', 'codec'])('do not include %s', (name) => {
    expect(isSecretName(name)).toBe(false)
  })

  it.each([
    'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln',
    'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0',
    'eyJhbGciOiJub25lIn0',
    'bearer c2VjcmV0LXRva2Vu',
    'Basic dXNlcjpwYXNz',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----',
    'AKIAIOSFODNN7EXAMPLE',
    'ghp_abcdefghijklmnopqrstuvwxyz0123456789',
    'sk-abcdefgh12345678',
  ])('are known by their pattern: %j', (secret) => {
    expect(withoutSecrets(`before ${secret} after`)).toBe('before [hidden] after')
  })

  it('are hidden if a key is incomplete', () => {
    expect(withoutSecrets('before -----BEGIN PRIVATE KEY-----\nMIIEvQ')).toBe('before [hidden]')
  })

  it('are removed from URLs', () => {
    expect(withoutSecrets('https://user:pass@host/x?a=1&access_token=abc&sig=d#f')).toBe(
      'https://[hidden]host/x?a=1&access_token=[hidden]&sig=[hidden]#f',
    )
  })
})

describe('a secret planted in every member of every answer', () => {
  /** The unset answer of an operation, with the secret in every text, every key and one more member of each object. */
  function planted(value: unknown, text: string): unknown {
    if (Array.isArray(value)) return [text, ...value.map((item) => planted(item, text))]
    if (typeof value !== 'object' || value === null) return text
    const members = Object.entries(value as JsonObject).map(([name, inner]) => [name, planted(inner, text)])
    return { ...Object.fromEntries(members), novelty: { [text]: text } }
  }

  it.each(operations.filter(({ answer }) => answer).map(({ id }) => id))('%s: is in no record of it', (id) => {
    const operation = operationOf(id)
    const { judge } = court()
    const row = operation.answer?.show.specification({})
    const body = (text: string) => planted({ ...row, ...(operation.empty('specification') as object), items: [row] }, text)
    const redacted = redactedFor(operation, redactor())
    const params = Object.fromEntries(variablesOf(operation.template).map((name) => [name, '']))
    for (const [v1, v2] of [
      [seen(body(PLANTED)), seen(body(`${PLANTED}-2`))],
      [seen(body(PLANTED)), seen({})],
      [seen({}), seen(body(PLANTED))],
      [seen({ code: 3, message: PLANTED, details: [PLANTED] }, 400), seen({ code: 3, message: 'x', details: [] }, 400)],
      [seen({}), seen({ code: 3, message: PLANTED, details: [PLANTED] }, 400)],
      [seen(body(PLANTED)), seen({ code: 3, message: PLANTED, details: [{ [PLANTED]: PLANTED }] }, 503)],
    ] as const) {
      const judgement = judge(asked(operation), v1, v2)
      expect(judgement.outcome).toBe(v2.status === 503 ? 'error' : 'mismatch')
      const sides = { v1: { status: v1.status }, v2: { status: v2.status } }
      const who = { id: '1', at: '', operation: id, mode: 'diff-v1', caller: 'c', shape: id, check: 'read', ...sides } as const
      const question = asked(
        operation,
        `${PLANTED}=1&name=${PLANTED}&order_by=${PLANTED}%20desc`,
        planted(params, PLANTED) as typeof params,
      )
      const record = detailed(comparisonOf(judgement, who, redacted), judgement, {
        asked: question,
        about: operation,
        redacted: () => redacted,
      })
      expect(record).toMatchObject({ request: { method: operation.method } })
      expect(JSON.stringify(record)).not.toContain('planted')
    }
  })
})
