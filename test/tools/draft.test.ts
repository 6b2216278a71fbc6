import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { tables as asDrafted } from '../../examples/resource-manager/drafted.ts'
import { tables as byHand } from '../../examples/resource-manager/tables.ts'
import { checkMappings } from '../../src/tables/check.ts'
import type { Fields } from '../../src/tables/fields.ts'
import { operationsOf, type Tables } from '../../src/tables/tables.ts'
import { readDocument } from '../../src/tools/contract.ts'
import { draftTables } from '../../src/tools/draft.ts'
import { runCommand } from '../app/cli/support.ts'
import { listening } from '../stage/programs.ts'

const folder = mkdtempSync(join(tmpdir(), 'crosswalk-draft-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('crosswalk draft', () => {
  const [V1, V3] = ['v1', 'v3'].map((version) => `examples/resource-manager/openapi-${version}.json`) as [string, string]

  it('writes the draft to a file and prints what is left to decide', async () => {
    const out = join(folder, 'tables.ts')
    const ran = await runCommand(['draft', '--v1', V1, '--v2', V3, '--name', 'resourcemanager', '--out', out])
    expect(readFileSync(out, 'utf8')).toBe(readFileSync('examples/resource-manager/drafted.ts', 'utf8'))
    expect(ran.out).toMatch(/^written to .*tables\.ts\nto decide: GET \/v1\/projects: GET \/v3\/projects has its path, but needs parent\n/)
  })

  it('writes JavaScript without types where the name of the file says so', async () => {
    const out = join(folder, 'tables.mjs')
    await runCommand(['draft', '--v1', V1, '--v2', V3, '--name', 'resourcemanager', '--out', out])
    const [typed, plain] = [readFileSync('examples/resource-manager/drafted.ts', 'utf8'), readFileSync(out, 'utf8')]
    const untyped = typed
      .replace(/^interface .*\n(?:^ .*\n)*\}\n\n/gm, '')
      .replace(/^interface .*\{\}\n\n/gm, '')
      .replace(/rows<\w+, \w+>\(\)\((\{[\s\S]*?\n\})\)/g, '$1')
      .replaceAll(/, type \w+|(?<= )rows, /g, '')
      .replaceAll(/: (?:Mapping|Tables|readonly Acknowledged\[\]) =/g, ' =')
    expect(plain).toBe(untyped)
  })

  it.each([
    [['--v1', V1], 2, 'draft needs two OpenAPI documents: --v1 FILE --v2 FILE.'],
    [['--v1', V1, '--v2', V3, '--name', 'a b'], 2, 'name is "a b", but it must be letters and digits such as "shop".'],
    [['--v1', 'none.json', '--v2', V3], 2, 'a document cannot be read: there is no such file or folder (none.json)'],
  ])('says what is wrong with %j', async (argv, code, sentence) => {
    const ran = await runCommand(['draft', ...argv])
    expect([ran.code, ran.err.trim()]).toEqual([code, sentence])
  })
})

