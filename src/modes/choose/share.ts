/**
 * Whether a caller belongs to the first `percent` of all callers. The place of a caller follows from its hash alone: it is the same in
 * every process and for every operation, and raising the share moves nobody back (design §7).
 */
export function isWithinShare(caller: string, percent: number): boolean {
  return placeOf(caller) < percent
}

const RANGE = 2 ** 32

/** Where a caller stands among all, 0 up to but not including 100. */
function placeOf(caller: string): number {
  const hash = /^[0-9a-f]{8}/.test(caller) ? Number.parseInt(caller.slice(0, 8), 16) : 0
  return (hash / RANGE) * 100
}
