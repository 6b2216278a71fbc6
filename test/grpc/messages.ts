import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf'
import { mappings } from '../../mappings/index.ts'
import { readFacts } from '../../src/grpc/facts.ts'
import { openRpc, type RpcMethod } from '../../src/grpc/proto-files.ts'
import { seeded } from '../stage/clocks.ts'

export const rpc = openRpc(
  mappings.flatMap(({ operations }) => operations),
  readFacts(),
)

/** Returns a method by its short name: `iam.Groups/List`. */
export function methodOf(name: string): RpcMethod {
  const method = rpc.find(`/chainguard.platform.${name}`)
  if (!method) throw new Error(`no method ${name}`)
  return method
}

export type Draw = (end: number) => number

export function drawFrom(seed: number): Draw {
  const random = seeded(seed)
  return (end) => Math.floor(random() * end)
}

const TEXTS = ['', 'a', '720909c9f5279097/prod', 'naïve café', '日本', '😀', '"\\/\u0000', 'x'.repeat(39), 'é'.repeat(40), 'y'.repeat(300)]
const LONGS = ['0', '1', '-1', '9007199254740993', '9223372036854775807', '-9223372036854775808', '42']
const TIMES = [
  '1970-01-01T00:00:00Z',
  '2026-11-22T08:09:10.123456Z',
  '2024-02-29T23:59:59.999999999Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '2026-03-01T00:00:00.5+02:00',
  '1969-12-31T23:59:59.1Z',
]

const WELL_KNOWN: Readonly<Record<string, readonly unknown[]>> = {
  Struct: [{}, { k: 'v' }],
  Timestamp: TIMES,
  Duration: ['0s', '3600s', '-1.5s', '0.000000001s'],
  FieldMask: ['', 'name,syncConfig.uniqueTags'],
  Value: ['a', 1.5, true, { b: [null, { c: 'd' }] }],
  Empty: [{}],
  Any: [{}],
}

/** Draws protojson of a message: each field half of the time, with the zero values and extremes of its type. */
export function randomJson(message: DescMessage, draw: Draw): Record<string, unknown> {
  const json: Record<string, unknown> = {}
  const oneofs = new Set<string>()
  for (const field of message.fields) {
    if (draw(2) === 0 || (field.oneof && oneofs.has(field.oneof.name))) continue
    if (field.oneof) oneofs.add(field.oneof.name)
    json[draw(4) === 0 ? field.name : field.jsonName] = randomField(field, draw)
  }
  return json
}

function randomField(field: DescField, draw: Draw): unknown {
  if (field.fieldKind === 'list') return Array.from({ length: draw(4) }, () => randomValue(field, draw))
  if (field.fieldKind !== 'map') return randomValue(field, draw)
  const keys = field.mapKey === ScalarType.STRING ? TEXTS : LONGS
  return Object.fromEntries(Array.from({ length: draw(4) }, () => [keys[draw(keys.length)], randomValue(field, draw)]))
}

function randomValue({ message, enum: values, scalar }: DescField, draw: Draw): unknown {
  const one = <T>(of: readonly T[]) => of[draw(of.length)]
  if (message?.typeName.startsWith('google.protobuf.')) return one(WELL_KNOWN[message.name] ?? [])
  if (message) return randomJson(message, draw)
  if (values) return one([...values.values.map(({ name }) => name), 0, 77])
  if (scalar === ScalarType.STRING) return one(TEXTS)
  if (scalar === ScalarType.BOOL) return one([true, false])
  if (scalar === ScalarType.BYTES) return one(['', 'AA==', '_-8', '+/8=', Buffer.alloc(200, 7).toString('base64')])
  if (scalar === ScalarType.INT64) return one([...LONGS, 7])
  if (scalar === ScalarType.UINT64) return one([0, 7, '18446744073709551615'])
  if (scalar === ScalarType.DOUBLE) return one([0, 1.5, -0.25, 7])
  return one(scalar === ScalarType.UINT32 ? [0, 1, 4_294_967_295] : [0, 1, -1, 127, 128, 2_147_483_647, -2_147_483_648, '12'])
}
