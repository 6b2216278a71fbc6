import { ApiError } from '../errors/api-error.ts'

/** Milliseconds in each unit of `grpc-timeout`. */
const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 }

/** Reads `grpc-timeout`, as in `250m`, into milliseconds. A malformed one is INTERNAL, as with the servers of grpc-go. */
export function grpcTimeout(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(header) ?? []
  if (digits === undefined) throw new ApiError('INTERNAL', 'malformed grpc-timeout')
  return Math.ceil(Number(digits) * (UNITS[unit] ?? 0))
}
