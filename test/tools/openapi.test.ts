import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, it } from 'vitest'
import { v1OnlyShapes } from '../../mappings/v1-only-shapes.ts'
import {
  flag,
  int,
  long,
  nullable,
  object,
  oneof,
  optional,
  readOnly,
  text,
  textMap,
  time,
  uint,
  writeOnly,
} from '../../src/tables/fields.ts'
import type { Operation } from '../../src/tables/operation.ts'
import { action, create, list } from '../../src/tables/operations.ts'
import { message, resource } from '../../src/tables/resource.ts'
import { DIALECTS } from '../../src/tables/uid.ts'
import { openApiDocument, serverUrl } from '../../src/tools/openapi.ts'
import { runCommand } from '../app/cli/support.ts'
import { answers } from '../mappings/transcripts.ts'
import { operations } from '../properties/forms.ts'
import { createUndescribed, documentOf, documentWith } from './openapi-documents.ts'

describe('answers', () => {
  const JSON_TYPE = 'application/json'

  describe.each(DIALECTS)('answers in the %s dialect', async (dialect) => {
    // Some transcripts are of an operator who wants errors for what is missing.
    const undescribed = createUndescribed(documentWith({ dialect, notFound: 'error' }))

    it.each((await answers(dialect)).map((answered) => [`${answered.operation}: ${answered.title}`, answered] as const))(
      '%s: are as the document says',
      (_, { operation, status, reply }) => {
        expect(undescribed(operation, { request: { path: '/' }, answer: { status, type: JSON_TYPE, body: reply } })).toEqual([])
      },
    )
  })

  describe('an answer that the document does not describe', () => {
    const row = { id: 'aa/bb', sink: 'https://h', group_id: 'aa' }
    const list = (body: unknown, change: Partial<{ status: number; type: string }> = {}) => ({
      request: { path: '/events/v1/subscriptions' },
      answer: { status: 200, type: JSON_TYPE, body, ...change },
    })
    const { components, ...rest } = documentWith({ operations: ['events.subscriptions.*'] })

    /** Holds a list of one row against the document with another schema of the row. */
    const saidOf = (change: (properties: Record<string, unknown>) => Record<string, unknown>) => {
      const { Subscription: { properties, ...schema } = { properties: {} }, ...schemas } = components.schemas
      const changed = { ...schema, properties: change(properties as Record<string, unknown>), required: ['id'] }
      const document = { ...rest, components: { ...components, schemas: { ...schemas, Subscription: changed } } }
      return createUndescribed(document)('events.subscriptions.list', list({ items: [row] }))
    }

    it('is found by a member that the document lacks', () => {
      expect(saidOf((properties) => properties)).toEqual([])
      expect(saidOf(({ sink: _, ...others }) => others).join()).toContain(
        'must NOT have additional properties {"additionalProperty":"sink"}',
      )
    })

    it('is found by a member of another type', () => {
      expect(saidOf((properties) => ({ ...properties, sink: { type: 'integer' } })).join()).toContain('/items/0/sink must be integer')
    })

    it('is found by its status, its type and a member that it lacks', () => {
      const said = createUndescribed({ ...rest, components })
      const { sink: _, ...lacking } = row
      expect(said('events.subscriptions.list', list({}, { status: 418 }))).toEqual([expect.stringContaining('answers 418')])
      expect(said('events.subscriptions.list', list({}, { type: 'text/html' }))).toEqual([expect.stringContaining('type text/html')])
      expect(said('events.subscriptions.list', list({ items: [lacking] }))).toEqual([expect.stringContaining("required property 'sink'")])
      expect(said('events.subscriptions.read', list({}))).toEqual(['events.subscriptions.read is not in the document'])
    })

    it('is found by what its request held', () => {
      const said = createUndescribed({ ...rest, components })
      const sent = (path: string, text: string) =>
        said('events.subscriptions.create', { request: { path, text }, answer: list(row).answer })
      expect(sent('/?x=1', '{"sink":1,"colour":null}')).toEqual([
        expect.stringContaining('takes the parameter x'),
        expect.stringContaining('/sink must be string'),
      ])
      expect(sent('/', '{"sink":"https://h","colour":"red"}')).toEqual([expect.stringContaining('"additionalProperty":"colour"')])
      expect(sent('/', '{"sink":"https://h","id":"ignored"}')).toEqual([])
    })
  })
})

