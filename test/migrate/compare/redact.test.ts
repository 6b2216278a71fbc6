import { describe, expect, it } from 'vitest'
import { LARGEST } from '../../../src/migrate/compare/excerpt.ts'
import type { AskedRequest } from '../../../src/migrate/compare/judge.ts'
import { createRedactor, isSecretName, type Values, vocabularyOf, withoutSecrets } from '../../../src/migrate/compare/redact.ts'
import { comparisonOf, detailed, type Example, MOST, recordedCall } from '../../../src/migrate/records/record.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { variablesOf } from '../../../src/tables/uid.ts'
import { asked, child, court, operationOf, operations, ROOT_UID, seen } from '../given.ts'

describe('detailed', () => {
  const LIST = operationOf('registry.repos.list')

  interface Given {
    readonly v1: unknown
    readonly v2: unknown
    readonly statuses?: readonly [number, number]
    readonly values?: Values
    readonly question?: AskedRequest
  }

  /** Returns the record of two answers. */
  function recordOf({ v1, v2, statuses = [200, 200], values = 'shown', question = asked(LIST) }: Given) {
    const redactor = createRedactor({ values, key: () => 'k' })
    const redacted = (operation: AskedRequest['operation']) => redactor(vocabularyOf(operation))
    const { operation } = question
    const judgement = court().judge(question, seen(v1, statuses[0]), seen(v2, statuses[1]))
    const sides = { v1: { status: statuses[0] }, v2: { status: statuses[1] } }
    const who = { id: '1', at: '', operation: operation.id, mode: 'diff-v1', caller: 'c', shape: '', check: 'read', ...sides } as const
    return detailed(comparisonOf(judgement, who, redacted(operation)), judgement, question, operation, redacted)
  }

  function exampleOf(given: Given): Example {
    const [example] = recordOf(given).examples
    if (!example) throw new Error('no difference')
    return example
  }

  const row = <T extends object = object>(nth: number, members: T = {} as T) => ({ id: child(nth), name: `repo-${nth}`, ...members })
  const rows = (...numbers: readonly number[]) => ({ items: numbers.map((nth) => row(nth)) })
  const briefly = (...numbers: readonly number[]) => numbers.map((nth) => row(nth))

  describe('what is around a difference', () => {
    it('is the row, with the members that name it and those next to the place', () => {
      const [first, second] = ['2026-01-02T03:04:05Z', '2026-01-03T03:04:05Z']
      const v1 = row(2, {
        create_time: first,
        update_time: second,
        readme: '',
        aliases: [],
        bundles: ['a', 'b', 'c'],
        catalog_tier: 'BASE',
      })
      const { catalog_tier, ...others } = v1
      const example = exampleOf({ v1: { items: [row(1), v1] }, v2: { items: [row(1), { catalog_tier: 'APPLICATION', ...others }] } })
      expect(example).toMatchObject({ at: '/items/1/catalog_tier', row: child(2) })
      const near = { readme: '', aliases: [], bundles: ['a', 'b', '… 1 more'] }
      expect(example.around).toEqual({
        at: '/items/1',
        path: ['catalog_tier'],
        v1: { ...row(2), ...near, catalog_tier: 'BASE', '…': '2 more' },
        v2: { ...row(2), ...near, catalog_tier: 'APPLICATION', '…': '2 more' },
      })
      expect(Object.keys(example.around?.v1 as object)).toEqual(Object.keys(example.around?.v2 as object))
    })

    it('leads through the objects within the row', () => {
      const nested = (source: string) => ({ items: [row(1, { sync_config: { unique_tags: true, source } })] })
      expect(exampleOf({ v1: nested(child(3)), v2: nested(child(4)) }).around).toEqual({
        at: '/items/0',
        path: ['sync_config', 'source'],
        v1: { ...row(1), sync_config: { unique_tags: true, source: child(3) } },
        v2: { ...row(1), sync_config: { unique_tags: true, source: child(4) } },
      })
    })

    it('is what one side alone has, at its place among the others', () => {
      const [v1, v2] = [
        { ...row(1), bundles: [], catalog_tier: 'BASE' },
        { ...row(1), readme: 'new', bundles: [], catalog_tier: 'BASE' },
      ]
      const { around } = exampleOf({ v1: { items: [v1] }, v2: { items: [v2] } })
      expect(around).toEqual({ at: '/items/0', path: ['readme'], v1, v2 })
    })

    it('is the rows before and after one that v2 lacks, or has besides', () => {
      const [more, less] = [rows(1, 2, 3, 4, 5, 6, 7), rows(1, 2, 3, 5, 6, 7)]
      const window = { long: { from: 1, of: 7, at: 3 }, short: { from: 1, of: 6 } }
      const [long, short] = [briefly(2, 3, 4, 5, 6), briefly(2, 3, 5, 6)]
      expect(exampleOf({ v1: more, v2: less }).around).toEqual({
        at: '/items',
        v1: long,
        v2: short,
        rows: { v1: window.long, v2: window.short },
      })
      expect(exampleOf({ v1: less, v2: more }).around).toEqual({
        at: '/items',
        v1: short,
        v2: long,
        rows: { v1: window.short, v2: window.long },
      })
    })

    it('is the place of the row on each side, where rows before it differ too', () => {
      const [v1, v2] = [rows(9, 1, 2, 3, 5, 6, 7), rows(1, 2, 3, 4, 5, 6, 7)]
      const ranges = recordOf({ v1, v2 }).examples.map(({ around }) => around?.rows)
      expect(ranges).toEqual([
        { v1: { from: 0, of: 7, at: 0 }, v2: { from: 0, of: 7 } },
        { v1: { from: 2, of: 7 }, v2: { from: 1, of: 7, at: 3 } },
      ])
    })

    it('is the end of a list that lacks its last rows, and an empty list', () => {
      expect(exampleOf({ v1: rows(1, 2, 3), v2: rows(1, 2) }).around).toMatchObject({ v2: briefly(1, 2), rows: { v2: { from: 0, of: 2 } } })
      expect(exampleOf({ v1: rows(1, 2, 3), v2: rows() }).around).toMatchObject({ v2: [], rows: { v2: { from: 0, of: 0 } } })
    })

    it('is both orders from the row where they part', () => {
      expect(exampleOf({ v1: rows(1, 2, 3, 4, 5), v2: rows(1, 3, 4, 2, 5) })).toMatchObject({
        kind: 'order',
        v1: child(2),
        v2: child(3),
        around: {
          at: '/items',
          v1: briefly(1, 2, 3, 4, 5),
          v2: briefly(1, 3, 4, 2, 5),
          rows: { v1: { from: 0, of: 5, at: 1 }, v2: { from: 0, of: 5, at: 3 } },
        },
      })
      // The ids by which rows are told apart are no secret, though values are masked.
      const hidden = exampleOf({ v1: rows(1, 2, 3), v2: rows(1, 3, 2), values: 'masked' })
      expect(hidden).toMatchObject({ kind: 'order', v1: child(2), v2: child(3) })
    })

    it('is a list of texts, and where a text stands on both sides', () => {
      const bundles = (...texts: readonly string[]) => ({ items: [row(1, { bundles: texts })] })
      expect(exampleOf({ v1: bundles('a', 'b', 'c'), v2: bundles('a', 'x', 'c') })).toMatchObject({
        at: '/items/0/bundles/1',
        around: { at: '/items/0/bundles', v1: ['a', 'b', 'c'], v2: ['a', 'x', 'c'], rows: { v1: { at: 1 }, v2: { at: 1 } } },
      })
      expect(exampleOf({ v1: bundles('a', 'b', 'c'), v2: bundles('b', 'a', 'c') }).around?.rows).toMatchObject({
        v1: { at: 0 },
        v2: { at: 1 },
      })
    })

    it('is both answers, if their statuses differ or v2 failed', () => {
      const refused = { code: 3, message: 'wrong', details: [] }
      const given = { v1: { code: 5, message: 'not there', details: [] }, v2: refused }
      expect(exampleOf({ ...given, statuses: [404, 400] }).around).toEqual({ at: '', ...given })
      const failed = recordOf({ v1: rows(1), v2: refused, statuses: [200, 503] })
      expect(failed).toMatchObject({ outcome: 'error', examples: [], answers: { at: '', v1: rows(1), v2: refused } })
    })

    it('is gathered for no match, and bounded for any other answer', () => {
      expect(recordOf({ v1: rows(1), v2: rows(1) })).not.toHaveProperty('request')
      const wide = (text: string) =>
        Object.fromEntries(Array.from({ length: 30 }, (_, nth) => [`member_${nth}`, `${text} ${'x'.repeat(300)}`]))
      const { examples } = recordOf({ v1: { items: [row(1, wide('a'))] }, v2: { items: [row(1, wide('b'))] } })
      const sizes = examples.flatMap(({ around }) => (around ? [JSON.stringify(around).length] : []))
      expect(examples).toHaveLength(20)
      expect(sizes.length).toBeGreaterThan(3)
      expect(Math.max(...sizes)).toBeLessThanOrEqual(LARGEST)
      expect(sizes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MOST)
    })
  })

  describe('two long texts', () => {
    const texts = (v1: string, v2: string, values: Values = 'shown') =>
      exampleOf({ v1: { items: [row(1, { readme: v1 })] }, v2: { items: [row(1, { readme: v2 })] }, values })
    const long = 'word '.repeat(200)

    it('are shown where they begin to differ', () => {
      const { v1, v2, differsAt } = texts(`${long}old end`, `${long}new end`)
      expect(differsAt).toBe(1_000)
      expect(v1).toMatch(/^…[word ]{60}old end… \(1007 characters\)$/)
      expect(v2).toMatch(/^…[word ]{60}new end… \(1007 characters\)$/)
    })

    it('are shown from their beginning if they differ there, or so late that too much comes before', () => {
      const far = 'word '.repeat(20_001)
      expect(texts(`old ${long}`, `new ${long}`).v1).toMatch(/^old word word /)
      expect(texts(`${far}old`, `${far}new`).v1).toMatch(/^word word word /)
    })

    it('are masked with the place of their difference', () => {
      expect(texts(`${long}old`, `${long}new`, 'masked')).toMatchObject({ v1: expect.stringMatching(/^text-1003-/), differsAt: 1_000 })
    })

    it('lose their secrets before they are cut', () => {
      const secret = `ghp_${'a1'.repeat(40)}`
      for (let begin = 100; begin < 140; begin++) {
        const text = `${'y '.repeat(begin)} ${secret} end`
        expect(JSON.stringify(texts(`${text} a`, `${text} b`))).not.toContain('a1a1')
      }
    })

    it('say nothing of their place if they are short, secret or harmless', () => {
      expect(texts('a', 'b')).not.toHaveProperty('differsAt')
      const secret = (text: string) => ({ items: [row(1, { token: text.repeat(50) })] })
      expect(exampleOf({ v1: secret('a'), v2: secret('b') })).toMatchObject({ v1: '[hidden]', v2: '[hidden]' })
      expect(exampleOf({ v1: secret('a'), v2: secret('b') })).not.toHaveProperty('differsAt')
    })
  })

  describe('the request of a difference', () => {
    const urlOf = (query: string, values: Values) =>
      recordOf({ v1: rows(1), v2: rows(2), values, question: asked(LIST, query) }).request?.url

    it('is the URL as a client sends it, with its texts by the rules of the records', () => {
      const query = `uidp.children_of=${ROOT_UID}/0123456789abcdef&limit=10&order_by=name%20desc&name=my%20repo`
      expect(urlOf(query, 'shown')).toBe(`/registry/v1/repos?${query}`)
      expect(urlOf(query, 'masked')).toMatch(/order_by=name%20desc&name=text-7-[0-9a-f]{8}$/)
    })

    it('holds the variables of its path', () => {
      const question = asked(operationOf('registry.repos.update'), '', { id: child(1) })
      const { url, method } = recordOf({ v1: { id: '1' }, v2: {}, question }).request ?? {}
      expect([method, url]).toEqual(['PUT', `/registry/v1/repos/${child(1)}`])
    })

    it('is bounded, and says that it was cut', () => {
      expect(urlOf(Array.from({ length: 60 }, (_, nth) => `name=${nth}`).join('&'), 'shown')).toMatch(/&name=49…$/)
      expect(urlOf(Array.from({ length: 40 }, () => `name=${'x'.repeat(300)}`).join('&'), 'shown')).toHaveLength(2_001)
    })

    it('hides the values of secret parameters, and of unknown ones unless values are shown', () => {
      const query = 'token=4711&code=4711&secret_of_mine=4712'
      expect(urlOf(query, 'shown')).toBe('/registry/v1/repos?token=[hidden]&code=[hidden]&secret_of_mine=4712')
      expect(urlOf(query, 'masked')).not.toMatch(/471[12]|secret_of_mine/)
    })
  })

  describe('a secret next to a difference', () => {
    const SECRETS = { token: 'planted-1', client_secret: { deep: 'planted-2' }, note: 'Bearer planted-3' }
    const given = (name: string) => ({
      items: [row(1, { ...SECRETS, custom_overlay: { environment: { 'planted-key': 'x', DB_PASSWORD: 'planted-4' } }, name })],
    })

    it('is hidden, while other texts are shown', () => {
      const { around } = exampleOf({ v1: given('old'), v2: given('new') })
      expect(around?.v1).toMatchObject({ name: 'old', token: '[hidden]', client_secret: '[hidden]', note: '[hidden]' })
      expect(JSON.stringify(around)).not.toMatch(/planted-\d/)
    })

    it('is hidden if it is the difference itself, also below a secret name and in a map', () => {
      const member = (value: object) => ({ items: [row(1, value)] })
      const shown = (v1: object, v2: object) => JSON.stringify(recordOf({ v1: member(v1), v2: member(v2) }))
      expect(shown({ client_secret: { deep: 'planted-1' } }, { client_secret: { deep: 'planted-2' } })).not.toMatch(/planted-\d/)
      expect(shown({ tokens: { credentials: [{ a: 'planted-1' }] } }, { tokens: { credentials: [{ a: 'planted-2' }] } })).not.toMatch(
        /planted-\d/,
      )
      expect(shown({ client_secret: { parts: ['planted-1', 'planted-2'] } }, { client_secret: { parts: ['planted-1'] } })).not.toMatch(
        /planted-\d/,
      )
      const map = (text: string) => ({ custom_overlay: { environment: { DB_PASSWORD: text } } })
      expect(shown(map('planted-1'), map('planted-2'))).not.toMatch(/planted-\d/)
    })

    it('is masked with its name and the keys of maps by default', () => {
      const { around } = exampleOf({ v1: given('old'), v2: given('new'), values: 'masked' })
      expect(JSON.stringify(around)).not.toMatch(/planted|Bearer|DB_PASSWORD|old|new/)
      expect(around).toMatchObject({ at: '/items/0', path: ['name'], v1: { id: child(1) } })
    })
  })
})

