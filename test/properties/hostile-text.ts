import type { Fields, FieldType } from '../../src/tables/fields.ts'
import { isObject } from '../../src/tables/json.ts'
import type { Form } from './forms.ts'

/** Members that no table has, notorious ones first. A body may contain them, and they must have no effect (facts §16.2). */
const STRANGERS = [
  '"__proto__":{"name":"evil","uid":"evil","polluted":true}',
  '"constructor":{"prototype":{"polluted":true}}',
  '"toString":"evil"',
  '"hasOwnProperty":null',
  '"no_such_member":{"deep":[1,{"__proto__":{"polluted":true}}]}',
]

/**
 * Writes a v1 form as a careless or malicious client does. 64-bit integers are bare numbers, and every member occurs twice (the last one
 * counts).
 * Members that no table has lie between them.
 */
export function hostileText(fields: Fields, form: Form): string {
  const members = Object.entries(form).flatMap(([name, value]) => {
    const type = fields[name]?.type
    if (!type) throw new Error(`${name} is not in the table`)
    return twice(name, write(type, value))
  })
  return `{${[...STRANGERS, ...members, ...STRANGERS].join()}}`
}

function twice(name: string, text: string): string[] {
  return [`${JSON.stringify(name)}:[["an older value"]]`, `${JSON.stringify(name)}:${text}`]
}

function write(type: FieldType, value: unknown): string {
  if (type.kind === 'long') return String(value)
  if (type.kind === 'object' && isObject(value)) return hostileText(type.fields, value)
  if (type.kind === 'list') return `[${(value as unknown[]).map((item) => write(type.of, item)).join()}]`
  if (type.kind === 'map')
    return `{${Object.entries(value as Form)
      .flatMap(([key, item]) => twice(key, write(type.of, item)))
      .join()}}`
  return JSON.stringify(value)
}