describe('open api document', () => {
  /** It reads its own schema of OpenAPI once. */
  const validator = new Validator()

  describe.each(DIALECTS)('the document of the %s dialect', (dialect) => {
    const document = documentOf(dialect)
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ route: `${method.toUpperCase()} ${path}`, operation })),
    )

    it('is OpenAPI 3.1', async () => {
      const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)))
      expect({ valid, errors }).toEqual({ valid: true })
    })

    it('has every operation of the tables once, at its route', () => {
      const anyName = (route: string) => route.replace(/\{[^}]*\}/g, '{}')
      const routes = new Map(described.map(({ route, operation }) => [operation.operationId, anyName(route)]))
      expect(routes).toEqual(new Map(operations.map(({ id, method, template }) => [id, anyName(`${method} ${template}`)])))
      expect(described).toHaveLength(operations.length)
    })

    it('has no path that differs from another in names of variables alone', () => {
      const shapes = Object.keys(document.paths).map((path) => path.replace(/\{[^}]*\}/g, '{}'))
      expect(shapes.filter((shape, at) => shapes.indexOf(shape) !== at)).toEqual([])
    })

    it('refers only to what is there', () => {
      const text = JSON.stringify(document)
      const missing = [...text.matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)].filter(
        ([, kind = '', name = '']) => document.components[kind]?.[name] === undefined,
      )
      expect(missing.map(([reference]) => reference)).toEqual([])
    })

    it('has the same bytes each time', () => expect(JSON.stringify(documentWith({ dialect }))).toBe(JSON.stringify(document)))
  })

  describe('an operation of the document', () => {
    const { paths, components } = documentWith({
      operations: ['iam.groups.*', 'registry.eol_tags.list', 'registry.sbom.get', 'apko.*', 'ping.*'],
    })

    it('says how v2 serves it and what differs', () => {
      expect(paths['/registry/v1/eoltags']?.get).toMatchObject({
        operationId: 'registry.eol_tags.list',
        tags: ['registry'],
        deprecated: true,
        'x-crosswalk-kind': 'emulated',
        'x-crosswalk-because': expect.stringContaining('v2 says only whether a tag is deprecated'),
        'x-crosswalk-v2-calls': ['GET /registry/v2/tags'],
        'x-crosswalk-differences': expect.arrayContaining(['eol-approximated']),
      })
      expect(components['x-crosswalk-differences']).toMatchObject({ 'eol-approximated': { seen: expect.any(String) } })
      expect(components['x-crosswalk-differences']).not.toHaveProperty('sink-needs-https')
    })

    it('says what v1 takes and answers where v1 alone serves it', () => {
      expect(paths['/registry/v1/repos/{repo_id}/digests/{digest}/sbom']?.get).toMatchObject({
        'x-crosswalk-kind': 'v1-only',
        parameters: expect.arrayContaining([expect.objectContaining({ name: 'arch', in: 'query' })]),
        responses: {
          200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Sbom2' } } } },
          501: { $ref: '#/components/responses/NotServed' },
        },
      })
    })

    it('says what is not described', () => {
      expect(paths['/apko/v1/resolve/{repo_uidp}']?.post).toMatchObject({
        description: expect.stringContaining('not described here'),
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/V1OnlyRequest' } } } },
      })
      expect(components.schemas.V1OnlyAnswer).toEqual({ description: expect.stringContaining('do not describe it') })
    })

    it('has the name of a path variable that most operations give it', () => {
      expect(paths['/iam/v1/groups/{id}']?.post?.parameters).toEqual([
        {
          name: 'id',
          in: 'path',
          required: true,
          description: expect.stringMatching(/may contain slashes.*may be empty.*Errors call it parent\.$/),
          schema: { type: 'string', pattern: '^.+$' },
        },
      ])
    })

    it('says what a replacement keeps', () => {
      const of = (id: string) =>
        Object.values(documentOf('published').paths).flatMap(({ put }) => (put?.operationId === id ? [put.description] : []))
      expect(of('iam.roles.update')).toEqual(['v2 serves this operation. It replaces the whole: a member that the body omits is reset.'])
      expect(of('iam.identity_providers.update').join()).toMatch(/is reset, but for oidc\.clientSecret, oidc\.correlationRule\.$/)
    })

    it('needs a token unless neither service asks for one', () => {
      expect(paths['/ping/v1/ping']?.get).toMatchObject({ security: [] })
      expect(paths['/iam/v1/groups']?.get).not.toHaveProperty('security')
    })

    it('answers 404 for a list only if the operator says so', () => {
      expect(paths['/iam/v1/groups']?.get?.responses).not.toHaveProperty('404')
      const told = documentWith({ operations: ['iam.groups.list'], notFound: 'error' })
      expect(told.paths['/iam/v1/groups']?.get?.responses).toHaveProperty('404')
    })

    it('announces the end of v1 if the settings do', () => {
      const { paths, components } = documentWith({ operations: ['iam.groups.list'], sunset: 1_893_456_000, successor: 'https://h/v2' })
      expect(components.headers).toEqual({
        Sunset: expect.objectContaining({ example: 'Tue, 01 Jan 2030 00:00:00 GMT' }),
        Link: expect.objectContaining({ example: '<https://h/v2>; rel="successor-version"' }),
      })
      const headers = { Sunset: { $ref: '#/components/headers/Sunset' }, Link: { $ref: '#/components/headers/Link' } }
      expect(paths['/iam/v1/groups']?.get?.responses).toMatchObject({ 200: { headers } })
      expect(components.responses?.Invalid).toMatchObject({ headers })
    })
  })
})

