import type { Mapping, Operation } from '../../../src/tables/operation.ts'
import { codes, markdownOf, type Text } from '../../../src/tools/guide-pages.ts'
import { describedOperation, type OperationPath, pathsOf } from '../../../src/tools/openapi.ts'
import { placeOf, type SourcePage } from '../page.ts'
import { operationPage } from './operation-page.ts'
import type { SiteTables } from './site-tables.ts'

/** The page that lists all operations. */
export const OPERATIONS = 'operations/README.md'

/** Returns where the page of an operation lies, beside the documents. */
export function sourceOf({ id }: Pick<Operation, 'id'>): string {
  return `operations/${id}.md`
}

/** Returns the page of every operation, and the page that lists them. */
export function operationPages(tables: SiteTables): readonly SourcePage[] {
  const operations = tables.mappings.flatMap((mapping) => mapping.operations)
  const described = operations.map((operation) => describedOperation(operation, tables.shapes[operation.id]))
  const paths = pathsOf(described, tables.guide.env.dialect)
  const pathOf = (at: number): OperationPath => paths.get(described[at]!) ?? { path: operations[at]?.template ?? '', variables: [] }
  const pages = operations.map((operation, at) => pageAt(sourceOf(operation), operationPage(operation, pathOf(at), tables)))
  return [pageAt(OPERATIONS, listOf(tables.mappings)), ...pages]
}

function pageAt(source: string, markdown: string): SourcePage {
  return { source, path: placeOf(source), markdown }
}

const ABOUT =
  'Every operation of v1, and what carries it in v2. A direct one is one call of v2, and a composed one several. ' +
  'v2 has no operation for an emulated one, but data that yield it. Only a v1 service answers one that is v1-only.'

function listOf(mappings: readonly Mapping[]): string {
  const served = mappings.filter(({ operations }) => operations.length > 0)
  return markdownOf([
    { kind: 'heading', level: 1, text: ['Operations of v1'] },
    {
      kind: 'text',
      text: [ABOUT],
    },
    ...served.flatMap(({ domain, operations }) => [
      { kind: 'heading', level: 2, text: [domain] } as const,
      {
        kind: 'table',
        label: domain,
        head: ['Operation', 'Kind', 'v1', 'v2'],
        rows: operations.map(({ id, method, template, kind, calls }): readonly Text[] => [
          codes([id]),
          [kind],
          codes([`${method} ${template.replaceAll('=**', '')}`]),
          calls.length === 0 ? ['–'] : codes(calls),
        ]),
      } as const,
    ]),
  ])
}
