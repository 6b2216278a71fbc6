import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { STATUS_FORM } from '../../src/errors.ts'
import {
  choice,
  converted,
  enumMap,
  gone,
  int,
  listOf,
  long,
  nested,
  nullable,
  objects,
  readOnly,
  text,
  texts,
  time,
} from '../../src/tables/fields.ts'
import { action, operation } from '../../src/tables/operations.ts'
import { choiceParam } from '../../src/tables/query.ts'
import { message } from '../../src/tables/resource.ts'
import { coverageOf } from '../../src/tools/check-coverage.ts'
import { type ContractOperation, contractOf } from '../../src/tools/contract.ts'
import { runCommand } from '../app/cli/support.ts'

describe('crosswalk check', () => {
  const EXAMPLE = 'examples/resource-manager'
  const [V1, V2] = [`${EXAMPLE}/openapi-v1.json`, `${EXAMPLE}/openapi-v3.json`]
  const CONTRACTS = ['--v1', V1, '--v2', V2]

  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-check-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  /** A module with the tables of the example, changed by some lines. */
  function changed(name: string, lines: string): string {
    const path = join(folder, name)
    writeFileSync(path, `import { tables as whole } from ${JSON.stringify(resolve(EXAMPLE, 'tables.ts'))}\n${lines}\n`)
    return path
  }

  it('finds nothing that the example leaves open', async () => {
    const { code, out } = await runCommand(['check', `${EXAMPLE}/tables.ts`, ...CONTRACTS])
    expect(out).toContain('acknowledged  v2 Project.etag in answers: v1 never had them\n')
    expect(out).toMatch(/\nresource-manager: \d+ covered, \d+ acknowledged, 0 not covered, 0 to decide, 0 wrong$/)
    expect(code).toBe(0)
  })

  it('finds nothing that the tables of this package leave open', async () => {
    const { code, out } = await runCommand(['check'])
    expect([code, out.split('\n')]).toEqual([
      0,
      [
        'Members were not compared: give the OpenAPI documents of both versions with --v1 FILE --v2 FILE.',
        'resource-management: 0 to decide, 0 wrong',
      ],
    ])
  })

  it('asks of a draft precisely what its header lists', async () => {
    const { code, out } = await runCommand(['check', `${EXAMPLE}/drafted.ts`, ...CONTRACTS])
    const header = readFileSync(`${EXAMPLE}/drafted.ts`, 'utf8')
    const listed = [...header.matchAll(/^\/\/ - (.*)$/gm)].map(([, decision]) => decision)
    const asked = [...out.matchAll(/^TO DECIDE {5}(.*)$/gm)].map(([, decision]) => decision)
    expect(header).toContain(`Left to decide: ${asked.length}.`)
    expect(asked.sort()).toEqual(listed.sort())
    expect(out).toMatch(new RegExp(`, 0 not covered, ${asked.length} to decide, 0 wrong$`))
    expect(code).toBe(1)
  })

  it('names everything that is wrong, and what to change', async () => {
    const path = changed(
      'wrong.ts',
      `const [mapping] = whole.mappings
       const operations = [...mapping.operations.slice(1), { ...mapping.operations[0], id: 'other.list' }, mapping.operations[3]]
       const acknowledged = [...whole.acknowledged, { v2: 'Project.etga', reason: 'a typing error' }, { v2: 'Lien.reason', reason: '' }]
       export const tables = { ...whole, mappings: [{ ...mapping, operations }], acknowledged }`,
    )
    const { code, out } = await runCommand(['check', path, ...CONTRACTS])
    expect(out.split('\n').filter((line) => !/^acknowledged/.test(line))).toEqual([
      'TO DECIDE     v2 Lien.reason: no reason is given',
      'WRONG         operation other.list stands in the mapping of resourcemanager; its id must begin with "resourcemanager."',
      'WRONG         operation id resourcemanager.projects.update stands twice (/v1/projects/{projectId} and /v1/projects/{projectId})',
      expect.stringMatching(/^WRONG {9}difference parent-type-alone: "resourcemanager.projects.list" fits no operation; did you mean /),
      'WRONG         difference parent-type-alone: no operation of it has a parameter filter; remove it.',
      'WRONG         acknowledged v2 Project.etga no longer applies: v2 has no such place; did you mean "Project.etag"?',
      'WRONG         acknowledged v2 Lien.reason no longer applies: the tables cover it; remove the row',
      expect.stringMatching(/, 0 not covered, 1 to decide, \d wrong$/),
    ])
    expect(code).toBe(1)
  })

  it('says how a place is acknowledged that nothing covers', async () => {
    const { code, out } = await runCommand([
      'check',
      changed('bare.ts', 'export const tables = { ...whole, acknowledged: [] }'),
      ...CONTRACTS,
    ])
    expect(out).toContain(
      '\nNOT COVERED   v2 Project.updateTime in answers: no row shows it (GET /v3/projects:search, GET /v3/projects/{projectsId})\n',
    )
    expect(out).toContain(
      "\nA row covers a place. What nobody needs is acknowledged: acknowledged: [{ v1: 'Project.lifecycleState=DELETE_IN_PROGRESS', reason: '…' }].\n",
    )
    expect(code).toBe(1)
  })

  it('prints what is covered with --all, and everything as JSON', async () => {
    const whole = await runCommand(['check', `${EXAMPLE}/tables.ts`, ...CONTRACTS, '--all'])
    expect(whole.out).toContain('covered       v1 Project.projectId in answers\n')
    const { ok, tables, points } = JSON.parse((await runCommand(['check', `${EXAMPLE}/tables.ts`, ...CONTRACTS, '--json'])).out)
    expect([ok, tables]).toEqual([true, 'resource-manager'])
    expect(points).toContainEqual({
      side: 'v1',
      part: 'request',
      at: 'Lien.name',
      operations: ['POST /v1/liens'],
      state: 'acknowledged',
      why: 'both versions name a lien themselves',
    })
  })

  it.each([
    [['check', '--v1', V1], 'check compares tables with the documents of both versions: --v1 FILE --v2 FILE.'],
    [['check', 'none.js'], /^none\.js cannot be loaded as tables: /],
    [['check', `${EXAMPLE}/tables.ts`, '--v1', 'none.json', '--v2', V2], /^a document cannot be read: .*none\.json/],
    [['check', 'a.js', 'b.js'], /b\.js/],
  ])('refuses %j', async (argv, sentence) => {
    const { code, err } = await runCommand(argv)
    expect([code, err]).toEqual([2, typeof sentence === 'string' ? sentence : expect.stringMatching(sentence)])
  })
})

