import { readFileSync } from 'node:fs'

/** Milliseconds between two reads of the file. Polling works on every file system, even if a mount is replaced. */
const EVERY = 250

/**
 * Calls `look` when two reads in a row agree and differ from the content at the last call. So it never sees a file half written, and it
 * sees changes made since the start. The returned function stops it.
 */
export function whenSettled(path: string, look: () => void): () => void {
  let before: string | undefined
  let looked: string | undefined
  const timer = setInterval(() => {
    const now = contentOf(path)
    if (now === before && now !== looked) {
      looked = now
      look()
    }
    before = now
  }, EVERY)
  timer.unref()
  return () => clearInterval(timer)
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return String(error)
  }
}
