import { at, isObject, type JsonObject } from '../json.ts'
import type { Field, Fields, FieldType, Source } from '../language/field.ts'
import { WITHHELD } from '../language/fields/shown-in-part.ts'
import { camelCase, type Dialect } from '../language/names.ts'
import { parentUid } from '../language/uid.ts'
import { shownWith } from './convert.ts'

/** v2 form → v1 form, in one dialect. Never mutates its argument. */
export type Show = (v2: JsonObject) => JsonObject

type Emit = (value: unknown) => unknown

/** Compiles a field table into the function that writes the v1 form, with unset members (facts §16.3). It runs once, at start. */
export function compileShow(fields: Fields, dialect: Dialect): Show {
  const rows = Object.entries(fields)
    .filter(([, field]) => isShownIn(dialect, field))
    .map(([name, field]) => ({
      name: nameIn(dialect, name, field),
      get: shownBy(field),
      emit: emitter(field.type, dialect),
      isShown: isShown(field),
    }))
  return (v2) => {
    const v1: Record<string, unknown> = {}
    for (const { name, get, emit, isShown } of rows) {
      const value = get(v2)
      if (isShown(value)) v1[name] = emit(value)
    }
    return v1
  }
}

/** Returns what reads a field's value from the v2 form, as v1's type describes it. */
function shownBy({ source, convert }: Field): (v2: JsonObject) => unknown {
  const get = getter(source)
  if (!convert) return get
  return (v2) => shownWith(convert, get(v2))
}

/** True if answers in this dialect have the field at all. */
export function isShownIn(dialect: Dialect, { access, only = dialect }: Field): boolean {
  return access !== 'writeOnly' && only === dialect
}

/** Returns the test for which v2 values v1 shows the field. */
export function isShown({ presence, zeroIsUnset, mayBeWithheld }: Field): (value: unknown) => boolean {
  if (presence === 'implicit') return mayBeWithheld ? isTold : () => true
  return zeroIsUnset ? isNonZero : isPresent
}

const isTold = (value: unknown) => value !== WITHHELD
const isPresent = (value: unknown) => value !== undefined && value !== null
const isNonZero = (value: unknown) => isPresent(value) && value !== 0

export function nameIn(dialect: Dialect, name: string, field: Field): string {
  return dialect === 'specification' ? name : (field.json ?? camelCase(name))
}

/** Returns a function that reads one source from the v2 form; `''` is the form itself. */
export function getter(source: Source | undefined): (v2: JsonObject) => unknown {
  if (source === undefined) return () => undefined
  if (source === '') return (v2) => v2
  if (typeof source === 'string') {
    const path = source.split('.')
    return path.length === 1 ? (v2) => v2[source] : (v2) => at(v2, path)
  }
  if ('parentOf' in source) {
    const uid = getter(source.parentOf)
    return (v2) => {
      const value = uid(v2)
      return typeof value === 'string' ? parentUid(value) : undefined
    }
  }
  const getters = source.firstOf.map(getter)
  return (v2) => {
    for (const get of getters) {
      const value = get(v2)
      if (value !== undefined && value !== null && value !== '') return value
    }
    return undefined
  }
}

/** Writes one v2 value in the v1 form, in one dialect. */
export function emitter(type: FieldType, dialect: Dialect): Emit {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return (value) => (typeof value === 'string' ? value : '')
    case 'flag':
      return (value) => value === true
    case 'int':
      return (value) => (typeof value === 'number' ? value : typeof value === 'string' ? Number(value) || 0 : 0)
    case 'long':
      return (value) => (typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '0')
    case 'time':
    case 'duration':
      return (value) => (typeof value === 'string' ? value : null)
    case 'choice':
      return (value) => type.of.toV1.get(value) ?? type.of.zero[0]
    case 'object': {
      const show = compileShow(type.fields, dialect)
      return (value) => (isObject(value) ? show(value) : null)
    }
    case 'list':
      return listEmitter(type.of, dialect)
    case 'map':
      return mapEmitter(type.of, dialect)
  }
}

function listEmitter(of: FieldType, dialect: Dialect): Emit {
  if (of.kind === 'text') return (value) => (Array.isArray(value) ? value : [])
  if (of.kind === 'choice' && of.dropUnknown) {
    return (value) => (Array.isArray(value) ? value.flatMap((item) => of.of.toV1.get(item) ?? []) : [])
  }
  const emit = emitter(of, dialect)
  return (value) => (Array.isArray(value) ? value.map(emit) : [])
}

/** Keys are a user's data and kept unchanged, `__proto__` included (`fromEntries` defines, it does not assign). */
function mapEmitter(of: FieldType, dialect: Dialect): Emit {
  if (of.kind !== 'object') return (value) => (isObject(value) ? value : {})
  const emit = emitter(of, dialect)
  return (value) => (isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, emit(item)])) : {})
}
