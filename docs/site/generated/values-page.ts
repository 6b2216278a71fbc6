import type { EnumMap, Fields, FieldType } from '../../../src/tables/fields.ts'
import { asParam } from '../../../src/tables/query.ts'
import { code, codes, markdownOf } from '../../../src/tools/guide-pages.ts'
import { describedOperation } from '../../../src/tools/openapi.ts'
import type { SiteTables } from './site-tables.ts'
import { MOST_VALUES_IN_TEXT, valuesOf } from './type-text.ts'

/** The page of the enums with many values. */
export const VALUES_PAGE = 'operations/values.md'

/** Returns the enums whose values are too many for a table. */
export function longEnums({ mappings, shapes }: SiteTables): readonly EnumMap[] {
  const all = mappings.flatMap(({ operations }) =>
    operations.flatMap((operation) => {
      const { params, orders, request, answer, envelope } = describedOperation(operation, shapes[operation.id])
      const ofParams = Object.values(params).flatMap((row) => asParam(row).of ?? [])
      const messages = [request, answer, envelope].flatMap((message) => (message ? enumsIn(message.shown ?? message.fields) : []))
      return [...ofParams, ...(orders ? [orders] : []), ...messages]
    }),
  )
  const long = new Map(all.filter((one) => valuesOf(one).length > MOST_VALUES_IN_TEXT).map((one) => [one.name, one]))
  return [...long.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the page of these enums, one heading each. */
export function valuesPage(enums: readonly EnumMap[]): string {
  return markdownOf([
    { kind: 'heading', level: 1, text: ['Values'] },
    { kind: 'text', text: ['The enums of v1 with many values, and the name of each value in v2.'] },
    ...enums.flatMap((one) => [
      { kind: 'heading', level: 2, text: [one.name] } as const,
      { kind: 'table', label: one.name, head: ['v1', 'v2'], rows: one.rows.map(([v1, v2]) => [[code(v1)], [code(v2)]]) } as const,
      ...(one.v1Only.length === 0
        ? []
        : [{ kind: 'text', text: ['Only v1 has ', ...codes(one.v1Only.map(([name]) => name)), '.'] } as const]),
    ]),
  ])
}

function enumsIn(fields: Fields): readonly EnumMap[] {
  return Object.values(fields).flatMap(({ type }) => enumsOf(type))
}

function enumsOf(type: FieldType): readonly EnumMap[] {
  if (type.kind === 'choice') return [type.of]
  if (type.kind === 'list' || type.kind === 'map') return enumsOf(type.of)
  return type.kind === 'object' ? enumsIn(type.fields) : []
}
