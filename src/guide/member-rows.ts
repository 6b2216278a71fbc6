import { isShownIn, nameIn } from '../tables/compile.ts'
import type { Field, Fields, FieldType, Source } from '../tables/fields.ts'
import type { Operation } from '../tables/operation.ts'
import { ROWS } from '../tables/turn.ts'
import type { Dialect } from '../tables/uid.ts'
import type { Fate, MemberRow } from './guide-schema.ts'
import { valueNames } from './value-names.ts'

/** Where a member lies in both versions. */
interface Place {
  readonly v1: string
  readonly v2: string
}

const TOP: Place = { v1: '', v2: '' }

/** Returns every member of a v1 answer, in the order of the table. */
export function answerRows({ rows, rowsIn, answer, envelope }: Operation, dialect: Dialect): readonly MemberRow[] {
  const shown = (fields: Fields) => Object.fromEntries(Object.entries(fields).filter(([, field]) => isShownIn(dialect, field)))
  if (!answer) return []
  if (!rows) return membersOf(shown(answer.shown), TOP, dialect, 'answer')
  const list: MemberRow = rowsIn === ROWS ? { v1: ROWS, v2: ROWS, fate: 'same' } : { v1: ROWS, v2: rowsIn ?? ROWS, fate: 'renamed' }
  const place = { v1: `${ROWS}[].`, v2: `${rowsIn ?? ROWS}[].` }
  const beside = envelope ? membersOf(shown(envelope.shown), TOP, dialect, 'answer') : []
  return [list, ...beside, ...membersOf(shown(answer.shown), place, dialect, 'answer')]
}

/** Returns every member of a v1 body; with `sent`, those that a client sends, in dotted table names. */
export function bodyRows({ request }: Operation, dialect: Dialect, sent?: readonly string[]): readonly MemberRow[] {
  if (!request) return []
  const all = membersOf(request.fields, TOP, dialect, 'body')
  const names = sent && new Set(sent.flatMap(withParents))
  const tableNames = tableNamesOf(request.fields, '')
  return names ? all.filter((_, at) => names.has(tableNames[at] ?? '')) : all
}

/** `a.b` → `a` and `a.b`. */
function withParents(name: string): readonly string[] {
  return name.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('.'))
}

/** The dotted table names in the order of `membersOf`. */
function tableNamesOf(fields: Fields, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, { type, convert }]) => {
    const inner = innerOf(type)
    return [prefix + name, ...(inner.type.kind === 'object' && !convert ? tableNamesOf(inner.type.fields, `${prefix}${name}.`) : [])]
  })
}

type Direction = 'answer' | 'body'

function membersOf(fields: Fields, place: Place, dialect: Dialect, direction: Direction): readonly MemberRow[] {
  return Object.entries(fields)
    .filter(([, field]) => direction === 'body' || isShownIn(dialect, field))
    .flatMap(([name, field]) => {
      const { type, suffix } = innerOf(field.type)
      const own = nameIn(dialect, name, field)
      const source = sourceOf(field.source)
      const row = { v1: place.v1 + own, ...fateOf(field, own, source, place, direction) }
      if (type.kind !== 'object' || field.convert) return [row]
      const beside = `${place.v2}${typeof source === 'string' ? source : own}${suffix}.`
      const v2 = row.fate === 'made' ? ELSEWHERE : source === '' ? place.v2 : beside
      const below = membersOf(type.fields, { v1: `${row.v1}${suffix}.`, v2 }, dialect, direction)
      return [row, ...below.map((member) => inherited(member, row))]
    })
}

/** What is below a member that v2 lacks or does not read shares its fate. */
function inherited(member: MemberRow, parent: Pick<MemberRow, 'fate' | 'note'>): MemberRow {
  if (!LEAVES.has(parent.fate)) return member
  return { v1: member.v1, fate: parent.fate, ...(parent.note !== undefined && { note: parent.note }) }
}

const LEAVES: ReadonlySet<Fate> = new Set(['dropped', 'ignored'])

/** Stands for the object of v2 that the note of a made member names. */
const ELSEWHERE = '….'

/** Returns the type of the rows of a list or of the values of a map, and how a path writes them. */
function innerOf(type: FieldType): { readonly type: FieldType; readonly suffix: string } {
  if (type.kind === 'list') return { type: type.of, suffix: '[]' }
  return type.kind === 'map' ? { type: type.of, suffix: '.*' } : { type, suffix: '' }
}

type SourcePath = string | { readonly parentOf: string } | undefined

/** Returns the first place in which v2 may have the value. */
function sourceOf(source: Source | undefined): SourcePath {
  if (source === undefined || typeof source === 'string') return source
  return 'parentOf' in source ? source : sourceOf(source.firstOf[0])
}

const OTHER_FORM = 'v2 writes the value in another form'

function fateOf(field: Field, name: string, source: SourcePath, place: Place, direction: Direction): Omit<MemberRow, 'v1'> {
  const names = innerOf(field.type).type.kind === 'choice' ? valueNames(choiceOf(field.type)) : undefined
  const values = names === undefined ? {} : { values: names }
  if (source === undefined) return { fate: 'dropped', note: field.lossy ?? 'v2 has no such member' }
  if (direction === 'body' && field.access === 'readOnly') return { fate: 'ignored', note: 'output only: v1 ignores it in a body' }
  if (field.made !== undefined) return { fate: 'made', note: field.made }
  if (typeof source === 'object') return { fate: 'made', note: `${source.parentOf} up to its last slash` }
  const note = field.lossy === undefined ? {} : { note: field.lossy }
  if (source === '') return { fate: 'moved', note: 'v2 has its members one level higher' }
  const v2 = place.v2 + source
  if (field.convert) return { v2, fate: 'converted', note: [OTHER_FORM, ...(field.lossy ? [field.lossy] : [])].join('; ') }
  if (source !== name) return { v2, fate: source.includes('.') ? 'moved' : 'renamed', ...values, ...note }
  return { v2, fate: names === undefined ? 'same' : 'converted', ...values, ...note }
}

function choiceOf(type: FieldType) {
  const inner = innerOf(type).type
  if (inner.kind !== 'choice') throw new Error(`${inner.kind} is no enum`)
  return inner.of
}
