import { TO_DECIDE } from '../check/undecided.ts'
import type { SchemaShape } from '../contract/schema-shape.ts'
import { enumRowsOf } from './enum-rows.ts'
import type { Matched, MatchedMembers, MatchedShape } from './match-members.ts'

/** Names of the language that a text uses. */
export interface Writing {
  readonly used: Set<string>
  /** Enums by the texts that make them. */
  readonly enums: Map<string, string>
  /** Interfaces by version and schema. */
  readonly types: Map<string, { readonly name: string; readonly text: string }>
  /** The text is TypeScript. */
  readonly isTyped: boolean
  /** What a person must decide, one sentence each. */
  readonly decisions: string[]
}

/** Writes the rows of a message: `{ name: optional(text('name')) }`. `where` names it in the list of decisions. */
export function membersText(members: MatchedMembers, where: string, writing: Writing, indent = ''): string {
  const rows = Object.entries(members).flatMap(([name, matched]) => rowsOf(name, matched, where, writing, `${indent}  `))
  return rows.length === 0 ? '{}' : `{\n${rows.join('\n')}\n${indent}}`
}

function rowsOf(name: string, matched: Matched, where: string, writing: Writing, indent: string): readonly string[] {
  const key = keyText(name)
  if (matched.v2 === undefined) {
    writing.decisions.push(`${where}.${name}: ${matched.because}`)
    const row = use(
      writing,
      'optional',
      use(writing, 'gone', `${builderOf(matched.shape, writing)}, ${quoted(`${TO_DECIDE}: ${matched.because}`)}`),
    )
    return [`${indent}${key}: ${row},`]
  }
  const row = shapeText(matched.shape, quoted(matched.v2), `${where}.${name}`, writing, indent)
  const access = matched.isReadOnly ? use(writing, 'readOnly', row) : row
  return [`${indent}// ${matched.because}`, `${indent}${key}: ${use(writing, 'optional', access)},`]
}

/** Writes a row of a pair. A list or a map of something that has no builder is an object that nobody looks into. */
function shapeText(shape: MatchedShape, source: string, where: string, writing: Writing, indent: string): string {
  if (shape.kind === 'object') return use(writing, 'object', `${source}, ${membersText(shape.members, where, writing, indent)}`)
  if (shape.kind === 'choice') return use(writing, 'choice', `${source}, ${enumName(shape, where, writing)}`)
  if (shape.kind === 'list' || shape.kind === 'map') {
    const { of } = shape
    const many = shape.kind === 'list'
    if (of.kind === 'object')
      return use(writing, many ? 'objects' : 'objectMap', `${source}, ${membersText(of.members, where, writing, indent)}`)
    if (of.kind === 'choice' && many) return use(writing, 'choices', `${source}, ${enumName(of, where, writing)}`)
    if (of.kind === 'int' && !many) return use(writing, 'intMap', source)
    return use(writing, many ? 'texts' : 'textMap', source)
  }
  return use(writing, shape.kind, source)
}

/** The builder of a member that has no place yet. */
function builderOf(shape: SchemaShape, writing: Writing): string {
  const plain = shape.kind === 'choice' ? 'text' : shape.kind === 'list' ? 'texts' : shape.kind === 'map' ? 'textMap' : shape.kind
  const name = plain === 'object' || plain === 'unknown' ? 'text' : plain
  writing.used.add(name)
  return name
}

function enumName(shape: Extract<MatchedShape, { kind: 'choice' }>, where: string, writing: Writing): string {
  const { rows, v1Only } = enumRowsOf(shape)
  const body = `${JSON.stringify(rows)}${v1Only.length > 0 ? `, ${JSON.stringify(v1Only)}` : ''}`
  const known = writing.enums.get(body)
  if (known !== undefined) return known
  const name = freeName(`${where.split('.').at(-1)} values`, [...writing.enums.values()])
  writing.used.add('enumMap')
  writing.enums.set(body, name)
  return name
}

/** Returns a name of a constant that is not taken: `ListLiensResponse` → `listLiensResponse`, `listLiensResponse2`. */
export function freeName(label: string, taken: readonly string[]): string {
  const plain = label.replace(/[^A-Za-z0-9]+(.)?/g, (_, letter = '') => letter.toUpperCase()).replace(/^[^A-Za-z]+/, '')
  const name = (plain || 'message').replace(/^./, (letter) => letter.toLowerCase())
  const names = [name, ...taken.map((_, at) => `${name}${at + 2}`)]
  return names.find((one) => !taken.includes(one)) ?? name
}

/** A name as a key of an object. */
export function keyText(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : quoted(name)
}

export function use(writing: Writing, name: string, inside: string): string {
  writing.used.add(name)
  return `${name}(${inside})`
}

export function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
