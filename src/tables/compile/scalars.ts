const INTEGER = /^-?\d+$/
const RFC3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)$/

export function isTimestamp(value: unknown): value is string {
  return typeof value === 'string' && RFC3339.test(value) && !Number.isNaN(Date.parse(value))
}

/** True for an integer or a string of one. A string is never turned into a number and so stays exact beyond 2^53. */
export function isInteger(value: unknown): boolean {
  return typeof value === 'string' ? INTEGER.test(value) : Number.isSafeInteger(value)
}

/** Signed and unsigned 32-bit numbers share this range check; v2 refuses numbers outside its own type. */
export function isInt32(value: number): boolean {
  return value >= -(2 ** 31) && value < 2 ** 32
}

export function isDuration(value: unknown): boolean {
  return typeof value === 'string' && /^-?\d+(\.\d{1,9})?s$/.test(value)
}
