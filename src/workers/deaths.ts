/** So many deaths in so many milliseconds are no accident. */
export const DEATHS = { most: 5, withinMs: 60_000 }

/** Returns a function that counts a death, and tells whether there were too many of late. `ticks` is a monotonic clock in milliseconds. */
export function createDeaths(ticks: () => number): () => boolean {
  let deaths: number[] = []
  return () => {
    const now = ticks()
    deaths = [...deaths.filter((at) => now - at < DEATHS.withinMs), now]
    return deaths.length >= DEATHS.most
  }
}
