import { type Page, uidsIn } from './page.ts'

/**
 * Returns a test for pages behind the cursor of the page `last`: true if the listing began anew. It did if a cursor or a row of the first
 * page repeats, or if the count of skipped rows changes. In uid order, it also did if a page begins before the last row seen. A service
 * may count only the request's own skip (specification §2), which is 0 behind a cursor and proves nothing. Rows without ids are checked by
 * the cursor alone.
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
