import { readFileSync } from 'node:fs'

/** Milliseconds between two reads of the file. Polling works on every file system, even if a mount is replaced. */
const EVERY = 250

/** What is followed while the program runs. */
export interface Watch {
  /** Looks at once, as SIGHUP asks. */
  readonly look: () => void
  readonly end: () => void
}

/** Follows nothing. */
export const UNWATCHED: Watch = { look: () => {}, end: () => {} }

/**
 * Calls `look` when two reads in a row agree and differ from the content at the last call. So it never sees a file half written, and it
 * sees changes made since the start.
 */
export function whenSettled(path: string, look: () => void): Watch {
  let before: string | undefined
  let looked: string | undefined
  const lookAt = (content: string) => {
    looked = content
    look()
  }
  const timer = setInterval(() => {
    const now = contentOf(path)
    if (now === before && now !== looked) lookAt(now)
    before = now
  }, EVERY)
  timer.unref()
  return { look: () => lookAt(contentOf(path)), end: () => clearInterval(timer) }
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    return String(error)
  }
}
