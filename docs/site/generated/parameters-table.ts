import type { Dialect } from '../../../src/tables/uid.ts'
import { type Block, code, prose, type Text } from '../../../src/tools/guide-pages.ts'
import type { ParameterRow } from '../../../src/tools/guide-request.ts'
import { type DescribedOperation, type OperationPath, parametersOf } from '../../../src/tools/openapi.ts'
import type { JsonSchema } from '../../../src/tools/openapi-schemas.ts'
import { enumText } from './type-text.ts'

/** Returns the table of the parameters of an operation: those of v1 with their types, and what becomes of each in v2. */
export function parametersTable(
  operation: DescribedOperation,
  path: OperationPath,
  changes: readonly ParameterRow[],
  dialect: Dialect,
): readonly Block[] {
  const rows = parametersOf(operation, path, (of) => ({ text: enumText(of) }), dialect)
  if (rows.length === 0) return []
  const byName = new Map(changes.map((row) => [row.v1, row]))
  const isServed = operation.kind !== 'v1-only'
  return [
    { kind: 'heading', level: 2, text: ['Parameters'] },
    {
      kind: 'table',
      label: 'Parameters',
      head: isServed ? ['v1', 'Type', 'Meaning', 'v2'] : ['v1', 'Type', 'Meaning'],
      rows: rows.map(({ name, in: place, schema, description }): readonly Text[] => [
        [code(name)],
        prose(`${typeOf(schema as JsonSchema)}${place === 'path' ? ', in the path' : ''}`),
        prose(typeof description === 'string' ? description : '–'),
        ...(isServed ? [place === 'path' ? ['in the path'] : changeText(byName.get(name))] : []),
      ]),
    },
  ]
}

function typeOf({ text, type, format, items }: JsonSchema): string {
  if (typeof text === 'string') return text
  if (type === 'array') return `${typeOf((items ?? {}) as JsonSchema)}; may be repeated`
  if (format === 'date-time') return 'time (RFC 3339)'
  return type === 'boolean' ? 'true or false' : type === 'integer' ? 'number' : 'text'
}

function changeText(row: ParameterRow | undefined): Text {
  if (!row) return ['–']
  const { v2, fate, example, note } = row
  const shown: Text = example && fate !== 'same' ? [': ', code(example.v1), ' → ', code(example.v2)] : []
  return [...(v2 === undefined ? [] : [code(v2), ', ']), fate, ...shown, ...(note === undefined ? [] : ['; ', ...prose(note)])]
}
