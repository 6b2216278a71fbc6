import type { SchemaShape } from '../contract/schema-shape.ts'
import { keyText, type Writing } from './write-members.ts'

type ObjectShape = Extract<SchemaShape, { kind: 'object' }>

const SCALARS = {
  text: 'string',
  time: 'string',
  bytes: 'string',
  long: 'string',
  choice: 'string',
  int: 'number',
  flag: 'boolean',
} as const

/**
 * Writes rows so that the compiler compares them with both versions: `rows<V1Project, V2Project>()({ … })`. Adds the interfaces that this
 * needs. A message without a name has no interface, and its rows stand alone.
 */
export function comparedText(rows: string, v1: SchemaShape | undefined, v2: SchemaShape | undefined, writing: Writing): string {
  if (!writing.isTyped || v1?.kind !== 'object' || v2?.kind !== 'object' || v1.name === undefined || v2.name === undefined) return rows
  writing.used.add('rows')
  return `rows<${interfaceOf('V1', v1.name, v1, writing)}, ${interfaceOf('V2', v2.name, v2, writing)}>()(${rows})`
}

/** Returns the name of the interface of a schema, which is written once. */
function interfaceOf(version: 'V1' | 'V2', schema: string, shape: ObjectShape, writing: Writing): string {
  const key = `${version} ${schema}`
  const known = writing.types.get(key)
  if (known) return known.name
  const plain = version + schema.replace(/[^A-Za-z0-9]+/g, ' ').replace(/(?:^| )(.?)/g, (_, letter: string) => letter.toUpperCase())
  const taken = [...writing.types.values()].map(({ name }) => name)
  const name = taken.includes(plain) ? `${plain}${taken.length}` : plain
  const written = { name, text: '' }
  writing.types.set(key, written)
  written.text = `interface ${name} ${membersText(version, shape, writing, '')}`
  return name
}

function membersText(version: 'V1' | 'V2', { members }: ObjectShape, writing: Writing, indent: string): string {
  const lines = Object.entries(members).map(
    ([name, { shape }]) => `${indent}  readonly ${keyText(name)}?: ${typeText(version, shape, writing, `${indent}  `)}\n`,
  )
  return lines.length === 0 ? '{}' : `{\n${lines.join('')}${indent}}`
}

function typeText(version: 'V1' | 'V2', shape: SchemaShape, writing: Writing, indent: string): string {
  if (shape.kind === 'unknown') return 'unknown'
  if (shape.kind === 'list') return `readonly ${bracketed(typeText(version, shape.of, writing, indent))}[]`
  if (shape.kind === 'map') return `Readonly<Record<string, ${typeText(version, shape.of, writing, indent)}>>`
  if (shape.kind !== 'object') return SCALARS[shape.kind]
  return shape.name === undefined ? membersText(version, shape, writing, indent) : interfaceOf(version, shape.name, shape, writing)
}

function bracketed(type: string): string {
  return type.startsWith('readonly ') ? `(${type})` : type
}