describe('a draft of the example', () => {
  const EXAMPLE = 'examples/resource-manager'

  async function drafted() {
    const [v1, v3] = await Promise.all(['v1', 'v3'].map((version) => readDocument(`${EXAMPLE}/openapi-${version}.json`)))
    if (!v1 || !v3) throw new Error('a document is missing')
    return draftTables(v1.contract, v3.contract, 'resourcemanager')
  }

  /** `GET /v1/projects/{projectId} answer.name` → the place in v2. */
  function placesIn(tables: Tables): ReadonlyMap<string, string> {
    const below = (fields: Fields, at: string): [string, string][] =>
      Object.entries(fields).flatMap(([name, { type, source }]): [string, string][] => {
        const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
        const own: [string, string][] = typeof source === 'string' && source !== '' ? [[`${at}.${name}`, source]] : []
        return [...own, ...(inner.kind === 'object' ? below(inner.fields, `${at}.${name}`) : [])]
      })
    return new Map(
      operationsOf(tables).flatMap(({ method, template, calls, request, answer }): [string, string][] => {
        const route = `${method} ${template}`
        return [
          ...(calls.length === 1 ? [[route, String(calls[0])] as [string, string]] : []),
          ...below(request?.fields ?? {}, `${route} request`),
          ...below(answer?.fields ?? {}, `${route} answer`),
        ]
      }),
    )
  }

  it('is the text that the example shows', async () => expect((await drafted()).text).toMatchFileSnapshot(`../../${EXAMPLE}/drafted.ts`))

  it('passes the checks of the start as it stands', () => expect(() => checkMappings(asDrafted.mappings)).not.toThrow())

  it('guesses nothing that the table written by hand says otherwise', () => {
    const [guessed, right] = [placesIn(asDrafted), placesIn(byHand)]
    expect([...guessed].filter(([place, v2]) => right.has(place) && right.get(place) !== v2)).toEqual([])
    const found = [...right.keys()].filter((place) => guessed.has(place))
    process.stderr.write(`draft: ${found.length} of ${right.size} rows written by hand, ${guessed.size} guesses, none wrong\n`)
    expect(found.length).toBeGreaterThan(right.size / 4)
  })

  it('lists what a person must decide', async () => {
    const { decisions } = await drafted()
    expect(decisions).toContain("Project.name: v2's name may mean something else: only v2 says that it is read-only")
    expect(decisions).toContain("Project.parent: v2's parent is of the kind text, and v1's of the kind object")
    expect(decisions).toContain(
      'PUT /v1/projects/{projectId}: v2 updates by PATCH /v3/projects/{projectsId}: say which members it replaces, as replace() or an operation with a plan',
    )
    expect(decisions).toContain('GET /v1/projects: GET /v3/projects has its path, but needs parent')
  })
})

