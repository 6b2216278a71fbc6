import { type Page, uidsIn } from './page.ts'

/**
 * Tells whether a page behind the cursor of the page `last` belongs to a listing that began anew: its own cursor was seen before, it
 * repeats a row of the first page, its count of skipped rows changed, or (in uid order) it begins before the last row seen. A service may
 * also count only the request's own skip (specification §2), which is 0 behind a cursor; that alone says nothing. Rows without any id are
 * watched by the cursor alone.
 */
export function restartDetector(order: string, first: Page, last: Page): (page: Page) => boolean {
  const tokens = new Set([first.nextPageToken, last.nextPageToken])
  const beginning = new Set(uidsIn(first))
  let keepsSkipped = false
  let lastUid = uidsIn(last).at(-1) ?? ''
  return (page) => {
    const uids = uidsIn(page)
    if (tokens.has(page.nextPageToken) && page.nextPageToken !== '') return true
    tokens.add(page.nextPageToken)
    if (uids.some((uid) => beginning.has(uid))) return true
    if (page.skipped !== last.skipped && (keepsSkipped || page.skipped !== 0)) return true
    keepsSkipped ||= page.skipped === last.skipped
    const backwards = order === 'uid' && lastUid !== '' && uids[0] !== undefined && uids[0] <= lastUid
    lastUid = uids.at(-1) ?? lastUid
    return backwards
  }
}
