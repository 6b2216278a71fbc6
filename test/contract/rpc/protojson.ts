import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import protobuf from 'protobufjs'

/** A field of a message, as the published protos describe it. */
export interface FieldFact {
  readonly proto: string
  /** Its name in protobuf JSON. */
  readonly json: string
  readonly number: number
  readonly shape: 'one' | 'list' | 'map'
  /** A scalar, a message or an enum; of a map, that of its values. */
  readonly type: string
  readonly keys?: string
  readonly oneof?: string
  /** True for `optional`: a set zero is not an unset one. */
  readonly optional: boolean
}

export interface MethodFact {
  readonly path: string
  readonly input: string
  readonly output: string
  readonly verb: string
  readonly template: string
  readonly body: string | undefined
}

interface Facts {
  readonly services: Readonly<
    Record<string, Readonly<Record<string, { in: string; out: string; http?: Readonly<Record<string, string>> }>>>
  >
  readonly messages: Readonly<Record<string, Readonly<Record<string, readonly [number, string, { oneof?: string; json?: string }?]>>>>
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>
}

const facts: Facts = JSON.parse(readFileSync('mappings/grpc/v1.json', 'utf8'))

export const enums: ReadonlyMap<string, Readonly<Record<string, number>>> = new Map(Object.entries(facts.enums))

export const messages: ReadonlyMap<string, readonly FieldFact[]> = new Map(
  Object.entries(facts.messages).map(([name, fields]) => [
    name,
    Object.entries(fields).map(([proto, [number, type, more = {}]]): FieldFact => {
      const json = more.json ?? proto.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
      return { proto, json, number, ...(more.oneof !== undefined && { oneof: more.oneof }), ...shaped(type) }
    }),
  ]),
)

function shaped(type: string): Pick<FieldFact, 'shape' | 'type' | 'keys' | 'optional'> {
  const [, keys, values] = /^map<(\w+),(.+)>$/.exec(type) ?? []
  if (keys !== undefined && values !== undefined) return { shape: 'map', keys, type: values, optional: false }
  const [, label, plain = type] = /^(repeated|optional) (.+)$/.exec(type) ?? []
  return { shape: label === 'repeated' ? 'list' : 'one', type: plain, optional: label === 'optional' }
}

/** The methods that have a REST route. */
export const methods: readonly MethodFact[] = Object.entries(facts.services).flatMap(([service, all]) =>
  Object.entries(all).flatMap(([name, { in: input, out: output, http }]): MethodFact[] => {
    if (!http) return []
    const { body, ...rule } = http
    const [[verb = '', template = ''] = []] = Object.entries(rule)
    return [{ path: `/${service}/${name}`, input, output, verb: verb.toUpperCase(), template, body }]
  }),
)

const WITHHELD = 'a message cannot lack a member: what the caller may not read looks empty'

/**
 * Cases that clients of gRPC and Connect see otherwise than REST clients, and why. A case that passes does not belong here.
 */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'bindings of a caller who may read nothing else': WITHHELD,
  'a lookup of an identity that the caller may not read': WITHHELD,
  'a readme is written by staff only': WITHHELD,
}

/** What a REST request can say and a gRPC call cannot, and why. The cases send these requests over REST whatever carries the others. */
export const INEXPRESSIBLE = {
  route: 'a call names its method: it has no path, verb or form that could be wrong',
  spelling: 'a message has no escapes, slashes and spellings of its own',
  twice: 'a field that is no list has one value',
  oneof: 'a oneof has one of its members',
  zero: 'a field without presence says nothing when it is zero, and a PATCH changes what its body says',
  unknown: 'a client knows the fields of its messages and no others',
  type: 'a value has the type of its field',
  raw: 'a body is a message, whatever its bytes are',
} as const

export type Inexpressible = keyof typeof INEXPRESSIBLE

export class NotExpressible extends Error {
  readonly because: Inexpressible

  constructor(because: Inexpressible, what: string) {
    super(`${what}: ${INEXPRESSIBLE[because]}`)
    this.because = because
  }
}

/** Values of scalars in protobuf JSON, and as protobufjs has them: texts of 64-bit numbers, bytes as buffers. */
interface Scalar {
  readonly read: (json: unknown) => unknown
  readonly write: (value: never) => unknown
  readonly zero: unknown
}

const same = (value: unknown) => value

const wrong = (json: unknown): never => {
  throw new NotExpressible('type', JSON.stringify(json))
}

