import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { capabilities } from '../../mappings/capabilities.ts'
import { differences, grpcDifferences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { capabilities as sandboxCapabilities } from '../../src/sandbox/auth/capabilities.ts'
import { ruleOf } from '../../src/sandbox/events/rules.ts'
import type { Route } from '../../src/sandbox/http/route.ts'
import { serviceRoutes } from '../../src/sandbox/start.ts'
import { createRouter } from '../../src/serve/route.ts'
import { checkMappings } from '../../src/tables/check.ts'
import { isShownIn, itemFields, shownMembers } from '../../src/tables/compile.ts'
import { text } from '../../src/tables/fields.ts'
import { covers, type Operation } from '../../src/tables/operation.ts'
import { action, create, isReadBack, list } from '../../src/tables/operations.ts'
import { spellings } from '../../src/tables/query.ts'
import { type Message, resource } from '../../src/tables/resource.ts'
import { cases } from '../contract/cases/index.ts'
import { differencesPage } from '../docs/generated.ts'
import { operations } from '../properties/forms.ts'
import { pairs, tableOf, UNPAIRED } from '../properties/genuine.ts'
import { SILENT } from '../sandbox/silent.ts'
import { play } from './transcript.ts'
import { transcripts } from './transcripts.ts'

/** `METHOD /path` without the names of its variables, which differ between v1, v2 and the sandbox. */
const shapeOf = (route: string) => route.replace(/\{[^}]*\}/g, '{}')

const succeeding = new Set(transcripts.filter(({ status = 200 }) => status === 200).map(({ operation }) => operation))
const sent = new Set(transcripts.flatMap(({ operation, request }) => parametersOf(request).map((parameter) => `${operation} ${parameter}`)))
const shown = new Set(cases.flatMap((one) => one.operations))
const routes = new Set(serviceRoutes.map(({ method, template }) => shapeOf(`${method} ${template}`)))
const silent = new Set(SILENT.map(shapeOf))
const paired: readonly Message[] = [...pairs.map(({ table }) => table), ...UNPAIRED.map(([id, part]) => tableOf(id, part))]

function parametersOf(request: string): readonly string[] {
  return [...new URLSearchParams(request.split('?')[1] ?? '').keys()]
}

/** Returns everything that these operations still lack outside the tables: one line for each gap, with the file that mends it. */
function toDo(operations: readonly Operation[]): readonly string[] {
  const told = new Set(paired)
  return operations.flatMap((operation) => {
    const { kind } = operation
    const served = kind === 'v1-only' ? [] : [...transcriptsOf(operation), ...routesOf(operation), ...twinsOf(operation, told)]
    const lacking = [...served, ...caseOf(operation), ...differenceOf(operation)]
    return lacking.length === 0 ? [] : [`${operation.id} lacks`, ...lacking.map((one) => `  - ${one}`)]
  })
}

function transcriptsOf({ id, params }: Operation): readonly string[] {
  const unsent = Object.keys(params).filter((name) => !spellings(name).some((spelling) => sent.has(`${id} ${spelling}`)))
  return [
    ...(succeeding.has(id) ? [] : [`a transcript that ends with status 200: test/mappings/, transcript('${id}', …)`]),
    ...unsent.map((name) => `a transcript that sends ${name}: test/mappings/, transcript('${id}', …)`),
  ]
}

function routesOf({ method, template, calls }: Operation): readonly string[] {
  const inV1 = `${method} ${template}`
  return [
    ...(routes.has(shapeOf(inV1)) ? [] : [`a route of the genuine v1: src/sandbox/v1/, ${inV1}`]),
    ...calls.filter((call) => !routes.has(shapeOf(call))).map((call) => `a route of the sandbox's v2: src/sandbox/v2/, ${call}`),
    ...[inV1, ...calls].filter(isUnannounced).map((call) => `an event for ${call}: src/sandbox/events/, or test/sandbox/silent.ts`),
  ]
}

function isUnannounced(call: string): boolean {
  const [method = '', template = ''] = call.split(' ')
  return method !== 'GET' && !ruleOf({ method: method as Route['method'], template }) && !silent.has(shapeOf(call))
}

/** Reports a table that several operations share once. */
function twinsOf(operation: Operation, told: Set<Message>): readonly string[] {
  return (['request', 'answer', 'envelope'] as const).flatMap((part) => {
    const table = operation[part]
    if (!table || Object.keys(table.fields).length === 0 || told.has(table)) return []
    told.add(table)
    return [`a genuine twin of "${table.name}": test/properties/genuine.ts, ['${operation.id}', '${part}', …] in ROWS or UNPAIRED`]
  })
}

function caseOf({ id }: Operation): readonly string[] {
  return shown.has(id) ? [] : [`a contract case: test/contract/cases/, shows(…, ['${id}'], …)`]
}

/** An operation that v2 lacks or emulates looks different to a client. A pattern for all operations does not describe it. */
function differenceOf({ id, kind }: Operation): readonly string[] {
  if (kind !== 'v1-only' && kind !== 'emulated') return []
  const named = differences.some(({ operations }) => operations.some((pattern) => pattern !== '*' && covers(pattern, id)))
  return named ? [] : [`a difference, because it is ${kind}: mappings/differences.ts, operations: ['${id}']`]
}

/** Returns the entries that name an operation which the tables do not have. */
function strays(operations: readonly Operation[]): readonly string[] {
  const ids = new Set(operations.map(({ id }) => id))
  return [
    ...transcripts.filter(({ operation }) => !ids.has(operation)).map(({ operation, title }) => `transcript "${title}" names ${operation}`),
    ...cases.flatMap(({ name, operations: said }) => said.filter((id) => !ids.has(id)).map((id) => `case "${name}" names ${id}`)),
  ]
}