describe('odd documents', () => {
  function written(name: string, document: unknown): string {
    const path = join(folder, name)
    writeFileSync(path, typeof document === 'string' ? document : JSON.stringify(document))
    return path
  }

  const json = (schema: unknown) => ({ content: { 'application/json': { schema } } })
  const ok = (schema: unknown) => ({ responses: { 200: { description: '', ...json(schema) } } })
  const info = { title: 'Odd', version: '1' }

  /** A document with one read, whose answer has these members. */
  function documentOf(properties: object) {
    const paths = { '/v1/a': { get: ok({ $ref: '#/components/schemas/A' }) } }
    return { openapi: '3.0.3', info, paths, components: { schemas: { A: { type: 'object', properties } } } }
  }

  /** Drafts a table of a document and itself. */
  async function draftOf(name: string, document: unknown) {
    const { contract, problems } = await readDocument(written(name, document))
    return { ...draftTables(contract, contract, 'odd'), problems }
  }

  describe('a document', () => {
    it('may hold cycles, members without a type, and types without a word', async () => {
      const node = {
        type: 'object',
        properties: {
          name: { type: 'string' },
          child: { $ref: '#/components/schemas/Node' },
          loose: {},
          rate: { type: 'number' },
          either: { oneOf: [{ type: 'string' }] },
        },
      }
      const paths = { '/v1/nodes': { get: ok({ $ref: '#/components/schemas/Node' }) } }
      const { decisions } = await draftOf('odd.json', { openapi: '3.0.3', info, paths, components: { schemas: { Node: node } } })
      expect(decisions).toEqual([
        "Node.child: v2's child cannot be compared: v1's Node holds itself",
        "Node.loose: v2's loose cannot be compared: v1's has no type",
        "Node.either: v2's either cannot be compared: v1's is a oneOf",
        ...['child', 'loose', 'either'].map((name) => `v2 Node.${name}: no row shows it`),
      ])
    })

    const read = (description: object) => ({ responses: { 200: { description: '', ...description } } })
    const csv = { content: { 'text/csv': { schema: { type: 'string' } } } }
    const upload = { content: { 'multipart/form-data': { schema: { type: 'object' } } } }

    it.each([
      ['an answer', { get: read(csv) }, "not the answer: v2's cannot be compared: v1's is text/csv, not JSON"],
      [
        'a body',
        { put: { requestBody: upload, ...read({}) } },
        "not the body: v2's cannot be compared: v1's is multipart/form-data, not JSON",
      ],
      [
        'a form of Swagger 2',
        { post: { parameters: [{ in: 'formData', name: 'file', type: 'file' }], ...read({}) } },
        "not the body: v2's cannot be compared: v1's is a form, not JSON",
      ],
    ])('leaves %s that is not JSON to a person', async (_, operations, reason) => {
      const { decisions } = await draftOf('files.json', { openapi: '3.0.3', info, paths: { '/v1/files': operations } })
      expect(decisions[0]).toContain(`/v1/files has its path, but ${reason}`)
    })

    it('may add members beside an allOf, answer by default, and keep a path elsewhere', async () => {
      const schemas = {
        Pet: { type: 'object', properties: { name: { type: 'string' } } },
        Dog: { allOf: [{ $ref: '#/components/schemas/Pet' }], properties: { bark: { type: 'string' } } },
      }
      const answer = { description: '', content: { '*/*': { schema: { $ref: '#/components/schemas/Dog' } } } }
      const pathItems = { dogs: { get: { responses: { default: answer } } } }
      const paths = { '/v1/dogs': { $ref: '#/components/pathItems/dogs' } }
      const { text } = await draftOf('beside.json', { openapi: '3.1.0', info, paths, components: { schemas, pathItems } })
      expect(text).toMatch(/name: optional\(text\('name'\)\),[^}]*bark: optional\(text\('bark'\)\),/)
      expect(text).toMatch(/'GET \/v1\/dogs', \{\s*v2: 'GET \/v1\/dogs',\s*answer: dog,/)
    })

    it('says where a reference leads nowhere', async () => {
      const { problems, text } = await draftOf('nowhere.json', documentOf({ a: { $ref: '#/nowhere' }, b: { type: 'string' } }))
      expect(problems.join()).toMatch(/nowhere/)
      expect(text).toContain('leads nowhere')
    })

    it('may be spread over files, and be YAML', async () => {
      written('pet.yaml', 'type: object\nproperties:\n  name: { type: string }\n')
      const root =
        "openapi: 3.1.0\ninfo: { title: a, version: '1' }\npaths:\n  /v1/pets:\n    get:\n      responses:\n        '200': { description: '', content: { application/json: { schema: { $ref: ./pet.yaml } } } }\n"
      expect((await draftOf('root.yaml', root)).text).toContain("name: optional(text('name'))")
    })

    it('may be of Swagger 2', async () => {
      const parameters = [
        { in: 'body', name: 'body', schema: { $ref: '#/definitions/Pet' } },
        { in: 'query', name: 'dry', type: 'boolean' },
      ]
      const post = { parameters, responses: { 200: { description: '', schema: { $ref: '#/definitions/Pet' } } } }
      const definitions = { Pet: { type: 'object', properties: { name: { type: 'string' } } } }
      const { text } = await draftOf('swagger.json', { swagger: '2.0', info, paths: { '/v1/pets': { post } }, definitions })
      expect(text).toMatch(/params: \{ "dry": flagParam\('dry'\) \},\s*request: pet,\s*answer: pet,/)
    })

    it.each([
      [{ key: [] }, true],
      [{ key: [] }, { bearer: [] }, false],
    ])('may ask for a key in a header, which no call sends: %j', async (...given) => {
      const isAsked = given.pop()
      const securitySchemes = { key: { type: 'apiKey', in: 'header', name: 'X-API-Key' }, bearer: { type: 'http', scheme: 'bearer' } }
      const { components, ...document } = documentOf({ a: { type: 'string' } })
      const { decisions } = await draftOf('key.json', { ...document, security: given, components: { ...components, securitySchemes } })
      expect(decisions).toEqual(
        isAsked ? ['v1', 'v2'].map((side) => expect.stringMatching(`${side} GET /v1/a header X-API-Key: tables`)) : [],
      )
    })

    it.each(['/api/v2', 'api/v2', './api//v2/', '/{tenant}/api/v2'])(
      'serves and calls paths below the base path of each document: %s',
      async (relative) => {
        const get = ok({ $ref: '#/components/schemas/A' })
        const read = async (name: string, url: string) => {
          const servers = [{ url, variables: { version: { default: 'v1' }, tenant: { default: '' } } }]
          const document = { ...documentOf({ a: { type: 'string' } }), servers, paths: { '/a/{id}': { get } } }
          return (await readDocument(written(name, document))).contract
        }
        const [one, other] = [await read('v1.json', 'https://a.example/shop/{version}/'), await read('v2.json', relative)]
        const { text } = draftTables(one, other, 'odd')
        expect(text).toMatch(/prefix: 'shop\/v1',[\s\S]*'GET \/shop\/v1\/a\/\{id\}', \{\s*v2: 'GET \/api\/v2\/a\/\{id\}'/)
      },
    )

    describe('reads only what it was given', () => {
      const SCHEMA = '{"type":"object","properties":{"hidden":{"type":"string"}}}'
      let outside: string
      let server: Server
      let url = ''
      const asked: string[] = []

      beforeAll(async () => {
        outside = mkdtempSync(join(tmpdir(), 'crosswalk-outside-'))
        writeFileSync(join(outside, 'secret.json'), SCHEMA)
        symlinkSync(join(outside, 'secret.json'), join(folder, 'link.json'))
        symlinkSync(outside, join(folder, 'linked'))
        server = createServer((request, response) => {
          asked.push(request.url ?? '')
          response.setHeader('content-type', 'application/json').end(SCHEMA)
        })
        url = (await listening(server)).url
      })

      afterAll(() => {
        rmSync(outside, { recursive: true })
        server.close()
      })

      const refs = (): Readonly<Record<string, string>> => ({
        host: `${url}/latest/meta-data`,
        scheme: `${url.replace('http', 'HTTP')}/upper`,
        absolute: join(outside, 'secret.json'),
        above: `../${basename(outside)}/secret.json`,
        folder: `linked/secret.json`,
        link: 'link.json',
        file: `file://${join(outside, 'secret.json')}`,
        device: '/dev/zero',
        fragment: `${join(outside, 'secret.json')}#/properties/hidden`,
      })

      const withRef = (ref: string) => ({ openapi: '3.0.3', info, paths: { '/v1/pets': { get: ok({ $ref: ref }) } } })

      it.each(['host', 'scheme', 'absolute', 'above', 'folder', 'link', 'file', 'device', 'fragment'])('not %s', async (name) => {
        asked.length = 0
        const { text, problems } = await draftOf('remote.json', withRef(refs()[name] ?? ''))
        expect([text.includes("'hidden'"), asked]).toEqual([false, []])
        expect(problems.join()).toMatch(/is not read: it is not a file in the folder of the document/)
      })

      it('or more, if somebody asks for it', async () => {
        const path = written('remote.json', withRef(refs().above ?? ''))
        const { contract, problems } = await readDocument(path, { mayLeave: true })
        expect([JSON.stringify(contract).includes('hidden'), problems]).toEqual([true, []])
      })
    })

    describe('of somebody hostile ends in a sentence', () => {
      const named = (count: number, of: (nth: number) => unknown) =>
        Object.fromEntries(Array.from({ length: count }, (_, nth) => [`m${nth}`, of(nth)]))
      const schemas = (all: object) => ({ ...documentOf({}), components: { schemas: all } })
      const chain = (count: number) => named(count, (nth) => ({ $ref: `#/components/schemas/m${nth + 1}` }))
      const tower = (of: (next: unknown) => unknown) =>
        schemas(
          Object.fromEntries(
            Array.from({ length: 30 }, (_, nth) => [
              nth === 0 ? 'A' : `A${nth}`,
              nth === 29 ? { type: 'object', properties: { x: { type: 'string' } } } : of({ $ref: `#/components/schemas/A${nth + 1}` }),
            ]),
          ),
        )
      const begin = "openapi: 3.0.3\ninfo: { title: a, version: '1' }\n"
      const paths = (schema: string) =>
        `paths:\n  /v1/a:\n    get:\n      responses: { '200': { description: '', content: { application/json: { schema: ${schema} } } } }\n`
      const laughs = Array.from({ length: 30 }, (_, nth) =>
        nth === 0 ? 'x0: &a0 { type: string }' : `x${nth}: &a${nth} { a: *a${nth - 1}, b: *a${nth - 1}, c: *a${nth - 1} }`,
      ).join('\n')

      it.each([
        [
          'references that triple',
          tower((next) => ({ type: 'object', properties: { a: next, b: next, c: next } })),
          /make more than 1000000/,
        ],
        ['aliases that triple', `${laughs}\n${begin}${paths('*a29')}`, /holds more than 1000000 values/],
        ['an alias of itself', `${begin}${paths('&q { type: object, properties: { b: *q } }')}`, /is not an OpenAPI document/],
        ['very many levels', `{"openapi":"3.0.3","paths":{},"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /nesting exceeded/],
        ['a chain of 5,000 references', schemas(chain(5000)), /leads through more than 100 others/],
        [
          'a chain through members',
          schemas(named(5000, (nth) => ({ $ref: `#/components/schemas/m${nth + 1}/properties/x` }))),
          /more than 100 others/,
        ],
        ['a reference to itself', schemas({ A: { $ref: '#/components/schemas/A' } }), /Self-referencing/],
        ['60,000 names', documentOf(named(60_000, () => ({ type: 'string' }))), /more than 10000 values/],
        ['60,000 values', documentOf({ e: { type: 'string', enum: Object.keys(named(60_000, Number)) } }), /more than 10000 values/],
        ['more bytes than it may have', ' '.repeat(2 ** 24 + 1), /a document cannot be read: .* has more than 16777216 bytes/],
      ])('with %s', async (_, document, sentence) => {
        const path = written(typeof document === 'string' && !document.startsWith('{') ? 'hostile.yaml' : 'hostile.json', document)
        await expect(readDocument(path)).rejects.toThrow(sentence)
      })

      it('that never ends', async () => expect(readDocument('/dev/zero')).rejects.toThrow(/\/dev\/zero has more than 16777216 bytes/))

      it('with a large file beside it', async () => {
        written('beside.yaml', laughs)
        const beside = { openapi: '3.0.3', info, paths: { '/v1/a': { get: ok({ $ref: 'beside.yaml#/x29' }) } } }
        const read = readDocument(written('root.json', beside)).then(({ problems }) => problems.join())
        expect(await read.catch((error: Error) => error.message)).toMatch(/holds more than 1000000 values/)
      })

      it.each([
        ['a chain of 90 references', schemas({ ...chain(90), m90: { type: 'string' } }), 'm0'],
        [
          'objects in the place of words',
          schemas({ A: { type: { a: 1 }, format: { a: 1 }, properties: { e: { type: 'string', enum: [{ toString: 1 }] } } } }),
          'A',
        ],
        ['a reference that is not encoded', schemas({ A: { $ref: '#/components/%zz' } }), 'A'],
      ])('or is read, with %s', async (_, document, name) => {
        const path = written('read.json', JSON.stringify(document).replaceAll('#/components/schemas/A"', `#/components/schemas/${name}"`))
        expect((await readDocument(path)).contract.operations).toHaveLength(1)
      })
    })

    it.each([
      ['absent.json', undefined, /a document cannot be read: there is no such file or folder \(.*absent\.json\)$/],
      ['text.json', 'no: [document', /text\.json is not an OpenAPI document/],
      ['list.json', '[]', /list\.json/],
      ['none.json', { openapi: '3.0.3', info, paths: {} }, /the document of v1 has no operation under paths/],
    ])('is refused with a sentence: %s', async (name, document, sentence) => {
      if (document !== undefined) written(name, document)
      const drafted = readDocument(join(folder, name)).then(({ contract }) => draftTables(contract, contract, 'odd'))
      await expect(drafted).rejects.toThrow(sentence)
    })
  })

  describe('a guess', () => {
    const textOf = async (v1: object, v2: object) => {
      const read = async (name: string, properties: object) =>
        (await readDocument(written(name, documentOf({ same: { type: 'string' }, ...properties })))).contract
      const { text } = draftTables(await read('one.json', v1), await read('other.json', v2), 'odd')
      expect(text).toContain("same: optional(text('same'))")
      return text
    }

    it('is not made between two candidates', async () => {
      const time = { type: 'string', format: 'date-time' }
      expect(await textOf({ createdAt: time }, { first_create_time: time, last_create_time: time })).not.toContain("time('")
    })

    it('is not made for a text whose name is only similar', async () => {
      expect(await textOf({ ownerName: { type: 'string' } }, { name: { type: 'string' } })).not.toContain("text('name')")
    })

    it('is made for the only time with a name like it', async () => {
      const time = { type: 'string', format: 'date-time' }
      expect(await textOf({ createdAt: time }, { creation_time: time, updateTime: time })).toContain(
        "createdAt: optional(time('creation_time'))",
      )
    })

    it('is made of a list and of a map with a row for what is in it', async () => {
      const [integer, boolean] = [{ type: 'integer' }, { type: 'boolean' }]
      const many = (items: object) => ({ a: { type: 'array', items } })
      const keyed = (additionalProperties: object) => ({ a: { type: 'object', additionalProperties } })
      const member = async (schema: object) => / {2}a: optional\((.*)\)/.exec(await textOf(schema, schema))?.[1]
      expect(await member(many(integer))).toBe("listOf(int('a'))")
      expect(await member(keyed(boolean))).toBe("mapOf(flag('a'))")
      expect(await member(many({ ...integer, format: 'int64' }))).toBe("listOf(number('a'))")
      expect(await member(many(many(integer).a))).toContain('it is a list of the kind list')
    })

    it.each([
      ['OpenAPI 2', { type: 'string', 'x-nullable': true }],
      ['OpenAPI 3.0', { type: 'string', nullable: true }],
      ['OpenAPI 3.1', { type: ['string', 'null'] }],
      ['a form of OpenAPI 3.1', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ])('keeps null where both say that it is a value, in the words of %s', async (_, schema) => {
      expect(await textOf({ a: schema }, { a: schema })).toContain("a: optional(nullable(text('a')))")
    })

    it.each([
      ['a list', { type: 'array', items: { type: 'string', nullable: true } }, "a: optional(listOf(nullable(text('a'))))"],
      ['a map', { type: 'object', additionalProperties: { type: 'boolean', nullable: true } }, "a: optional(mapOf(nullable(flag('a'))))"],
    ])('keeps null inside %s, where both say so, and leaves a null of v2 alone to a person', async (_, schema, row) => {
      const plain = JSON.parse(JSON.stringify(schema).replace(',"nullable":true', ''))
      expect(await textOf({ a: schema }, { a: schema })).toContain(row)
      expect(await textOf({ a: plain }, { a: schema })).toContain("v2's a may hold null, and v1's may not")
      expect(await textOf({ a: schema }, { a: plain })).toContain("{ v1: 'A.a[]=null', reason: 'TO DECIDE: its row takes no null inside")
    })

    it('has no null among the values of an enum, and leaves a null of one version to a person', async () => {
      const values = { type: 'string', nullable: true, enum: ['UP', 'DOWN', null] }
      expect(await textOf({ a: values }, { a: values })).toContain(`enumMap('aValues', [["UP","UP"],["DOWN","DOWN"]])`)
      expect(await textOf({ a: values }, { a: { ...values, nullable: false, enum: ['UP', 'DOWN'] } })).toContain(
        "{ v1: 'A.a=null', reason: 'TO DECIDE: its row takes null for unset; make it nullable, or acknowledge it' }",
      )
    })

    it('is not made for an object of which nothing is said, or a name that a row would take for a path', async () => {
      const { decisions } = await draftOf(
        'loose.json',
        documentOf({ a: { type: 'string' }, meta: { type: 'object' }, 'x.y': { type: 'string' } }),
      )
      expect(decisions.slice(0, 2)).toEqual([
        "A.meta: v2's meta cannot be compared: v1's may hold anything",
        "A.x.y: v2's x.y has a dot, which a row takes for a member of a member",
      ])
    })

    it("is made with v1's media type, unless it may be application/json", async () => {
      const schema = { type: 'object' }
      const of = async (...types: string[]) => {
        const content = Object.fromEntries(types.map((type) => [type, { schema }]))
        const paths = { '/v1/a': { get: { responses: { 200: { description: '', content } } } } }
        return (await draftOf('media-type.json', { openapi: '3.0.3', info, paths })).text
      }
      expect(await of('application/hal+json; profile=x')).toMatch(/v2: 'GET \/v1\/a',\s*type: 'application\/hal\+json',/)
      expect(await of('application/hal+json', 'application/json')).not.toContain('hal+json')
    })

    it("is made with v1's status, and not for a call whose answer comes later", async () => {
      const answered = (status: number) => ({ paths: { '/v1/a': { delete: { responses: { [status]: { description: '' } } } } } })
      const of = (name: string, status: number) => draftOf(name, { openapi: '3.0.3', info, ...answered(status) })
      expect((await of('no-content.json', 204)).text).toMatch(/v2: 'DELETE \/v1\/a',\s*status: 204,/)
      expect((await of('accepted.json', 202)).decisions[0]).toContain('it answers 202, and a call takes 200, 201 and 204')
    })

    it('is made of a number of any size in a query, where it is a text', async () => {
      const parameters = [{ name: 'after', in: 'query', schema: { type: 'integer', format: 'int64' } }]
      const document = documentOf({ a: { type: 'string' } })
      const get = { parameters, ...ok({ $ref: '#/components/schemas/A' }) }
      const { text } = await draftOf('query.json', { ...document, paths: { '/v1/a': { get } } })
      expect(text).toContain(`params: { "after": 'after' }`)
    })

    it('is not made where the values of an enum differ', async () => {
      const state = (values: string[]) => ({ state: { type: 'string', enum: values } })
      expect(await textOf(state(['NONE', 'UP']), state(['NONE', 'DOWN']))).toContain("TO DECIDE: v2\\'s state has other values")
      expect(await textOf(state(['UP', 'DOWN']), state(['DOWN', 'UP']))).toContain("TO DECIDE: v2\\'s state has other values")
      expect(await textOf(state(['ADMIN', 'USER']), state(['OWNER', 'USER']))).toContain("TO DECIDE: v2\\'s state has other values")
      expect(await textOf(state(['UNKNOWN', 'UP']), state(['STATE_UNSPECIFIED', 'UP']))).toContain('["UNKNOWN","STATE_UNSPECIFIED"]')
      expect(await textOf(state(['UP', 'DOWN', 'UP']), state(['UP', 'DOWN', 'DOWN']))).toContain('choice(')
    })
  })
})
