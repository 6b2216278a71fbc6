/** The parts of a field's type. */
export interface FieldTypeParts {
  readonly label: 'repeated' | 'optional' | undefined
  /** The type of a map's key. */
  readonly key: string | undefined
  /** A scalar, a message or an enum; of a map, the type of its values. */
  readonly of: string
}

/** A type as a proto file writes it: `repeated string`, `map<string,int32>`. */
const TYPE = /^(?:(repeated|optional) ([\w.]+)|map<(\w+),([\w.]+)>|([\w.]+))$/

/** Reads `optional string`. Returns undefined if the text is no type. */
export function readFieldType(text: string): FieldTypeParts | undefined {
  const parts = TYPE.exec(text)
  if (!parts) return undefined
  const [, label, labelled, key, value, single] = parts
  return { label: label as FieldTypeParts['label'], key, of: labelled ?? value ?? single ?? '' }
}

/** `sync_config` → `syncConfig`: the JSON name that protoc derives. */
export function jsonNameOf(field: string): string {
  return field.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase())
}
