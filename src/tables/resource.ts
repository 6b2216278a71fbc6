import { compileIsAnswer, compileRead, compileRestates, compileShow, hasUid, isEmptyAnswer, type ReadBody, type Show } from './compile.ts'
import { type EnumMap, type Field, type Fields, type FieldType, optional, parentOf, readOnly, text, time } from './fields.ts'
import { isObject, type JsonObject } from './json.ts'
import type { Params } from './query.ts'
import type { Expected } from './turn.ts'
import { type Dialect, snakeCase } from './uid.ts'

/** A message of v1 that is described and never translated. */
export interface MessageShape {
  readonly name: string
  readonly fields: Fields
}

/** What v1 takes and answers in an operation that it alone serves. */
export interface V1OnlyShape {
  readonly params?: Params
  readonly request?: MessageShape
  /** The member of the request that is the whole body. */
  readonly bodyIs?: string
  readonly answer: MessageShape
}

/** Stands for the members of a value that may have any type. */
export const ANY_VALUE: Fields = {}

type Scalar = 'text' | 'flag' | 'int' | 'long' | 'time' | 'bytes'
type Single = Scalar | 'any' | EnumMap | MessageShape
/** The type of a member: one of something, a list of it, a map of it. */
type ShapeType = Single | readonly [Single] | { readonly mapOf: Single }
type ShapeMember = ShapeType | Field

/**
 * A message by the types of its members:
 *
 *     const scanner = shape('scanner', { name: scannerName, version: 'text' })
 *     const report = shape('report', { scanner, found: [vulnerability], counts: { mapOf: 'int' }, note: optionalShape('text') })
 */
export function shape(name: string, members: Readonly<Record<string, ShapeMember>>): MessageShape {
  return { name, fields: Object.fromEntries(Object.entries(members).map(([member, type]) => [member, fieldOf(type)])) }
}

/** A member that is absent when unset; with `oneof`, one of a group of which at most one is present. */
export function optionalShape(type: ShapeType, oneof?: string): Field {
  return { ...fieldOf(type), presence: 'optional', ...(oneof !== undefined && { oneof }) }
}

function fieldOf(member: ShapeMember): Field {
  if (typeof member === 'object' && 'access' in member) return member
  return { type: typeOf(member), source: undefined, access: 'readWrite', presence: 'implicit' }
}

function typeOf(type: ShapeType): FieldType {
  if (type === 'any') return { kind: 'object', fields: ANY_VALUE }
  if (typeof type === 'string') return { kind: type }
  if ('mapOf' in type) return { kind: 'map', of: typeOf(type.mapOf) }
  if ('fields' in type) return { kind: 'object', fields: type.fields, name: type.name }
  return 'rows' in type ? { kind: 'choice', of: type } : { kind: 'list', of: typeOf(type[0]) }
}

/** The members that the specification's v1 form adds to a resource (design §3). */
type Stamp = 'created_at' | 'updated_at' | 'group_id'

/** The field mask of an update. `'*'` replaces everything; paths are in v2's JSON spelling. */
export type MaskRule =
  | '*'
  | {
      readonly always: readonly string[]
      /** Paths that are named only if the v2 body sets them to a value that is not the unset one. */
      readonly whenSet?: readonly string[]
      /** Why `*` would destroy data here (facts §13). */
      readonly because: string
    }

interface ResourceTable {
  /** The v2 collection path without a trailing slash. */
  readonly v2: string
  /** The key of the array in a v2 list answer. */
  readonly plural: string
  readonly fields: Fields
  readonly stamps?: readonly Stamp[]
  readonly mask?: MaskRule
  /** v2's default order of a list; the unique `uid` by default (facts §10.6). */
  readonly order?: string
}

/** A resource: its tables and the compiled functions. */
export interface Resource extends Message {
  readonly v2: string
  readonly plural: string
  readonly mask: MaskRule
  readonly order: string
}

