import { gatewayError } from '../status.ts'

/** Milliseconds of each unit. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** The longest delay of a timer. A deadline further away does not fire. */
const LONGEST_MS = 2 ** 31 - 1

/** Reads `grpc-timeout`, e.g. `1500m`, in milliseconds; undefined without one. Code 13 for a malformed one, as grpc-go answers. */
export const readTimeout = (value: string | undefined): number | undefined => {
  if (value === undefined) return undefined
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? []
  if (digits === undefined) return gatewayError('INTERNAL', `malformed grpc-timeout: ${JSON.stringify(value)}`)
  return Math.min(Number(digits) * (UNITS[unit] ?? 0), LONGEST_MS)
}