describe('the coverage of', () => {
  const json = (schema: object) => ({ content: { 'application/json': { schema } } })
  const string = { type: 'string' }
  const integer = { type: 'integer' }
  const orNull = (schema: object) => ({ ...schema, nullable: true })
  const enumOf = (...values: string[]) => ({ type: 'string', enum: values })

  interface Described {
    readonly answer?: object
    readonly request?: { readonly properties: object; readonly required?: readonly string[] }
    readonly parameters?: readonly object[]
  }

  /** The contract with one operation. */
  function contract(route: string, { answer = {}, request, parameters = [] }: Described) {
    const [method = '', path = ''] = route.split(' ')
    const schemas = { A: { type: 'object', properties: answer }, R: { type: 'object', ...request } }
    const found = {
      parameters,
      responses: { 200: json({ $ref: '#/components/schemas/A' }) },
      ...(request && { requestBody: json({ $ref: '#/components/schemas/R' }) }),
    }
    return contractOf({ openapi: '3.0.3', paths: { [path]: { [method.toLowerCase()]: found } }, components: { schemas } })
  }

  const readBack = { unverifiable: 'nothing shows it' }

  /** What one operation leaves open of two contracts: `v1 A.name in answer: why`. */
  function openIn(options: object, v1: Described, v2: Described, method = 'GET') {
    const table = action('a.a.a', `${method} /v1/a`, { v2: `${method} /v2/a`, readBack, ...options })
    const { points, problems } = coverageOf([table], { v1: contract(`${method} /v1/a`, v1), v2: contract(`${method} /v2/a`, v2) })
    const lacking = points.filter(({ state }) => state === 'lacking').map(({ side, at, part, why }) => `${side} ${at} in ${part}: ${why}`)
    return [...lacking, ...problems]
  }

  const state = enumMap('State', [['ON', 'STATE_ON']])

  it.each([
    ['a member of v1 without a row', {}, { a: string }, {}, ['v1 A.a in answer: no row has it; add one, or gone(…) with the reason']],
    ['a member of v2 without a row', {}, {}, { a: string }, ['v2 A.a in answer: no row shows it']],
    ['a member that is gone', { a: gone(text, 'why') }, { a: string }, {}, []],
    ['a member with another name', { a: text('b') }, { a: string }, { b: string }, []],
    ['flat members', { o: nested({ a: text('a') }) }, { o: { properties: { a: string } } }, { a: string }, []],
    [
      'members of members',
      { l: objects('l', { a: text('a') }) },
      { l: { type: 'array', items: { properties: { a: string, b: string } } } },
      { l: { type: 'array', items: { properties: { a: string, c: string } } } },
      ['v1 A.l.b in answer: no row has it; add one, or gone(…) with the reason', 'v2 A.l.c in answer: no row shows it'],
    ],
    [
      'a value that a row makes whole',
      { a: converted(text('o'), { show: String }) },
      { a: string },
      { o: { type: 'object', properties: { b: string } } },
      [],
    ],
    [
      'a row with a wrong name',
      { nmae: text('name') },
      { name: string },
      { name: string },
      [
        'v1 A.name in answer: no row has it; add one, or gone(…) with the reason',
        `row a.nmae: v1's A has no such member; did you mean "name"?`,
      ],
    ],
    [
      'a row with a wrong source',
      { name: text('nmae') },
      { name: string },
      { name: string },
      ['v2 A.name in answer: no row shows it', 'row a.name: v2 has no nmae in the answer of GET /v2/a; did you mean "name"?'],
    ],
    [
      'a row of another kind',
      { a: text('a') },
      { a: { type: 'array', items: string } },
      { a: { type: 'array', items: string } },
      ['v1', 'v2'].map((side) => `${side} A.a in answer: it is of the kind list, and its row of the kind text`),
    ],
    [
      'a row whose values another type has',
      { a: text('a'), b: texts('b'), c: long('c'), d: listOf(int('d')), e: text('e') },
      { a: integer, b: { type: 'array', items: integer }, c: integer, d: { type: 'array', items: integer }, e: string },
      { a: string, b: { type: 'array', items: string }, c: string, d: { type: 'array', items: integer }, e: integer },
      [
        'v1 A.a in answer: it is of the kind int, and its row of the kind text',
        'v1 A.b in answer: it is of the kind int, and its row of the kind text',
        'v1 A.c in answer: it is of the kind int, and its row of the kind long',
        'v2 A.e in answer: it is of the kind int, and its row of the kind text',
      ],
    ],
    [
      'values of an enum',
      { a: choice('a', state) },
      { a: enumOf('ON', 'OFF') },
      { a: enumOf('STATE_ON', 'STATE_IDLE') },
      ['v1 A.a=OFF in answer: its enum lacks it; add it', 'v2 A.a=STATE_IDLE in answer: its enum lacks it; add it'],
    ],
    [
      'values that a text would not translate',
      { a: text('b') },
      { a: enumOf('ON', 'SAME') },
      { b: enumOf('STATE_ON', 'SAME') },
      [
        'v1 A.a=ON in answer: v2 has no such value, and the row a.a is a text; make it a choice',
        'v2 A.b=STATE_ON in answer: v1 has no such value, and the row a.a is a text; make it a choice',
      ],
    ],
    [
      'null inside lists, which only some rows keep',
      { a: texts('a'), b: listOf(nullable(text('b'))) },
      { a: { type: 'array', items: orNull(string) }, b: { type: 'array', items: orNull(string) } },
      { a: { type: 'array', items: orNull(string) }, b: { type: 'array', items: orNull(string) } },
      ['v1', 'v2'].map((side) => `${side} A.a[]=null in answer: its row takes no null inside; say listOf(nullable(…)), or acknowledge it`),
    ],
    [
      'null, which only some rows keep',
      { a: text('a'), b: nullable(text('b')), c: time('c') },
      { a: orNull(string), b: orNull(string), c: orNull({ ...string, format: 'date-time' }) },
      { a: orNull(string), b: orNull(string), c: orNull({ ...string, format: 'date-time' }) },
      ['v1', 'v2'].map((side) => `${side} A.a=null in answer: its row takes null for unset; make it nullable, or acknowledge it`),
    ],
    [
      'values that a text keeps',
      { a: texts('a') },
      { a: { type: 'array', items: enumOf('X') } },
      { a: { type: 'array', items: enumOf('X') } },
      [],
    ],
  ])('%s', (_, fields, v1, v2, open) => {
    expect(openIn({ answer: message('a', fields) }, { answer: v1 }, { answer: v2 })).toEqual(open)
  })

  it('members that a client sends, and those that v2 requires', () => {
    const request = message('r', { a: readOnly('a'), b: text('b') })
    const v1 = { request: { properties: { a: string, b: string, c: { ...string, readOnly: true } } } }
    const v2 = { request: { properties: { a: { ...string, readOnly: true }, b: string, d: string }, required: ['d'] } }
    expect(openIn({ request }, v1, v2, 'POST')).toEqual([
      'v1 R.a in request: clients may send it, and its row is readOnly; make it writable, or acknowledge that it is dropped',
      'v2 R.d in request: v2 requires it, and no row writes it',
    ])
  })

  it('parameters, their values, and headers', () => {
    const query = (name: string, schema: object = string, required = false) => ({ name, in: 'query', schema, required })
    const v1 = { parameters: [query('x'), query('kind', enumOf('ON', 'OFF')), { name: 'if-match', in: 'header', schema: string }] }
    const v2 = { parameters: [query('kind', enumOf('STATE_ON')), query('y'), query('z', string, true)] }
    expect(openIn({ params: { kind: choiceParam('kind', state) } }, v1, v2)).toEqual([
      'v1 GET /v1/a?x in parameter: no row of params has it; add one',
      'v1 GET /v1/a?kind=OFF in parameter: its enum lacks it; add it',
      'v1 GET /v1/a header if-match in parameter: tables read no header',
      'v2 GET /v2/a?y in parameter: no row sends it',
      'v2 GET /v2/a?z in parameter: v2 requires it, and no row sends it',
    ])
  })

  it('media types of a success', () => {
    const of = (type?: string) => {
      const [v1, v2] = ['/v1/a', '/v2/a'].map((path) => contract(`GET ${path}`, {}).operations[0])
      if (!v1 || !v2) throw new Error('an operation is missing')
      const contracts = { v1: { title: '', operations: [{ ...v1, types: ['application/hal+json'] }] }, v2: { title: '', operations: [v2] } }
      const table = action('a.a.a', 'GET /v1/a', { v2: 'GET /v2/a', ...(type && { type }) })
      return coverageOf([table], contracts).points.flatMap(({ at, state: how, why }) => (how === 'lacking' ? `${at}: ${why}` : []))
    }
    expect(of('application/hal+json')).toEqual([])
    expect(of()).toEqual(['GET /v1/a type: v1 answers application/hal+json, and the operation application/json; give it the type'])
  })

  it('statuses of a success', () => {
    const created = { statuses: [201] }
    const of = (options: object, v2 = created) => {
      const table = action('a.a.a', 'POST /v1/a', { v2: 'POST /v2/a', readBack, ...options })
      const [first, second] = ['/v1/a', '/v2/a'].map((path) => contract(`POST ${path}`, {}).operations[0])
      if (!first || !second) throw new Error('an operation is missing')
      const contracts = { v1: { title: '', operations: [{ ...first, ...created }] }, v2: { title: '', operations: [{ ...second, ...v2 }] } }
      return coverageOf([table], contracts).points.flatMap(({ at, state: how, why }) => (how === 'lacking' ? `${at}: ${why}` : []))
    }
    expect(of({ status: 201 })).toEqual([])
    expect(of({})).toEqual(['POST /v1/a status: v1 answers 201, and the operation 200; give it the status'])
    expect(of({ status: 201 }, { statuses: [202] })).toEqual(['POST /v2/a: it answers 202, and a call takes 200, 201 and 204'])
  })

  it('errors that are no google.rpc.Status, unless the tables have their form', () => {
    const schemas = {
      Problem: { type: 'object', properties: { title: string, status: integer } },
      Status: { type: 'object', properties: { code: integer, message: string } },
    }
    const of = (side: string, name: string) => {
      const responses = { 200: { description: '' }, 404: json({ $ref: `#/components/schemas/${name}` }) }
      return contractOf({ openapi: '3.0.3', paths: { [`/${side}/a`]: { get: { responses } } }, components: { schemas } })
    }
    const table = action('a.a.a', 'GET /v1/a', { v2: 'GET /v2/a' })
    const open = (name: string, tables = {}) =>
      coverageOf([table], { v1: of('v1', name), v2: of('v2', name) }, tables).points.flatMap((point) =>
        point.state === 'lacking' ? `${point.side} ${point.at}: ${point.why}` : [],
      )
    expect(open('Problem')).toEqual([
      'v1 errors: v1 describes Problem, and clients get a google.rpc.Status; give the tables errors',
      'v2 errors: v2 describes Problem, and calls expect a google.rpc.Status; give the tables errors',
    ])
    expect([...open('Status'), ...open('Problem', { errors: STATUS_FORM })]).toEqual([])
  })

  it('operations of both sides', () => {
    const [v1, v2] = [contract('GET /v1/a', {}), contract('GET /v2/a', {})]
    const table = action('a.b.get', 'GET /v1/b', { v2: 'GET /v2/b' })
    const { points, problems } = coverageOf([table], { v1, v2 })
    expect(points.map(({ at, state: how }) => [at, how])).toEqual([
      ['GET /v1/a', 'lacking'],
      ['GET /v2/a', 'lacking'],
    ])
    expect(problems).toEqual([
      'operation a.b.get serves GET /v1/b, which v1 does not have; did you mean "GET /v1/a"?',
      'operation a.b.get calls GET /v2/b, which v2 does not have; did you mean "GET /v2/a"?',
    ])
  })

  it('a plan of several calls: a member is covered if a row of any operation reads it', () => {
    const answer = message('a', { name: text('name') })
    const plan = operation('a.a.two', 'GET /v1/two', { calls: ['GET /v2/a', 'GET /v2/b'], answer: message('two', {}) })
    const [v1, a] = [
      contract('GET /v1/a', { answer: { name: string } }),
      contract('GET /v2/a', { answer: { name: string, other: string } }),
    ]
    const [two] = contract('GET /v1/two', {}).operations as readonly [ContractOperation]
    const [b] = contract('GET /v2/b', {}).operations as readonly [ContractOperation]
    const contracts = { v1: { ...v1, operations: [...v1.operations, two] }, v2: { ...a, operations: [...a.operations, b] } }
    const open = (...operations: Parameters<typeof coverageOf>[0]) =>
      coverageOf(operations, contracts).points.flatMap(({ side, at, state: how }) => (side === 'v2' && how === 'lacking' ? [at] : []))
    expect(open(plan)).toEqual(['A.name', 'A.other'])
    expect(open(plan, action('a.a.a', 'GET /v1/a', { v2: 'GET /v2/a', answer }))).toEqual(['A.other'])
  })
})
