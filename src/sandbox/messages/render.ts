import { type Draft, type Field, isZero, type Message } from './message.ts'

/** Numbers and flags appear even if zero. Every other unset member is omitted (ASSUMPTIONS.md, "Answers"). */
const ALWAYS: ReadonlySet<string> = new Set(['bool', 'int32', 'int64'])

const renderValue = (field: Field, value: unknown): unknown => {
  const { message } = field
  if (!message) return value
  if (field.shape === 'list') return (value as readonly Draft[]).map((item) => render(message, item))
  if (field.shape === 'map')
    return Object.fromEntries(Object.entries(value as Draft).map(([key, item]) => [key, render(message, item as Draft)]))
  return render(message, value as Draft)
}

const shown = (field: Field, value: unknown): boolean =>
  field.inputOnly !== true &&
  value !== undefined &&
  (field.oneof !== undefined || (field.shape === 'single' && ALWAYS.has(field.type)) || !isZero(field, value))

/** The v2 JSON of a row: only the members of the message, in the order of the table. */
export const render = (message: Message, row: Draft): Draft =>
  Object.fromEntries(
    Object.entries(message.fields)
      .filter(([name, field]) => shown(field, row[name]))
      .map(([name, field]) => [name, renderValue(field, row[name])]),
  )
