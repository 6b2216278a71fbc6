import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { createClassify } from '../../src/serve/classify.ts'
import { credentialHash, identify, parseQuery, searchOf } from '../../src/serve/request.ts'
import { createRouter } from '../../src/serve/route.ts'
import { parseJson } from '../../src/tables/json.ts'
import { v1Only } from '../../src/tables/operations.ts'

describe('caller', () => {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = (claims: unknown, signature = 'c2ln') => `Bearer ${part({ alg: 'RS256' })}.${part(claims)}.${signature}`

  it('identifies a caller by the subject, whatever the token', () => {
    const authorization = token({ iss: 'https://issuer', sub: 'alice', exp: 1 })
    const first = identify(authorization)
    const renewed = identify(token({ iss: 'https://issuer', sub: 'alice', exp: 2 }, 'b3RoZXI'))
    expect(first).toEqual({ caller: expect.stringMatching(/^[0-9a-f]{16}$/), subject: 'alice', credential: credentialHash(authorization) })
    expect(renewed.caller).toBe(first.caller)
    expect(renewed.credential).not.toBe(first.credential)
  })

  it('identifies a caller whose token stands without a scheme, as the vendor sends it', () => {
    const authorization = token({ iss: 'https://issuer', sub: 'alice' })
    expect(identify(authorization.replace('Bearer ', ''))).toMatchObject({ caller: identify(authorization).caller, subject: 'alice' })
  })

  it('keeps the subjects of two issuers apart', () => {
    expect(identify(token({ iss: 'https://a', sub: 'alice' })).caller).not.toBe(identify(token({ iss: 'https://b', sub: 'alice' })).caller)
  })

  it.each([
    'Bearer opaque',
    'Basic YWxpY2U6c2VjcmV0',
    'Bearer a.b.c',
    'Bearer ..',
    token({ iss: 'https://issuer' }),
    token({ sub: '' }),
    token({ sub: 5 }),
    token(null),
    token('text'),
  ])('identifies the caller by the credential: %s', (authorization) => {
    expect(identify(authorization)).toEqual({
      caller: credentialHash(authorization),
      subject: undefined,
      credential: credentialHash(authorization),
    })
  })

  it('takes a token for one caller, however its scheme is written', () => {
    const spellings = ['Bearer opaque', 'bearer opaque', 'BEARER   opaque', 'Bearer \topaque ']
    expect(new Set(spellings.map((authorization) => identify(authorization).caller))).toEqual(new Set([credentialHash('Bearer opaque')]))
    expect(new Set(spellings.map((authorization) => identify(authorization).credential)).size).toBe(1)
  })

  it('identifies a caller with a credential of any length', () => {
    const long = `Bearer ${'x'.repeat(60_000)}`
    expect(identify(long)).toEqual(identify(long))
    expect(identify(long).caller).toBe(credentialHash(long))
  })

  it('calls a caller without a credential anonymous', () => {
    expect(identify(undefined)).toEqual({ caller: 'anonymous', subject: undefined, credential: 'anonymous' })
  })
})

