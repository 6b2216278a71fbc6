import type { Fields } from '../../../src/tables/fields.ts'
import { ROWS } from '../../../src/tables/turn.ts'
import type { Dialect } from '../../../src/tables/uid.ts'
import { type Block, code, prose, type Text } from '../../../src/tools/guide-pages.ts'
import type { MemberRow } from '../../../src/tools/guide-request.ts'
import type { DescribedOperation } from '../../../src/tools/openapi.ts'
import { type TypedMember, typedMembers } from './type-text.ts'

/** Returns the table of the members of a body. */
export function bodyTable({ request, bodyIs }: DescribedOperation, changes: readonly MemberRow[], dialect: Dialect): readonly Block[] {
  if (!request) return []
  const bare: readonly Block[] = bodyIs === undefined ? [] : [{ kind: 'text', text: ['The body is the list ', code(bodyIs), ' itself.'] }]
  return membersTable('Body', typedMembers(request.fields, dialect, false), changes, bare)
}

/** Returns the table of the members of an answer; of a list, those of its rows. */
export function answerTable(
  { answer, rows, envelope }: DescribedOperation,
  changes: readonly MemberRow[],
  dialect: Dialect,
): readonly Block[] {
  if (!answer) return []
  const own = typedMembers(shownOf(answer), dialect, true, rows ? `${ROWS}[].` : '')
  const beside = envelope ? typedMembers(shownOf(envelope), dialect, true) : []
  const all = rows ? [{ path: ROWS, type: 'list of object' }, ...beside, ...own] : own
  const empty: readonly Block[] = all.length === 0 ? [{ kind: 'text', text: ['An empty object: ', code('{}'), '.'] }] : []
  return membersTable('Answer', all, changes, empty)
}

function shownOf({ fields, shown = fields }: { readonly fields: Fields; readonly shown?: Fields }): Fields {
  return shown
}

function membersTable(
  title: string,
  members: readonly TypedMember[],
  changes: readonly MemberRow[],
  remarks: readonly Block[],
): readonly Block[] {
  const byPath = new Map(changes.map((row) => [row.v1, row]))
  const head = changes.length > 0 ? ['v1', 'Type', 'v2', 'Change'] : ['v1', 'Type']
  const rows = members.map(({ path, type }): readonly Text[] => [
    [code(path)],
    prose(type),
    ...(changes.length > 0 ? changeCells(byPath.get(path)) : []),
  ])
  return [
    { kind: 'heading', level: 2, text: [title] },
    ...remarks,
    ...(rows.length > 0 ? [{ kind: 'table', label: title, head, rows } as const] : []),
  ]
}

function changeCells(row: MemberRow | undefined): readonly Text[] {
  if (!row) return [['–'], ['–']]
  const said = [row.values, row.note].filter((part) => part !== undefined)
  return [row.v2 === undefined ? ['–'] : [code(row.v2)], [row.fate, ...(said.length === 0 ? [] : [': ', ...prose(said.join('; '))])]]
}
