import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { differences, grpcDifferences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { text } from '../../src/tables/fields.ts'
import { action, create, list } from '../../src/tables/operations.ts'
import { resource } from '../../src/tables/resource.ts'
import { differencesPage } from '../docs/generated/differences-page.ts'
import { strays, toDo } from './to-do.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
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
      - a transcript that ends with status 200: test/mappings/, operation: 'iam.examples.list'
      - a transcript that sends name: test/mappings/, operation: 'iam.examples.list'
      - a route of the genuine v1: src/sandbox/v1/, GET /iam/v1/examples
      - a route of the sandbox's v2: src/sandbox/v2/, GET /iam/v2/examples
      - a genuine twin of "example": test/properties/genuine/pairs.ts, ['iam.examples.list', 'answer', …] in ROWS or UNPAIRED
      - a contract case: test/compat/cases/, operations: ['iam.examples.list']
    iam.examples.create lacks
      - a transcript that ends with status 200: test/mappings/, operation: 'iam.examples.create'
      - a route of the genuine v1: src/sandbox/v1/, POST /iam/v1/examples/{parent_id=**}
      - a route of the sandbox's v2: src/sandbox/v2/, POST /iam/v2/examples/{parent_id}
      - an event for POST /iam/v1/examples/{parent_id=**}: src/sandbox/events/, or test/sandbox/events/silent.ts
      - an event for POST /iam/v2/examples/{parent_id}: src/sandbox/events/, or test/sandbox/events/silent.ts
      - a contract case: test/compat/cases/, operations: ['iam.examples.create']"
  `)
})

it('asks for a difference where v2 cannot answer as v1 did', () => {
  const count = action('iam.examples.count', 'GET /iam/v1/examples:count', { v2: 'GET /iam/v2/groups' })
  expect(toDo([{ ...count, kind: 'emulated' }]).at(-1)).toMatchInlineSnapshot(
    `"  - a difference, because it is emulated: mappings/differences.ts, operations: ['iam.examples.count']"`,
  )
})
