import { ApiError } from '../../errors/api-error.ts'
import { isTimestamp } from '../compile/scalars.ts'
import type { EnumMap } from './enums.ts'
import type { Param } from './param.ts'

/** Returns the v2 name of a v1 enum value, given by name or number. */
export function readChoice(name: string, value: string, of: EnumMap | undefined): string {
  const v2 = of?.toV2.get(/^\d+$/.test(value) ? Number(value) : value)
  if (v2 === undefined)
    throw unparsable(name, `${JSON.stringify(value)} ${isV1Only(of, value) ? needsV1('v2 lacks it') : 'is not a valid value'}`)
  return v2
}

/** True if v1 has this value, given by name or number, and v2 does not. */
export function isV1Only(of: EnumMap | undefined, value: string): boolean {
  return of?.v1Only.some(([name, number]) => value === name || Number(value) === number) ?? false
}

/** Says what would let a v1 service answer. */
export function needsV1(because: string): string {
  return `needs a v1 service: ${because}; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on`
}

export const PARSERS: Readonly<Record<Param['kind'], (name: string, value: string, param: Param) => string>> = {
  text: (_, value) => value,
  flag: (name, value) => String(readFlag(name, value)),
  int: readInt,
  time: (name, value) => {
    if (!isTimestamp(value)) throw unparsable(name, `${JSON.stringify(value)} is not an RFC 3339 time`)
    return value
  },
  choice: (name, value, { of }) => readChoice(name, value, of),
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])

const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

export function isTrue(value: string): boolean {
  return TRUE.has(value)
}

export function readFlag(name: string, value: string): boolean {
  if (TRUE.has(value)) return true
  if (FALSE.has(value)) return false
  throw unparsable(name, `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`)
}

function readInt(name: string, value: string): string {
  return readWhole(name, value, 32)
}

/** True if 64 bits hold it; the longest such number has a sign and 19 digits. */
function isInt64(digits: string): boolean {
  const number = digits.length > 20 ? undefined : BigInt(digits.replace('+', ''))
  return number !== undefined && BigInt.asIntN(64, number) === number
}

export function readWhole(name: string, value: string, bits: 32 | 64): string {
  if (!/^[+-]?\d+$/.test(value)) throw unparsable(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  const number = Number(value)
  const isHeld = bits === 32 ? number === (number | 0) : isInt64(value)
  if (!isHeld) throw unparsable(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`)
  return String(number)
}

/** Returns the last part of a dotted name, by which the gateway names a field. */
export function leaf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1)
}

function unparsable(name: string, reason: string): ApiError {
  return badParameter(`parsing field "${leaf(name)}": ${reason}`)
}

/** The gateway's own refusal of a query value: code 3 without details (semantics §4.1). */
export function badParameter(message: string): ApiError {
  return new ApiError('INVALID_ARGUMENT', message)
}