describe('schemas', () => {
  const thing = resource('large thing', {
    v2: '/x/v2/things',
    plural: 'things',
    stamps: ['created_at'],
    fields: {
      id: readOnly('uid'),
      first_name: text('name'),
      size: optional(int('size')),
      nick: optional(nullable(text('nick'))),
      port: uint('port'),
      count: long('count'),
      labels: textMap('labels'),
      part: object('part', { made_at: time('made'), ok: flag('ok') }),
      secret: writeOnly(text('secret')),
      by_name: oneof('by', text('byName')),
      by_size: oneof('by', int('bySize')),
    },
  })

  const schemasOf = (dialect: 'specification' | 'published', ...own: readonly Operation[]) => {
    const settings = { deprecation: undefined, sunset: undefined, successor: undefined, notFound: 'empty', operations: [] } as const
    const tables = { name: 'own', mappings: [{ domain: 'x', operations: own }], shapes: {}, differences: [] }
    return openApiDocument(tables, { ...settings, dialect, server: 'http://h' }).components.schemas
  }

  describe('the shapes of operations that v1 alone serves', () => {
    const v1Only = operations.filter(({ kind }) => kind === 'v1-only').map(({ id }) => id)

    it('name only such operations', () => expect(Object.keys(v1OnlyShapes).filter((id) => !v1Only.includes(id))).toEqual([]))

    it('name all of a domain with a published contract', () => {
      const published = v1Only.filter((id) => /^(registry|vulnerabilities|libraries|auth)\./.test(id))
      expect(published.filter((id) => !(id in v1OnlyShapes))).toEqual([])
    })
  })

  describe('the schemas of a resource', () => {
    const read = list('x.things.list', 'GET /x/v1/things', thing, {
      envelope: message('things', { next_page_token: text('nextPageToken') }),
    })
    const written = create('x.things.create', 'POST /x/v1/things/{parent_id=**}', thing)

    it('require in an answer what v1 always shows, null for what is unset', () => {
      const { LargeThing, LargeThingPart } = schemasOf('published', read)
      expect(LargeThing).toMatchObject({
        properties: {
          firstName: { type: 'string' },
          size: { type: 'integer', format: 'int32' },
          nick: { type: ['string', 'null'] },
          port: { type: 'integer', format: 'int64', minimum: 0, maximum: 4_294_967_295 },
          count: { type: 'string', format: 'int64' },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          part: { anyOf: [{ $ref: '#/components/schemas/LargeThingPart' }, { type: 'null' }] },
        },
        required: ['id', 'firstName', 'port', 'count', 'labels', 'part'],
      })
      expect(LargeThing?.properties).not.toHaveProperty('secret')
      expect(LargeThingPart).toMatchObject({
        properties: { madeAt: { type: ['string', 'null'], format: 'date-time' } },
        required: ['madeAt', 'ok'],
      })
    })

    it('have the members and the spelling of the dialect', () => {
      const { LargeThing, LargeThingList } = schemasOf('specification', read)
      expect(LargeThing?.required).toEqual(['id', 'first_name', 'port', 'count', 'labels', 'part', 'created_at'])
      expect(LargeThingList).toMatchObject({
        properties: { items: { type: 'array', items: { $ref: '#/components/schemas/LargeThing' } }, next_page_token: { type: 'string' } },
        required: ['items', 'next_page_token'],
      })
      expect(schemasOf('published', read).LargeThingList?.required).toEqual(['items', 'nextPageToken'])
    })

    it('require nothing in a request, and mark what v1 alone writes', () => {
      const { LargeThingRequest, LargeThingRequestPart } = schemasOf('specification', written)
      expect(LargeThingRequest).toMatchObject({
        properties: { id: { readOnly: true }, secret: { type: 'string' }, part: { $ref: '#/components/schemas/LargeThingRequestPart' } },
      })
      expect(LargeThingRequest).not.toHaveProperty('required')
      expect(LargeThingRequestPart).not.toHaveProperty('required')
    })

    it('allow one member of a oneof at most', () => {
      const { LargeThing } = schemasOf('published', read)
      expect(LargeThing?.description).toBe('At most one of byName, bySize is present.')
      expect(LargeThing?.dependentSchemas).toEqual({ byName: { properties: { bySize: false } } })
    })

    it('have names of their own', () => {
      const other = action('x.things.other', 'GET /x/v1/other', {
        v2: 'GET /x/v2/other',
        answer: message('large thing', { other: flag('o') }),
      })
      expect(() => schemasOf('published', read, other)).toThrow('two schemas have the name LargeThing; rename one message')
    })

    it('of a batch are those of the list that is the body', () => {
      const { paths } = documentWith({ operations: ['iam.role_bindings.create_batch'] })
      expect(paths['/iam/v1/rolebindings/batch/{parent}']?.post?.requestBody).toMatchObject({
        content: {
          'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/RoleBindingBatchRequestRoleBindings' } } },
        },
      })
    })
  })
})

