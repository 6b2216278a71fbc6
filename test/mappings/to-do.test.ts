import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { text } from '../../src/tables/language/field.ts'
import { action, get } from '../../src/tables/language/operations.ts'
import { message, resource } from '../../src/tables/language/resource.ts'
import { coverageTable } from '../docs/coverage-table.ts'
import { differencesPage } from '../docs/differences-page.ts'
import { strays, toDo } from './to-do.ts'

const operations = mappings.flatMap((mapping) => mapping.operations)
const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8')

/** The pages that are made from the tables. */
function oldPages(): readonly string[] {
  const pages = { 'README.md': coverageTable(mappings), 'docs/differences.md': differencesPage(differences, mappings) }
  return Object.entries(pages).flatMap(([name, content]) => (read(name).includes(content) ? [] : [`${name} is out of date: npm run docs`]))
}

it('finds that every operation has all it needs outside of the tables', () => {
  const gaps = operations.map((operation) => ({ id: operation.id, lacks: toDo(operation) })).filter(({ lacks }) => lacks.length > 0)
  const told = [...gaps.map(({ id, lacks }) => [`${id} lacks`, ...lacks].join('\n  - ')), ...strays(operations), ...oldPages()]
  if (told.length > 0) throw new Error(`to do, in this order:\n${told.join('\n')}`)
})

it('lists everything that a half-added operation lacks', () => {
  const key = resource('key', { v2: '/iam/v2/keys', plural: 'keys', fields: { id: text('uid') } })
  expect(toDo(get('iam.keys.get', 'GET /iam/v1/keys/{id=**}', key, 'error'))).toMatchInlineSnapshot(`
    [
      "a transcript that ends with status 200: test/mappings/, operation: 'iam.keys.get'",
      "a route in the genuine v1: src/sandbox/v1/, GET /iam/v1/keys/{id=**}",
      "a route in the sandbox's v2: src/sandbox/v2/, GET /iam/v2/keys/{id}",
      "a genuine twin of "key": test/properties/native/pairs.ts, ['iam.keys.get', 'answer', …] in ROWS or UNPAIRED",
      "a contract case: test/compat/cases/, operations: ['iam.keys.get']",
    ]
  `)
})

it('asks for a difference where v2 cannot answer as v1 did', () => {
  const count = message('key count', { count: text('count') })
  const counted = action('iam.keys.count', 'GET /iam/v1/keys:count', { v2: 'GET /iam/v2/groups', answer: count })
  expect(toDo({ ...counted, kind: 'emulated' }).at(-1)).toMatchInlineSnapshot(
    `"a difference, because it is emulated: mappings/differences.ts, operations: ['iam.keys.count']"`,
  )
})
