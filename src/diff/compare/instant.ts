const STAMP = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)$/
/** A 64-bit number of seconds has at most 20 digits. */
const DURATION = /^(-?\d{1,20})(?:\.(\d+))?s$/

/**
 * Reads an RFC 3339 time as seconds and fraction, exact to any number of digits. `…:00Z` and `…:00.000Z` are the same instant; `….1234Z`
 * and `….123Z` are not (facts §19). Returns undefined for any other text.
 */
export function instant(text: string): string | undefined {
  const [, day, time, fraction = '', zone = ''] = STAMP.exec(text) ?? []
  if (day === undefined) return undefined
  const milliseconds = Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  return Number.isNaN(milliseconds) ? undefined : `${milliseconds / 1000}.${withoutZeros(fraction)}`
}

/** Reads a protobuf duration (`"3600s"`) in the same way. */
export function seconds(text: string): string | undefined {
  const [, whole, fraction = ''] = DURATION.exec(text) ?? []
  return whole === undefined ? undefined : `${BigInt(whole)}.${withoutZeros(fraction)}`
}

function withoutZeros(fraction: string): string {
  return fraction.replace(/(?<!0)0+$/, '')
}