describe('parsing', () => {
  describe('classify', () => {
    const classify = createClassify(mappings)

    it.each([
      ['/iam/v1/groups', '/iam/v1/groups'],
      ['/iam/v1/groups?id=%zz', '/iam/v1/groups'],
      ['/iam%2Fv1/groups/a%2Fb', '/iam/v1/groups/a/b'],
      ['/%69am/v1', '/iam/v1'],
      ['/libraries/v1/artifacts', '/libraries/v1/artifacts'],
      ['/events/v1/subscriptions', '/events/v1/subscriptions'],
    ])('takes %s for v1', (url, path) => {
      expect(classify(url)).toEqual({ kind: 'v1', path })
    })

    it.each(['/iam/v2/groups', '/', '/iam', '/iam/v11/groups', '/sts/exchange', '/v2/blobs/%zz', '//iam/v1/groups', '/x/iam/v1'])(
      'leaves %s to v2',
      (url) => {
        expect(classify(url)).toEqual({ kind: 'native' })
      },
    )

    it.each([
      ...['/iam/v1/groups/%zz', '/iam%2Fv1/groups/%ff', '*', 'http://other.example/iam/v1/groups'],
      ...['/iam/v1/groups#x', '/iam/v1/groups?name=a#b', '/iam/v2/groups#x', '/#/iam/v1/groups'],
      ...[
        '/iam/v1/groups\\x',
        '/iam/v1/groups/"<>`',
        '/iam/v1/groups/{id}',
        '/iam/v1/groups/a|b',
        '/iam/v1/groups/\u00fc',
        '/iam/v1/groups?name=\u00c3\u00bc',
      ],
    ])('refuses %s', (url) => {
      expect(classify(url)).toMatchObject({ kind: 'refused', error: { message: 'the request target is not a well-formed path' } })
    })

    const CLIMBING = [
      '/..',
      '/a/../b',
      '/a/.',
      '/%2e%2E/b',
      '/.%2e',
      '/%252e%252e/b',
      '/a%2f..%2Fb',
      '/..%5cb',
      '/..\\b',
      '/..;/b',
      '/..;x=1',
      '/..%3b/b',
    ]

    it.each(CLIMBING)('refuses %s in a path of v1', (path) => {
      const encoded = path.replaceAll('\\', '%5C')
      expect(classify(`/iam/v1/groups${encoded}`)).toMatchObject({
        kind: 'refused',
        error: { message: expect.stringMatching(/\. and \.\.$/) },
      })
    })

    it.each(CLIMBING)('refuses %s where v2 lives below a path, and nowhere else', (url) => {
      expect(classify(url)).toEqual({ kind: 'native' })
      expect(createClassify(mappings, true)(url)).toMatchObject({
        kind: 'refused',
        error: { message: expect.stringMatching(/\. and \.\.$/) },
      })
    })

    it.each(['/a..b', '/...', '/..a/', '/a./b', '/v2/..%zz', '/x?a=/../b', '/..%20/', '//twice'])('leaves %s to v2 there too', (url) => {
      expect(createClassify(mappings, true)(url)).toEqual({ kind: 'native' })
    })
  })

  describe('parseQuery', () => {
    it('keeps every occurrence and takes + for a space', () => {
      const query = parseQuery('name=a+b&name=c%2Bd&empty=&flag', 'uidp.ids=x')
      expect([...query]).toEqual([
        ['name', ['a b', 'c+d']],
        ['empty', ['']],
        ['flag', ['']],
        ['uidp.ids', ['x']],
      ])
    })

    it('refuses bytes that are not UTF-8', () => {
      for (const text of ['name=%FF', '%C3=a', 'name=a%c3%28'])
        expect(() => parseQuery(text)).toThrow('the query holds bytes that are not UTF-8: ')
    })

    it('refuses broken percent-encoding', () => {
      expect(() => parseQuery('name=%zz')).toThrow('the query holds a broken percent-encoding: "%zz"')
    })

    it('takes ten thousand parameters', () => {
      const pairs = (count: number) => Array.from({ length: count }, (_, at) => `a${at}`).join('&')
      expect(parseQuery(pairs(5_000), `&&${pairs(5_000)}`).size).toBe(5_000)
      expect(() => parseQuery(pairs(5_000), pairs(5_001))).toThrow('the query holds more than 10000 parameters')
    })

    it('finds the query of a request target', () => {
      expect([searchOf('/a?b=c?d'), searchOf('/a'), searchOf('/a?')]).toEqual(['b=c?d', '', ''])
    })
  })

  describe('parseJson', () => {
    it('takes an empty text for no message', () => {
      expect([parseJson(''), parseJson(' \n')]).toEqual([undefined, undefined])
    })

    it('keeps integers beyond 2^53 exact, and numbers that fit as numbers', () => {
      expect(parseJson('{"big":12345678901234567890,"low":-9007199254740993,"small":7,"pi":3.1415926535897932}')).toEqual({
        big: '12345678901234567890',
        low: '-9007199254740993',
        small: 7,
        pi: Math.PI,
      })
    })

    it('lets the last of two equal keys win, with and without long numbers', () => {
      expect([parseJson('{"a":1,"a":2}'), parseJson('{"a":1,"a":2,"b":1234567890123456}')]).toEqual([
        { a: 2 },
        { a: 2, b: 1234567890123456 },
      ])
    })

    it.each([
      ...['{', 'a=b', '{"n":12345678901234567890', '[12345678901234567890', '12345678901234567890a', '"a"12345678901234567890'],
      ...['{12345678901234567890:1}', '{12345678901234567890 \n :1}', '[012345678901234567890]', '[-012345678901234567890]'],
      ...[
        '[+12345678901234567890]',
        '[12345678901234567890 1]',
        '[--12345678901234567890]',
        '[12345678901234567890.]',
        '[.12345678901234567890]',
      ],
    ])('names the mistake in %s', (text) => {
      expect(() => parseJson(text)).toThrow(/^the request body is not JSON: /)
    })

    it('reads what JSON.parse reads, wherever long integers are', () => {
      const { tree } = fc.letrec<{ tree: Told }>((tie) => ({
        tree: fc.oneof(
          { depthSize: 'small' },
          leaf,
          fc.array(tie('tree')).map(listOf),
          fc.array(fc.tuple(fc.string(), tie('tree'))).map(objectOf),
        ),
      }))
      fc.assert(fc.property(tree, ({ text, value }) => void expect(parseJson(text)).toStrictEqual(value)))
    })

    it('reads no more values than a v1 message can need', () => {
      const list = (values: number) =>
        `{"a":[${Array(values - 2)
          .fill('",[{"')
          .join()}]}`
      expect(parseJson(list(10_000))).toHaveProperty('a.length', 9998)
      const message = 'the request body holds more than 10000 values'
      expect(() => parseJson(list(10_001))).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', message }))
    })

    it('finds the end of a long text, with and without escapes', () => {
      const texts = [
        'a'.repeat(200),
        `${'a'.repeat(100)}\\"${'b'.repeat(100)}`,
        '\\'.repeat(300),
        `${'a'.repeat(64)}"`,
        `${'a'.repeat(63)}\\`,
        '[{'.repeat(200),
      ]
      for (const a of texts) for (const b of texts) expect(parseJson(JSON.stringify({ [a]: b, b: [a, 1] }))).toEqual({ [a]: b, b: [a, 1] })
      expect(() => parseJson(`{"a":"${'a'.repeat(100)}`)).toThrow(/is not JSON/)
    })

    it('reads no number of more digits than any needs', () => {
      expect(parseJson(`{"a":${'1'.repeat(1000)}}`)).toEqual({ a: '1'.repeat(1000) })
      expect(() => parseJson(`{"a":${'1'.repeat(1001)}}`)).toThrow('the request body holds a number of more than 1000 digits')
    })
  })

  interface Told {
    readonly text: string
    readonly value: unknown
  }

  const leaf: fc.Arbitrary<Told> = fc.oneof(
    fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((number) => {
      return { text: ` ${number} `, value: Number.isSafeInteger(Number(number)) ? Number(number) : String(number) }
    }),
    fc
      .jsonValue({ maxDepth: 0 })
      .filter((value) => typeof value !== 'number' || Math.abs(value) < 2 ** 53)
      .map((value) => ({ text: JSON.stringify(value), value: JSON.parse(JSON.stringify(value)) })),
    fc.constantFrom('12345678901234567890', '\\"12345678901234567890', ':12345678901234567890,[{').map((value) => {
      return { text: JSON.stringify(value), value }
    }),
  )

  const listOf = (parts: readonly Told[]): Told => ({
    text: `[${parts.map(({ text }) => text).join()}]`,
    value: parts.map(({ value }) => value),
  })

  const objectOf = (members: readonly (readonly [string, Told])[]): Told => ({
    text: `{${members.map(([name, { text }]) => `${JSON.stringify(name)}:${text}`).join()}}`,
    value: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
  })
})

