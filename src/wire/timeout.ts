import { ApiError } from '../errors.ts'

/** Milliseconds in each unit of `grpc-timeout`. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** Reads `grpc-timeout`, as in `250m`, into milliseconds. A malformed one is INTERNAL, as with the servers of grpc-go. */
export function grpcTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? []
  if (digits === undefined) throw new ApiError('INTERNAL', 'malformed grpc-timeout')
  return Math.ceil(Number(digits) * (UNITS[unit] ?? 0))
}

/** Reads `connect-timeout-ms`. A malformed one is INVALID_ARGUMENT. */
export function connectTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (!/^\d{1,10}$/.test(header)) throw new ApiError('INVALID_ARGUMENT', 'connect-timeout-ms is a number of at most ten digits')
  return Number(header)
}