/** Reads a whole number within bounds, from a number or a decimal text. */
const whole = (least: bigint, most: bigint) => (json: unknown) => {
  const text = typeof json === 'number' && Number.isSafeInteger(json) ? String(json) : json
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) return wrong(json)
  const number = BigInt(text)
  return number < least || number > most ? wrong(json) : String(number)
}

const small = (least: bigint, most: bigint): Scalar => ({ read: (json) => Number(whole(least, most)(json)), write: same, zero: 0 })

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)$/
const SPAN = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/

interface Moment {
  readonly seconds?: string
  readonly nanos?: number
}

const nanosOf = (fraction: string | undefined) => Number((fraction ?? '').padEnd(9, '0'))

/** Writes a fraction with 0, 3, 6 or 9 digits. */
function fractionOf(nanos: number): string {
  const digits = String(Math.abs(nanos))
    .padStart(9, '0')
    .replace(/(?:000){1,3}$/, '')
  return digits === '' ? '' : `.${digits}`
}

export const SCALARS: Readonly<Record<string, Scalar>> = {
  string: { read: (json) => (typeof json === 'string' ? json : wrong(json)), write: same, zero: '' },
  bool: { read: (json) => (typeof json === 'boolean' ? json : wrong(json)), write: same, zero: false },
  int32: small(-(2n ** 31n), 2n ** 31n - 1n),
  uint32: small(0n, 2n ** 32n - 1n),
  int64: { read: whole(-(2n ** 63n), 2n ** 63n - 1n), write: (value) => String(value), zero: '0' },
  bytes: {
    read: (json) => (typeof json === 'string' ? Buffer.from(json, 'base64') : wrong(json)),
    write: (value: Uint8Array) => Buffer.from(value).toString('base64'),
    zero: '',
  },
  'google.protobuf.Timestamp': {
    read(json) {
      const [, day = '', fraction, zone] = TIME.exec(String(json)) ?? wrong(json)
      // Date takes 30 February and hour 24 for the next day.
      if (!new Date(`${day}Z`).toISOString().startsWith(day) || day < '0001') return wrong(json)
      return { seconds: String(Date.parse(`${day}${zone}`) / 1000), nanos: nanosOf(fraction) }
    },
    write: ({ seconds = '0', nanos = 0 }: Moment) =>
      new Date(Number(seconds) * 1000).toISOString().replace('.000Z', `${fractionOf(nanos)}Z`),
    zero: null,
  },
  'google.protobuf.Duration': {
    read(json) {
      const [, sign, seconds, fraction] = (typeof json === 'string' && SPAN.exec(json)) || wrong(json)
      return { seconds: `${sign}${seconds}`, nanos: Number(`${sign}${nanosOf(fraction)}`) }
    },
    write: ({ seconds = '0', nanos = 0 }: Moment) => `${seconds}${fractionOf(nanos)}s`,
    zero: null,
  },
}

type Nested = Record<string, { nested?: Nested; [key: string]: unknown }>

const WELL_KNOWN = ['any', 'duration', 'timestamp', 'empty', 'struct', 'field_mask']

/** The types of the published protos, for a codec that the proxy does not have. */
export const wireTypes: protobuf.Root = protobuf.Root.fromJSON({ nested: tree() } as protobuf.INamespace)

function tree(): Nested {
  const root: Nested = {}
  const google = within(root, ['google', 'protobuf'])
  for (const name of WELL_KNOWN) {
    const { nested } = protobuf.common.get(`google/protobuf/${name}.proto`) as unknown as { nested: Nested }
    Object.assign(google, nested['google']?.nested?.['protobuf']?.nested)
  }
  for (const [name, fields] of messages) place(root, name, { edition: 'proto3', ...described(fields) })
  for (const [name, values] of enums) place(root, name, { edition: 'proto3', values })
  return root
}

function place(root: Nested, name: string, what: object): void {
  const parts = name.split('.')
  const own = parts.pop() ?? ''
  const room = within(root, parts)
  room[own] = { ...room[own], ...what }
}

function within(root: Nested, parts: readonly string[]): Nested {
  return parts.reduce((room, part) => {
    room[part] ??= {}
    room[part].nested ??= {}
    return room[part].nested
  }, root)
}

