import type { Extra, Member, Type, V1Message, V1Scalar, Vocabulary } from './message.ts'

/** The spelling of v1: proto names with the specification's extra members, or exactly the published JSON names. */
export type Dialect = 'specification' | 'published'

type Row = Readonly<Record<string, unknown>>
type Json = Record<string, unknown>

/** The v1 output of an unset member (facts §16.3). */
const unsetScalar: Readonly<Record<V1Scalar, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  uint32: 0,
  int64: '0',
  timestamp: null,
  duration: null,
}

const isUnset = (value: unknown): boolean => value === undefined || value === null

/** The store keeps no presence for scalars: a zero means that the member was never set. */
const isAbsent = (value: unknown): boolean => isUnset(value) || value === '' || value === 0

function unset(member: Member): unknown {
  if (member.shape === 'list') return []
  if (member.shape === 'map') return {}
  if (member.type.kind === 'scalar') return unsetScalar[member.type.scalar]
  return member.type.kind === 'enum' ? member.type.values.zero : null
}

/** A stored name that v1 lacks becomes the zero value (facts §18). */
const enumName = (value: unknown, values: Vocabulary): string => values.toV1.get(String(value)) ?? values.zero

function encodeValue(value: unknown, type: Type, dialect: Dialect): unknown {
  if (type.kind === 'message') return encode(value as Row, type.message, dialect)
  if (type.kind === 'enum') return enumName(value, type.values)
  if (type.scalar === 'uint32') return Number(value) >>> 0
  return type.scalar === 'int64' ? String(value) : value
}

function encodeList(values: readonly unknown[], type: Type, dialect: Dialect): unknown[] {
  // Lists drop a name that v1 lacks: a zero would be an additional element (facts §18).
  const known = type.kind === 'enum' ? values.filter((value) => type.values.toV1.has(String(value))) : values
  return known.map((value) => encodeValue(value, type, dialect))
}

const encodeMap = (values: Row, type: Type, dialect: Dialect): Json =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, encodeValue(value, type, dialect)]))

function encodeMember(value: unknown, member: Member, dialect: Dialect): unknown {
  if (isUnset(value)) return unset(member)
  if (member.shape === 'list') return encodeList(value as readonly unknown[], member.type, dialect)
  if (member.shape === 'map') return encodeMap(value as Row, member.type, dialect)
  return encodeValue(value, member.type, dialect)
}

/** Name of a member in a dialect. */
export const nameIn = (member: Pick<Member, 'name' | 'json'>, dialect: Dialect): string =>
  dialect === 'specification' ? member.name : member.json

/** Encodes a stored, v2-shaped row as a v1 message: every member by its type, set or not. Keys of user maps stay as they are. */
export function encode(row: Row, message: V1Message, dialect: Dialect): Json {
  const out: Json = {}
  for (const member of message.members) {
    const value = member.flow === 'in' ? undefined : row[member.from]
    if (member.presence !== undefined && isAbsent(value)) continue
    out[nameIn(member, dialect)] = encodeMember(value, member, dialect)
  }
  return out
}

const parentOf = (uid: unknown): string | undefined => {
  const end = typeof uid === 'string' ? uid.lastIndexOf('/') : -1
  return end < 0 ? undefined : String(uid).slice(0, end)
}

const extraValue: Readonly<Record<Extra, (row: Row) => unknown>> = {
  created_at: (row) => row['createTime'] ?? null,
  updated_at: (row) => row['updateTime'] ?? null,
  group_id: (row) => parentOf(row['uid']),
}

/**
 * Encodes a row as a resource: a list item or a single answer. The specification's dialect also shows the members of specification §9.5;
 * `group_id` only below a group.
 */
export function encodeResource(row: Row, message: V1Message, dialect: Dialect): Json {
  const out = encode(row, message, dialect)
  if (dialect === 'published') return out
  for (const extra of message.extras) {
    const value = extraValue[extra](row)
    if (value !== undefined) out[extra] = value
  }
  return out
}
