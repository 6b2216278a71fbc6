import type { Field, FieldType, Source } from '../../src/tables/fields.ts'
import type { Operation } from '../../src/tables/operation.ts'
import { type Message, message } from '../../src/tables/resource.ts'
import { type Mutant, overwrite } from './mutant.ts'
import { type ChangeRow, type Row, rowsOf, withRow } from './rows.ts'

/** What a table is used for: to read bodies, to show answers. */
interface Use {
  readonly read: boolean
  readonly shown: boolean
}

interface Fault {
  readonly what: string
  readonly change: ChangeRow
}

/** Every fault of every row in the tables of these operations. */
export function fieldMutants(operations: readonly Operation[]): readonly Mutant[] {
  return messagesOf(operations).flatMap((table) => {
    const users = operations.filter(({ request, answer, envelope }) => [request, answer, envelope].includes(table))
    return rowsOf(table.shown).flatMap((row) =>
      faultsOf(row, useOf(row, table, users)).map(({ what, change }) => ({
        name: `${table.name}.${row.path.join('.')}: ${what}`,
        operations: users.map(({ id }) => id),
        apply: () => overwrite(table, rebuilt(table, row.path, change)),
      })),
    )
  })
}

/** Stamps are shown and stand in no table that is read. */
function useOf({ path: [name = ''] }: Row, table: Message, users: readonly Operation[]): Use {
  return {
    read: name in table.fields && users.some(({ request }) => request === table),
    shown: users.some(({ answer, envelope }) => answer === table || envelope === table),
  }
}

export function messagesOf(operations: readonly Operation[]): readonly Message[] {
  const all = operations.flatMap(({ request, answer, envelope }) => [request, answer, envelope])
  return [...new Set(all)].filter((one): one is Message => one !== undefined)
}

function rebuilt(table: Message, path: readonly string[], change: ChangeRow): Partial<Message> {
  const { fields, read, v1Names } = message(table.name, withRow(table.fields, path, change))
  const { fields: shown, show } = message(table.name, withRow(table.shown, path, change))
  return { fields, read, v1Names, shown, show }
}

function faultsOf({ field }: Row, { read, shown }: Use): readonly Fault[] {
  const { access, presence, source, type } = field
  const emitted = shown && access !== 'writeOnly'
  const as =
    (changes: Partial<Field>): ChangeRow =>
    (name, row) => [name, { ...row, ...changes }]
  return [
    { what: 'member renamed', change: (name, row) => [`${name}_renamed`, { ...row, ...(row.json && { json: `${row.json}Renamed` }) }] },
    ...renamed(source).map((renamedSource, at) => ({ what: `source ${at + 1} renamed`, change: as({ source: renamedSource }) })),
    { what: `${type.kind} swapped`, change: as({ type: swapped(type) }) },
    ...(read && (access === 'readWrite' || access === 'writeOnly')
      ? [{ what: 'no longer written', change: as({ access: 'readOnly' }) }]
      : []),
    ...(read && access !== 'readWrite' && access !== 'writeOnly' ? [{ what: 'written', change: as({ access: 'readWrite' }) }] : []),
    ...(emitted ? [{ what: 'no longer shown', change: as({ access: 'writeOnly' }) }] : []),
    ...(emitted ? [{ what: `${presence} turned round`, change: as({ presence: presence === 'implicit' ? 'optional' : 'implicit' }) }] : []),
  ]
}

/** The source with each of its names misspelt in turn; rows without one have none to misspell. */
function renamed(source: Source | undefined): readonly Source[] {
  if (source === undefined || source === '') return []
  if (typeof source === 'string') return [`${source}Renamed`]
  if ('parentOf' in source) return renamed(source.parentOf).map((parentOf) => ({ parentOf: parentOf as string }))
  return source.firstOf.flatMap((one, at) => renamed(one).map((other) => ({ firstOf: source.firstOf.with(at, other) })))
}

/** Another type: one whose values look different in JSON, set or unset. */
function swapped(type: FieldType): FieldType {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return { kind: 'flag' }
    case 'long':
      return { kind: 'int' }
    case 'list':
    case 'map':
      return type.of
    default:
      return { kind: 'text' }
  }
}
