/** One detail of a google.rpc.Status, encoded. */
interface EncodedDetail {
  readonly type: string
  readonly value: Uint8Array
}

export const RETRY_INFO = 'google.rpc.RetryInfo'

/** The tags of `retry_delay` in google.rpc.RetryInfo and of `seconds` in google.protobuf.Duration. */
const RETRY_DELAY = 0x0a
const SECONDS = 0x08

/** The most seconds that are told. Clients wait no longer anyway. */
const MOST = 86_400

/**
 * Returns a `retry-after` in whole seconds as the detail by which gRPC says it; none for a date or anything else.
 * Written by hand: a refused call must not load the descriptors.
 */
export function retryInfo(retryAfter: unknown): readonly EncodedDetail[] {
  if (typeof retryAfter !== 'string' || !/^\d{1,6}$/.test(retryAfter)) return []
  const duration = [SECONDS, ...varint(Math.min(Number(retryAfter), MOST))]
  return [{ type: RETRY_INFO, value: Buffer.from([RETRY_DELAY, duration.length, ...duration]) }]
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}
