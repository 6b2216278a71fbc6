import { emitter, isShown } from '../compile/show.ts'
import type { EnumRow } from '../language/enums.ts'
import type { Field, FieldType } from '../language/field.ts'
import type { Dialect } from '../language/names.ts'
import { parentUid } from '../language/uid.ts'

/** How a v2 value is written; the engine counts them in this order (engine/scan.ts). */
export const LOOKS = ['absent', 'text', 'escaped', 'texts', 'true', 'false', 'null', 'integer', 'other'] as const

export type Look = (typeof LOOKS)[number]

/** A v1 member in the form in which the text of a row is written. */
export interface Member {
  /** `"name":` */
  readonly name: string
  /** Made from the value, or from the parent part of a uid. */
  readonly kind: 'value' | 'parent'
  /** The v2 member that is its source; undefined if v2 has none. */
  readonly from: string | undefined
  /** The looks of the v2 value whose text can be copied. */
  readonly copied: readonly Look[]
  /** The text if v2 lacks the member; undefined if v1 then shows nothing. */
  readonly unset: string | undefined
  /** The values of an enum. */
  readonly choices: readonly EnumRow[] | undefined
  /** Returns the text for any other value. */
  show(value: unknown): string | undefined
}

/** Returns how a field is written, or undefined if its source needs the whole row. */
export function memberOf(name: string, field: Field, dialect: Dialect): Member | undefined {
  const { source, type, convert } = field
  if (convert) return undefined
  const emit = emitter(type, dialect)
  const shown = isShown(field)
  const show = (value: unknown) => (shown(value) ? JSON.stringify(emit(value)) : undefined)
  const plain = { name: `${JSON.stringify(name)}:`, kind: 'value', copied: NONE, unset: show(undefined), choices: undefined, show } as const
  if (source === undefined) return { ...plain, from: undefined }
  if (typeof source === 'string') {
    if (source === '' || source.includes('.')) return undefined
    const choices = type.kind === 'choice' ? type.of.rows : undefined
    return { ...plain, from: source, copied: field.zeroIsUnset ? NONE : copiedLooks(type), choices }
  }
  if (!('parentOf' in source) || typeof source.parentOf !== 'string' || type.kind !== 'text') return undefined
  return {
    ...plain,
    kind: 'parent',
    from: source.parentOf,
    show: (value) => show(typeof value === 'string' ? parentUid(value) : undefined),
  }
}

const NONE: readonly Look[] = []
const TEXT: readonly Look[] = ['text', 'escaped']

/** Returns the looks that a field of this type shows unchanged. */
function copiedLooks(type: FieldType): readonly Look[] {
  switch (type.kind) {
    case 'text':
    case 'bytes':
    case 'long':
    case 'time':
    case 'duration':
      return TEXT
    case 'flag':
      return ['true', 'false']
    case 'int':
      return ['integer']
    case 'list':
      return type.of.kind === 'text' ? ['texts'] : NONE
    default:
      return NONE
  }
}
