import { NotExpressible } from './inexpressible.ts'

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
