import type { Field, FieldType } from '../field.ts'
import type { Dialect } from '../names.ts'
import { emitter, isShown } from '../show.ts'
import { parentUid } from '../uid.ts'
import { LOOK, type Look } from './scan.ts'

/** A v1 member as it is written into the text of a row. */
export interface Member {
  /** `"name":` */
  readonly name: string
  /** Made from nothing, from the value, from the parent part of a uid, or looked up in an enum. */
  readonly kind: 'constant' | 'value' | 'parent' | 'enum'
  /** The v2 member that it is made from; undefined when v2 has none. */
  readonly from: string | undefined
  /** Looks of the v2 value whose text can be copied. */
  readonly copied: readonly boolean[]
  /** Any other value: its JSON text, or undefined where v1 shows nothing. `text` is the v2 text of a plain value. */
  write(look: Look, text: string, value: unknown): string | undefined
}

/** How a field is written, or undefined when its source needs the whole row. */
export function memberOf(name: string, field: Field, dialect: Dialect): Member | undefined {
  const { source, type } = field
  const emit = emitter(type, dialect)
  const shown = isShown(field)
  const show = (value: unknown) => (shown(value) ? JSON.stringify(emit(value)) : undefined)
  const unset = show(undefined)
  const quoted = `${JSON.stringify(name)}:`
  if (source === undefined) return { name: quoted, kind: 'constant', from: undefined, copied: NEVER, write: () => unset }
  if (typeof source === 'string') {
    if (source === '' || source.includes('.')) return undefined
    const choices = type.kind === 'choice' ? textsOf(type) : undefined
    return {
      name: quoted,
      kind: choices ? 'enum' : 'value',
      from: source,
      copied: field.zeroIsUnset ? NEVER : copiedLooks(type),
      write(look, text, value) {
        if (look === LOOK.absent || look === LOOK.null) return unset
        return (look === LOOK.text && choices?.get(text)) || show(look === LOOK.other ? value : JSON.parse(text))
      },
    }
  }
  if (!('parentOf' in source) || typeof source.parentOf !== 'string') return undefined
  return {
    name: quoted,
    kind: 'parent',
    from: source.parentOf,
    copied: NEVER,
    write(look, text, value) {
      if (look === LOOK.text && type.kind === 'text') {
        const slash = text.lastIndexOf('/')
        return slash < 0 ? unset : `${text.slice(0, slash)}"`
      }
      return show(look === LOOK.other && typeof value === 'string' ? parentUid(value) : undefined)
    },
  }
}

/** The v1 text of every v2 text that an enum knows. */
function textsOf({ of }: Extract<FieldType, { kind: 'choice' }>): ReadonlyMap<string, string> {
  return new Map(of.rows.map(([v1, v2]) => [JSON.stringify(v2), JSON.stringify(v1)]))
}

const looks = (...of: readonly Look[]): readonly boolean[] => Object.values(LOOK).map((look) => of.includes(look))
const NEVER = looks()

/** The values that a field of this type shows as they are. */
function copiedLooks(type: FieldType): readonly boolean[] {
  switch (type.kind) {
    case 'text':
    case 'bytes':
    case 'long':
    case 'time':
    case 'duration':
      return looks(LOOK.text)
    case 'flag':
      return looks(LOOK.true, LOOK.false)
    case 'int':
      return looks(LOOK.integer)
    case 'list':
      return type.of.kind === 'text' ? looks(LOOK.texts) : NEVER
    default:
      return NEVER
  }
}
