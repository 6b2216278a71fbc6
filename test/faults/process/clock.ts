/** Milliseconds. */
export const DAY = 24 * 60 * 60 * 1000

/** Replaces the time of day for every part of the proxy; none of them may depend on it. */
export async function withClock<T>(use: (jump: (ms: number) => void) => Promise<T>): Promise<T> {
  const { now } = Date
  let offset = 0
  Date.now = () => now() + offset
  try {
    return await use((ms) => {
      offset += ms
    })
  } finally {
    Date.now = now
  }
}