function described(fields: readonly FieldFact[]) {
  const oneofs: Record<string, { oneof: string[] }> = {}
  const add = (name: string, field: string) => {
    oneofs[name] ??= { oneof: [] }
    oneofs[name].oneof.push(field)
  }
  const entries = fields.map(({ proto, number, type, shape, keys, optional, oneof }) => {
    if (oneof !== undefined) add(oneof, proto)
    if (optional) add(`_${proto}`, proto)
    const more =
      shape === 'list' ? { rule: 'repeated' } : shape === 'map' ? { keyType: keys } : optional ? { options: { proto3_optional: true } } : {}
    return [proto, { id: number, type, ...more }]
  })
  return { fields: Object.fromEntries(entries), oneofs }
}

/**
 * Protobuf JSON for clients that have none (protobufjs), written from its specification alone. Objects are those of protobufjs: proto
 * names, enums as numbers.
 */
export type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldsOf = (message: string): readonly FieldFact[] => messages.get(message) ?? []

/** Reads a message in either spelling. Throws what no client of this message could say. */
export function readMessage(message: string, json: unknown): Json {
  if (!isObject(json)) throw new NotExpressible('type', JSON.stringify(json))
  const fields = fieldsOf(message)
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(json)) {
    const field = fields.find(({ proto, json: camel }) => proto === name || camel === name)
    if (!field) throw new NotExpressible('unknown', `${message} ${name}`)
    if (field.proto in read) throw new NotExpressible('twice', `${message} ${name}`)
    if (value === null) continue
    const rivals = fields.filter(({ oneof }) => oneof !== undefined && oneof === field.oneof)
    if (rivals.some(({ proto }) => proto in read)) throw new NotExpressible('oneof', `${message} ${name}`)
    read[field.proto] = readField(field, value)
  }
  return read
}

function readField({ shape, type, keys = 'string' }: FieldFact, json: unknown): unknown {
  if (shape === 'one') return readValue(type, json)
  const isShaped = shape === 'list' ? Array.isArray(json) : isObject(json)
  if (!isShaped) throw new NotExpressible('type', JSON.stringify(json))
  if (Array.isArray(json)) return json.map((one) => readValue(type, one))
  return Object.fromEntries(Object.entries(json as Json).map(([key, one]) => [readValue(keys, key), readValue(type, one)]))
}

function readValue(type: string, json: unknown): unknown {
  const values = enums.get(type)
  if (!values) return SCALARS[type]?.read(json) ?? readMessage(type, json)
  const number = typeof json === 'string' ? values[json] : json
  if (typeof number !== 'number' || !Number.isInteger(number)) throw new NotExpressible('type', JSON.stringify(json))
  return number
}

/** Writes a message as v1 does: unset members are zero, null, `[]` or `{}`; those of a oneof and optional ones are absent (facts §16). */
export function writeMessage(message: string, value: Json): Json {
  return Object.fromEntries(
    fieldsOf(message).flatMap((field): [string, unknown][] => {
      const own = Object.hasOwn(value, field.proto) ? value[field.proto] : undefined
      if (own === undefined || own === null) return field.oneof !== undefined || field.optional ? [] : [[field.json, unset(field)]]
      return [[field.json, writeField(field, own)]]
    }),
  )
}

/** Whether a message sets a field of its own to zero, which its bytes do not show. */
export function saysZero(message: string, value: Json): boolean {
  return fieldsOf(message).some((field) => {
    if (!Object.hasOwn(value, field.proto) || field.oneof !== undefined || field.optional) return false
    return isDeepStrictEqual(writeField(field, value[field.proto]), unset(field))
  })
}

function unset({ shape, type }: FieldFact): unknown {
  if (shape !== 'one') return shape === 'list' ? [] : {}
  const values = enums.get(type)
  return values ? writeValue(type, 0) : (SCALARS[type]?.zero ?? null)
}

function writeField({ shape, type }: FieldFact, value: unknown): unknown {
  if (shape === 'list') return (value as unknown[]).map((one) => writeValue(type, one))
  if (shape === 'one') return writeValue(type, value)
  return Object.fromEntries(Object.entries(value as Json).map(([key, one]) => [key, writeValue(type, one)]))
}

function writeValue(type: string, value: unknown): unknown {
  const values = enums.get(type)
  if (values) return Object.entries(values).find(([, number]) => number === value)?.[0] ?? value
  return SCALARS[type] ? SCALARS[type].write(value as never) : writeMessage(type, value as Json)
}
