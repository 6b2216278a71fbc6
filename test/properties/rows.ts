import { nameIn } from '../../src/tables/compile.ts'
import type { Field, Fields, FieldType } from '../../src/tables/fields.ts'
import { isObject } from '../../src/tables/json.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import type { Form } from './forms.ts'

/** Writes the same form in the names of a dialect, which is chosen for each member. */
export function spelled(fields: Fields, form: Form, dialect: () => Dialect): Form {
  return Object.fromEntries(
    Object.entries(form).map(([name, value]) => {
      const field = fields[name]
      if (!field) throw new Error(`${name} is not in the table`)
      return [nameIn(dialect(), name, field), inside(field.type, value, (of, inner) => spelled(of, inner, dialect))]
    }),
  )
}

/**
 * Returns a form after its way through v2. What v1 can write stays. Every other row is unset, or gone where unset means absent.
 * Other rows are readOnly, elsewhere, or lossy without a v2 source. Rows that the form lacks are added in the same way.
 */
export function settled(fields: Fields, form: Form, dialect: Dialect): Form {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, { access, only = dialect }]) => access !== 'writeOnly' && only === dialect)
      .flatMap(([name, field]): [string, unknown][] => {
        const kept = Object.hasOwn(form, name) && field.access === 'readWrite'
        if (!kept && field.presence === 'optional') return []
        const value = kept ? inside(field.type, form[name], (of, inner) => settled(of, inner, dialect)) : unset(field, dialect)
        return [[nameIn(dialect, name, field), value]]
      }),
  )
}

/** Returns a value with every message in it changed. The keys of users' maps are not members. */
function inside(type: FieldType, value: unknown, change: (fields: Fields, form: Form) => Form): unknown {
  switch (type.kind) {
    case 'object':
      return isObject(value) ? change(type.fields, value) : value
    case 'list':
      return (value as unknown[]).map((item) => inside(type.of, item, change))
    case 'map':
      return Object.fromEntries(Object.entries(value as Form).map(([key, item]) => [key, inside(type.of, item, change)]))
    default:
      return value
  }
}

/** Returns the value with which v1 says that a member is not set (facts §16.3). */
function unset({ type, source }: Field, dialect: Dialect): unknown {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return ''
    case 'flag':
      return false
    case 'int':
      return 0
    case 'long':
      return '0'
    case 'time':
    case 'duration':
      return null
    case 'choice':
      return type.of.zero[0]
    case 'object':
      return source === '' ? settled(type.fields, {}, dialect) : null
    case 'list':
      return []
    case 'map':
      return {}
  }
}
