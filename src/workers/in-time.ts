/** Milliseconds in which a worker answers, if nothing blocks it. */
const IN_TIME_MS = 1000

/** Returns what a promise resolves with; undefined if that takes too long. */
export async function inTime<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), IN_TIME_MS)
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