/** A v1 message that is no resource: a request, or the answer of an action. */
export interface Message extends Expected {
  readonly name: string
  readonly fields: Fields
  /** The fields and their stamps, for a message that contains this one as a whole. */
  readonly shown: Fields
  readonly read: ReadBody
  /** True for a v1 body that sets a member which v2 cannot write. Its `read` then needs the stored form. */
  readonly restates: (v1: unknown) => boolean
  readonly show: Readonly<Record<Dialect, Show>>
  /** v2 field path (camelCase or snake_case) → v1 field name, for error details. */
  readonly v1Names: ReadonlyMap<string, string>
}

/**
 * A v1 message: the members of a request or of an answer.
 *
 *     const eligibility = message('eligibility', { eligible: flag('eligible') })
 */
export function message(name: string, fields: Fields, stamps: readonly Stamp[] = []): Message {
  const shown = { ...fields, ...Object.fromEntries(stamps.filter((stamp) => !(stamp in fields)).map((stamp) => [stamp, STAMPS[stamp]])) }
  return {
    name,
    fields,
    shown,
    read: compileRead(fields),
    restates: compileRestates(fields),
    isAnswer: compileIsAnswer(fields),
    show: { specification: compileShow(shown, 'specification'), published: compileShow(shown, 'published') },
    v1Names: new Map(v1Names(fields, '', '')),
  }
}

/**
 * The same message where v2 may answer `{}`: it leaves out what is unset, and every member may be.
 *
 *     const page = mayBeEmpty(message('page', { projects: objects('projects', project.fields), nextPageToken: optional(text('nextPageToken')) }))
 */
export function mayBeEmpty(whole: Message): Message {
  return { ...whole, isAnswer: (v2) => whole.isAnswer(v2) || isEmptyAnswer(v2) }
}

/**
 * The same message for a plan that computes from its members and does not show them all: each must be of its type.
 *
 *     const tags = { path: tag.v2, plural: tag.plural, order: tag.order, row: typed(tag) }
 */
export function typed(whole: Message): Expected {
  const { isAnswer, show } = whole
  return { isAnswer: (v2) => isAnswer(v2) && isObject(show.specification(v2)) }
}

/** Rows without a uid have nothing to be recognised by. */
const ANY_ROW = () => true

/**
 * A resource: its v2 collection, the key of its rows in a v2 list, and one row a v1 member.
 *
 *     const role = resource('role', {
 *       v2: '/iam/v2/roles',
 *       plural: 'roles',
 *       stamps: ['created_at', 'updated_at', 'group_id'],
 *       fields: { id: readOnly('uid'), name: text('name') },
 *     })
 */
export function resource(name: string, table: ResourceTable): Resource {
  const { v2, plural, mask = '*', order = 'uid' } = table
  const fields = message(name, table.fields, table.stamps)
  return { ...fields, isAnswer: hasUid(table.fields) ? fields.isAnswer : ANY_ROW, v2, plural, mask, order }
}

/** Returns the uid of a v2 form, or the empty string. */
export function uidOf(v2: JsonObject): string {
  return typeof v2.uid === 'string' ? v2.uid : ''
}

/** The published contract has no stamps: strict decoders refuse unknown members (design §3). */
const stamp = (row: Field): Field => ({ ...readOnly(row), only: 'specification' })

const STAMPS: Readonly<Record<Stamp, Field>> = {
  created_at: stamp(time('createTime')),
  updated_at: stamp(time('updateTime')),
  group_id: stamp(optional(text(parentOf('uid')))),
}

function v1Names(fields: Fields, v1Prefix: string, v2Prefix: string): [string, string][] {
  return Object.entries(fields).flatMap(([name, { source, type }]): [string, string][] => {
    if (typeof source !== 'string') return []
    const v1 = v1Prefix + name
    const v2 = v2Prefix + source
    const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
    const below = inner.kind === 'object' ? v1Names(inner.fields, `${v1}.`, source === '' ? v2Prefix : `${v2}.`) : []
    return source === '' ? below : [[v2, v1], [snakeCase(v2), v1], ...below]
  })
}