describe('router', () => {
  const operation = (route: string) => v1Only(`test.${route}`, route, 'a test')
  const routerOf = (...routes: string[]) => createRouter(routes.map(operation))

  const ROUTES = [
    'GET /iam/v1/groups',
    'POST /iam/v1/groups/{parent=**}',
    'PUT /iam/v1/groups/{id=**}',
    'DELETE /iam/v1/groups/{id=**}',
    'GET /iam/v1/groups:lookupGroup',
    'POST /iam/v1/groups/{group_id=**}:requestGroupAccess',
    'POST /iam/v1/rolebindings/{parent=**}',
    'POST /iam/v1/rolebindings/batch/{parent=**}',
    'GET /registry/v1/repos',
    'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/size',
    'GET /registry/v1/repos/{repo_id=**}/deployment',
    'GET /registry/v1/vuln_reports/{id=**}',
    'GET /registry/v1/vuln_reports/raw',
  ]
  const router = routerOf(...ROUTES)

  function routeOf(method: string, path: string) {
    const match = router.match(method, path)
    return typeof match === 'object' ? [match.operation.id.slice('test.'.length), match.params] : match
  }

  describe('a path', () => {
    it.each<[string, string, string, Record<string, string>]>([
      ['GET', '/iam/v1/groups', 'GET /iam/v1/groups', {}],
      ['GET', '/iam/v1/groups/', 'GET /iam/v1/groups', {}],
      ['PUT', '/iam/v1/groups/org/eng', 'PUT /iam/v1/groups/{id=**}', { id: 'org/eng' }],
      [
        'GET',
        '/registry/v1/repos/a/b/digests/sha256:ab/size',
        'GET /registry/v1/repos/{repo_id=**}/digests/{digest}/size',
        { repo_id: 'a/b', digest: 'sha256:ab' },
      ],
      ['GET', '/registry/v1/repos/a/deployment', 'GET /registry/v1/repos/{repo_id=**}/deployment', { repo_id: 'a' }],
    ])('%s %s leads to %s: variables span slashes', (method, path, route, params) => {
      expect(routeOf(method, path)).toEqual([route, params])
    })

    it.each([
      ['POST', '/iam/v1/groups', 'POST /iam/v1/groups/{parent=**}', { parent: '' }],
      ['POST', '/iam/v1/groups/', 'POST /iam/v1/groups/{parent=**}', { parent: '' }],
      ['DELETE', '/iam/v1/groups', 'DELETE /iam/v1/groups/{id=**}', { id: '' }],
    ])('%s %s: ** may match nothing (facts §12.4)', (method, path, route, params) => {
      expect(routeOf(method, path)).toEqual([route, params])
    })

    it('may hold a uid longer than any limit', () => {
      const id = `${'a'.repeat(40)}${'/0123456789abcdef'.repeat(20)}`
      expect(routeOf('PUT', `/iam/v1/groups/${id}`)).toEqual(['PUT /iam/v1/groups/{id=**}', { id }])
    })

    it.each([
      ['POST', '/iam/v1/rolebindings/batch/org', 'POST /iam/v1/rolebindings/batch/{parent=**}'],
      ['POST', '/iam/v1/rolebindings/org/batch', 'POST /iam/v1/rolebindings/{parent=**}'],
      ['GET', '/registry/v1/vuln_reports/raw', 'GET /registry/v1/vuln_reports/raw'],
      ['GET', '/registry/v1/vuln_reports/raw/x', 'GET /registry/v1/vuln_reports/{id=**}'],
    ])('%s %s leads to the most literal route, %s', (method, path, route) => {
      expect(routeOf(method, path)?.[0]).toBe(route)
    })

    it.each([
      ['GET', '/iam/v1/groups:lookupGroup', 'GET /iam/v1/groups:lookupGroup', {}],
      [
        'POST',
        '/iam/v1/groups/org/eng:requestGroupAccess',
        'POST /iam/v1/groups/{group_id=**}:requestGroupAccess',
        { group_id: 'org/eng' },
      ],
      ['PUT', '/iam/v1/groups/org:other', 'PUT /iam/v1/groups/{id=**}', { id: 'org:other' }],
      ['PUT', '/iam/v1/groups/org:requestGroupAccess', 'PUT /iam/v1/groups/{id=**}', { id: 'org:requestGroupAccess' }],
      ['POST', '/iam/v1/rolebindings/org:lookupGroup', 'POST /iam/v1/rolebindings/{parent=**}', { parent: 'org:lookupGroup' }],
    ])('%s %s: a verb counts only where it is known (facts §12.2)', (method, path, route, params) => {
      expect(routeOf(method, path)).toEqual([route, params])
    })

    it('with another method differs from an unknown path', () => {
      expect(router.match('PATCH', '/iam/v1/groups/org')).toBe('other-method')
      expect(router.match('DELETE', '/iam/v1/groups:lookupGroup')).toBe('other-method')
      expect(router.match('GET', '/iam/v1/nothing')).toBeUndefined()
      expect(router.match('GET', '/iam/v1')).toBeUndefined()
      expect(router.match('GET', '/')).toBeUndefined()
      expect(router.match('GET', '/registry/v1/repos/a/digests//size')).toBeUndefined()
    })
  })

  describe('a route that cannot work stops the process', () => {
    it('if it exists twice', () => {
      expect(() => createRouter([operation('GET /iam/v1/groups'), v1Only('test.again', 'GET /iam/v1/groups', 'a test')])).toThrow(
        /^operation test\.again can never be reached: GET \/iam\/v1\/groups — test\.GET \/iam\/v1\/groups answers it/,
      )
    })

    it('if another has the same shape with other names', () => {
      expect(() => routerOf('PUT /iam/v1/groups/{id=**}', 'PUT /iam/v1/groups/{uid=**}')).toThrow('can never be reached')
    })
  })
})