it.each([
  ['http://127.0.0.1:8080', 'admin.example', 'http://127.0.0.1:8080'],
  ['https://0.0.0.0:8443', 'admin.example', 'https://admin.example:8443'],
  ['http://[::]:8080', '[::1]', 'http://[::1]:8080'],
  ['http://[::1]:8080', 'admin.example', 'http://[::1]:8080'],
])('server url makes of %s, called as %s, the address %s', (listening, called, url) => {
  expect(serverUrl(listening, called)).toBe(url)
})

describe('openapi', () => {
  const PING = ['openapi', '--operations', 'ping.*']

  it('prints the contract of the operations that a pattern covers', async () => {
    const { code, out } = await runCommand([...PING, '--dialect', 'published'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual(documentWith({ dialect: 'published', operations: ['ping.*'] }))
  })

  it('prints what the settings say of the proxy', async () => {
    const settings = ['--host', '0.0.0.0', '--port', '9000', '--v1-sunset', '2030-01-01', '--not-found', 'error']
    const { out } = await runCommand([...PING, ...settings])
    expect(JSON.parse(out)).toEqual(
      documentWith({ server: 'http://localhost:9000', operations: ['ping.*'], sunset: 1_893_456_000, notFound: 'error' }),
    )
    const { out: elsewhere } = await runCommand([...PING, '--server', 'https://v1.example'])
    expect(JSON.parse(elsewhere).servers).toEqual([{ url: 'https://v1.example' }])
  })

  it('writes the document to a file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'crosswalk-')), 'v1.json')
    expect(await runCommand([...PING, '--out', file])).toEqual({ code: 0, out: `written to ${file}`, err: '' })
    expect(readFileSync(file, 'utf8')).toBe(`${JSON.stringify(documentWith({ operations: ['ping.*'] }), null, 2)}\n`)
  })

  it.each([
    [['--operations', 'iam.group.list'], '--operations "iam.group.list" fits no operation; did you mean "iam.groups.list"?'],
    [['--server', 'proxy'], 'server is "proxy" in the flag --server, but it must be an address such as https://proxy.example.'],
    [['--dialect', 'klingon'], 'v1.dialect is "klingon" in the flag --dialect, but it must be one of specification, published.'],
  ])('refuses %j with one sentence', async (flags, err) => {
    expect(await runCommand(['openapi', ...flags])).toEqual({ code: 2, out: '', err })
  })
})
