import { nameIn } from '../../tables/compile.ts'
import type { Field, Fields, FieldType } from '../../tables/fields.ts'
import { isObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operation.ts'
import { ROWS } from '../../tables/turn.ts'
import type { Dialect } from '../../tables/uid.ts'
import { ANY } from './json-path.ts'

/** Scalars that have their own rule of equality; `cursor` is a page token. */
export type Scalar = 'text' | 'flag' | 'int' | 'long' | 'time' | 'duration' | 'bytes' | 'choice' | 'cursor'

/** The form of an answer, so that its tables decide how it is compared (design §3). */
export type Form =
  /** No table describes it: compared as plain JSON. `isName` tells its names from data; without it, only those at the top are names. */
  | { readonly kind: 'any'; readonly isName?: IsName }
  /** Compared as one value, without looking inside. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'scalar'; readonly of: Scalar }
  /** `key` is the member, as sent, that identifies a row. */
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Member>; readonly key?: string }
  | { readonly kind: 'list' | 'map'; readonly of: Form }

/** True for the name of a member, and false for data: a key of a user's map. */
export type IsName = (name: string) => boolean

interface Member {
  /** The table name, which is the same in both dialects. */
  readonly name: string
  readonly form: Form
}

export const ANY_FORM: Form = { kind: 'any' }

/** google.rpc.Status. Its details are v2's own and are compared as one value (facts §15). */
export const ERROR_FORM: Form = {
  kind: 'object',
  members: new Map<string, Member>([
    ['code', { name: 'code', form: { kind: 'scalar', of: 'int' } }],
    ['message', { name: 'message', form: { kind: 'scalar', of: 'text' } }],
    ['details', { name: 'details', form: { kind: 'whole' } }],
  ]),
}

/** Returns the form of an error beside answers of this form. A form that tells names itself is that of errors too. */
export function errorForm(form: Form): Form {
  return form.kind === 'any' && form.isName ? form : ERROR_FORM
}

/** Returns the form of an operation's successful answer in one dialect: `any` for an operation without a table. */
export function answerForm(operation: Operation, dialect: Dialect, isName?: IsName): Form {
  const { answer, envelope } = operation
  if (!answer) return isName ? { kind: 'any', isName } : ANY_FORM
  const row = objectForm(answer.shown, dialect)
  const empty = operation.empty(dialect)
  if (!isObject(empty) || !Array.isArray(empty[ROWS])) return row
  const rest = envelope ? objectForm(envelope.shown, dialect).members : new Map<string, Member>()
  return { kind: 'object', members: new Map([[ROWS, { name: ROWS, form: { kind: 'list', of: row } }], ...rest]) }
}

type ObjectForm = Extract<Form, { kind: 'object' }>

function objectForm(fields: Fields, dialect: Dialect): ObjectForm {
  const shown = Object.entries(fields).filter(([, { access, only = dialect }]) => access !== 'writeOnly' && only === dialect)
  const members = shown.map(([name, field]) => [nameIn(dialect, name, field), { name, form: formOf(field, dialect) }] as const)
  const key = shown.find(([, { source, type }]) => type.kind === 'text' && typeof source === 'string' && IDS.has(source))
  return { kind: 'object', members: new Map(members), ...(key && { key: nameIn(dialect, ...key) }) }
}

/** v2's names for the id of a row: `uid`, and `id` in the advisory feed (facts §7, §17). */
const IDS = new Set(['uid', 'id'])

/** v2's name for a cursor. Only the side that made a cursor can read it (facts §20). */
const CURSOR = 'nextPageToken'

function formOf({ source, type }: Field, dialect: Dialect): Form {
  return source === CURSOR ? { kind: 'scalar', of: 'cursor' } : typeForm(type, dialect)
}

function typeForm(type: FieldType, dialect: Dialect): Form {
  if (type.kind === 'object') return objectForm(type.fields, dialect)
  if (type.kind === 'list' || type.kind === 'map') return { kind: type.kind, of: typeForm(type.of, dialect) }
  return { kind: 'scalar', of: type.kind }
}

/** Returns the form of a place in table names, where `*` is any row or map key; undefined if the tables have no such place. */
export function formAt(form: Form, [first, ...rest]: readonly string[]): Form | undefined {
  if (first === undefined) return form
  if (form.kind === 'list' || form.kind === 'map') return first === ANY ? formAt(form.of, rest) : undefined
  if (form.kind !== 'object') return undefined
  const inner = [...form.members.values()].find(({ name }) => name === first)
  return inner && formAt(inner.form, rest)
}