describe('replace mask', () => {
  /** The members that v1 writes of each resource that a PUT replaces as a whole (facts §13.2). */
  const KNOWN: Readonly<Record<string, string>> = {
    'iam.account_associations.update': 'amazon,google,chainguard,azure,name,description,github',
    'iam.role_bindings.update': 'identity_uid,role_uid',
    'iam.roles.update': 'name,description,capabilities',
    'registry.repos.create': 'name,catalog_tier,bundles,sync_config,custom_overlay,aliases,active_tags,description',
    'registry.repos.update': 'name,catalog_tier,bundles,sync_config,custom_overlay,aliases,active_tags,description',
  }

  const MASK = /updateMask=\*$/
  const router = createRouter(operations)
  const replacing = transcripts.filter(({ calls }) => calls.some(({ call }) => MASK.test(call)))

  it.each(replacing.map((one) => [`${one.operation}: ${one.title}`, one] as const))(
    '%s: can name the members that v1 knows',
    async (_, one) => {
      const { calls } = await play({ ...one, settings: { ...one.settings, replaceMask: 'known' } }, router, 'specification')
      expect(calls.map(({ call }) => call)).toEqual(one.calls.map(({ call }) => call.replace(MASK, `updateMask=${KNOWN[one.operation]}`)))
    },
  )

  it('covers every operation that replaces a whole resource', () => {
    expect([...new Set(replacing.map(({ operation }) => operation))].sort()).toEqual(Object.keys(KNOWN))
  })
})

describe('tables', () => {
  describe('the tables', () => {
    it('pass every check that the start makes', () => {
      expect(() => checkMappings(mappings)).not.toThrow()
      expect(() => createRouter(operations)).not.toThrow()
    })

    it('name every capability as the sandbox does', () => {
      expect(capabilities.rows.map(([v1, v2]) => [v1, v2])).toEqual(sandboxCapabilities.map(({ v1, v2 }) => [v1, v2]))
    })
  })

  it('says of each member of an answer that no read shows what it must hold', () => {
    const silent = operations.flatMap(({ id, readBack, answer }) => {
      if (!readBack || !isReadBack(readBack) || readBack.gone) return []
      const shown = new Set(shownMembers(readBack, itemFields(readBack, answer), 'specification').map(({ where }) => where))
      const known = [
        ...Object.keys(readBack.holds ?? {}),
        ...(readBack.listed ? [readBack.listed.answer] : []),
        ...Object.values(readBack.named),
      ]
      const fields = Object.entries(itemFields(readBack, answer)).filter(([, field]) => isShownIn('specification', field))
      return fields.flatMap(([name]) => (shown.has(name) || known.includes(name) ? [] : [`${id} ${name}`]))
    })
    expect(silent).toEqual([])
  })
})

describe('to do', () => {
  const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

  /** Returns the generated pages that are out of date. */
  function oldPages(): readonly string[] {
    const page = 'docs/reference/differences.md'
    return read(page) === differencesPage(differences, grpcDifferences, mappings) ? [] : [`${page} is out of date: npm run docs`]
  }

  it('finds that every operation has everything that it needs elsewhere', () => {
    const told = [...toDo(operations), ...strays(operations), ...oldPages()]
    if (told.length > 0) throw new Error(`to do, in this order:\n${told.join('\n')}`)
  })

  it('lists everything that a half-added resource lacks', () => {
    const example = resource('example', { v2: '/iam/v2/examples', plural: 'examples', fields: { id: text('uid') } })
    const half = [
      list('iam.examples.list', 'GET /iam/v1/examples', example, { query: { name: 'name' } }),
      create('iam.examples.create', 'POST /iam/v1/examples/{parent_id=**}', example),
    ]
    expect(toDo(half).join('\n')).toMatchInlineSnapshot(`
    "iam.examples.list lacks
      - a transcript that ends with status 200: test/mappings/, transcript('iam.examples.list', …)
      - a transcript that sends name: test/mappings/, transcript('iam.examples.list', …)
      - a route of the genuine v1: src/sandbox/v1/, GET /iam/v1/examples
      - a route of the sandbox's v2: src/sandbox/v2/, GET /iam/v2/examples
      - a genuine twin of "example": test/properties/genuine.ts, ['iam.examples.list', 'answer', …] in ROWS or UNPAIRED
      - a contract case: test/contract/cases/, shows(…, ['iam.examples.list'], …)
    iam.examples.create lacks
      - a transcript that ends with status 200: test/mappings/, transcript('iam.examples.create', …)
      - a route of the genuine v1: src/sandbox/v1/, POST /iam/v1/examples/{parent_id=**}
      - a route of the sandbox's v2: src/sandbox/v2/, POST /iam/v2/examples/{parent_id}
      - an event for POST /iam/v1/examples/{parent_id=**}: src/sandbox/events/, or test/sandbox/silent.ts
      - an event for POST /iam/v2/examples/{parent_id}: src/sandbox/events/, or test/sandbox/silent.ts
      - a contract case: test/contract/cases/, shows(…, ['iam.examples.create'], …)"
  `)
  })

  it('asks for a difference where v2 cannot answer as v1 did', () => {
    const count = action('iam.examples.count', 'GET /iam/v1/examples:count', { v2: 'GET /iam/v2/groups' })
    expect(toDo([{ ...count, kind: 'emulated' }]).at(-1)).toMatchInlineSnapshot(
      `"  - a difference, because it is emulated: mappings/differences.ts, operations: ['iam.examples.count']"`,
    )
  })
})