describe('redact', () => {
  const redactor = (values: Values = 'masked') => createRedactor({ values, key: () => 'k' })
  const words = vocabularyOf(operationOf('registry.repos.list'))
  const PLANTED = 'planted-secret-4711'

  describe('masked values', () => {
    const { value, pointer, path } = redactor()(words)

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
      const known = redactor()(new Set([...words, ...Object.keys(harmless)]))
      expect(known.value(harmless, '')).toEqual(harmless)
    })

    it('keep the names of the members around the rows of a list, and in an error, but not their texts', () => {
      const envelope = { totalCount: '3', nextPageToken: '', groups: [] }
      const detail = { '@type': PLANTED, reason: PLANTED, domain: PLANTED, metadata: {}, resourceType: PLANTED, resourceName: PLANTED }
      const fields = { '@type': PLANTED, fieldViolations: [{ field: PLANTED, description: PLANTED }] }
      const own = redactor()(vocabularyOf(operationOf('iam.groups.list')))
      expect(own.value(envelope, '')).toEqual(envelope)
      const shown = own.value({ code: 5, message: PLANTED, details: [detail, fields] }, '') as { details: readonly object[] }
      expect(shown.details.map(Object.keys)).toEqual([Object.keys(detail), Object.keys(fields)])
      expect(JSON.stringify([shown, own.value({ nextPageToken: PLANTED, totalCount: PLANTED }, '')])).not.toContain(PLANTED)
    })

    it('hide every other text, but keep equal texts equal', () => {
      const [one, same, other] = [PLANTED, PLANTED, `${PLANTED}!`].map((text) => value(text, 'description'))
      expect(one).toMatch(/^text-19-[0-9a-f]{8}$/)
      expect(same).toBe(one)
      expect(other).not.toBe(one)
      expect(createRedactor({ values: 'masked', key: () => 'other' })(words).value(PLANTED, 'description')).not.toBe(one)
    })

    it('hide a uid where no uid belongs, and names that no table has', () => {
      expect(value(ROOT_UID, 'description')).toMatch(/^text-40-/)
      expect(JSON.stringify(value({ environment: { [PLANTED]: PLANTED } }, 'custom_overlay'))).not.toContain(PLANTED)
      const inRow = (key: string) => `/items/3/custom_overlay/environment/${key}`
      const where = '/items/*/custom_overlay/environment/*'
      expect(pointer({ at: inRow(`${PLANTED}~1x`), where, path: inRow(`${PLANTED}~1x`).replace('3', '[a]') })).toMatch(
        /^\/items\/3\/custom_overlay\/environment\/text-21-[0-9a-f]{8}$/,
      )
    })

    it('cut long values', () => {
      expect(value(Array(9).fill(1), 'bundles')).toEqual([1, 1, 1, 1, 1, '… 4 more'])
      const deep = Array(20)
        .fill(0)
        .reduce<unknown>((inner) => ({ name: inner }), 1)
      expect(JSON.stringify(value(deep, ''))).toContain('… deeper')
    })

    it('keep the fixed parts and the uids of a path', () => {
      expect(path(`/registry/v1/repos/${child(1)}`)).toBe(`/registry/v1/repos/${child(1)}`)
      expect(path(`/registry/v1/repos/${PLANTED}`)).toMatch(/^\/registry\/v1\/repos\/text-19-/)
    })
  })

  describe('shown values', () => {
    const { value } = redactor('shown')(words)

    it('are cut, and contain nothing that looks like a secret', () => {
      expect(value('a repo', 'description')).toBe('a repo')
      expect(value('x'.repeat(500), 'description')).toBe(`${'x'.repeat(200)}… (500 characters)`)
      expect(value('use Bearer abc.def', 'description')).toBe('use [hidden]')
    })

    it('never contain the value of a secret member', () => {
      expect(value({ token: 'a', nested: { client_secret: 'b', clientSecret: { c: 'd' } } }, '')).toEqual({
        token: '[hidden]',
        nested: { client_secret: '[hidden]', clientSecret: '[hidden]' },
      })
    })
  })

  describe('a shown value with a secret at the cut', () => {
    const { value } = redactor('shown')(words)
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
        expect(value(text, 'description')).toBe(`${withoutSecrets(text).slice(0, 200)}… (${text.length} characters)`)
      }
    })

    it('keeps its length up to the cut', () => {
      const text = `${'ghp_abcdefgh '.repeat(3)}end`
      expect(value(text, 'description')).toBe('[hidden] [hidden] [hidden] end')
      expect(value('eyJ-'.repeat(2_000_000), 'description')).toBe('[hidden]… (8000000 characters)')
    })
  })

  it('the v2 call that a write would have made keeps its shape and loses its texts', () => {
    const operation = operationOf('iam.identity_providers.create')
    const body = { name: PLANTED, oidc: { issuer: PLANTED, clientSecret: PLANTED, additionalScopes: [PLANTED] }, [PLANTED]: PLANTED }
    const query = [['updateMask', 'name']] as const
    const call = recordedCall(
      { method: 'POST', path: `/iam/v2/identityProviders/${ROOT_UID}`, query, body },
      redactor()(vocabularyOf(operation)),
    )
    expect(call).toMatchObject({
      method: 'POST',
      path: `/iam/v2/identityProviders/${ROOT_UID}`,
      query: [['updateMask', 'name']],
      body: { name: expect.stringMatching(/^text-/), oidc: { clientSecret: '[hidden]' } },
    })
    expect(JSON.stringify(call)).not.toContain('planted')
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
      const redacted = redactor()(vocabularyOf(operation))
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
        const record = detailed(comparisonOf(judgement, who, redacted), judgement, question, operation, () => redacted)
        expect(record).toMatchObject({ request: { method: operation.method } })
        expect(JSON.stringify(record)).not.toContain('planted')
      }
    })
  })
})
