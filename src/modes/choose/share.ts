/**
 * True if a caller belongs to the first `percent` of all callers. A caller's position follows from its hash alone (design §7).
 * It is therefore the same in every process and for every operation, and a larger share moves no caller back.
 */
export function isWithinShare(caller: string, percent: number): boolean {
  return placeOf(caller) < percent
}

const RANGE = 2 ** 32

/** Returns a caller's position among all callers, from 0 up to but not including 100. */
function placeOf(caller: string): number {
  const hash = /^[0-9a-f]{8}/.test(caller) ? Number.parseInt(caller.slice(0, 8), 16) : 0
  return (hash / RANGE) * 100
}
