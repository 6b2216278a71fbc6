/** Rows of the fixed v2 service: tags in uid order, of 285 bytes in v2 and 329 in v1. A page of 200 is about 60 kB on the wire. */

const REPO = `${'4d2e'.repeat(10)}/${'9f01'.repeat(4)}`

export const PAGE_ROWS = 200

export function uidAt(index: number): string {
  return `${REPO}/${index.toString(16).padStart(16, '0')}`
}

/** Returns the tag at this position of the list, as JSON text. */
export function rowAt(index: number): string {
  const number = String(index).padStart(6, '0')
  return JSON.stringify({
    uid: uidAt(index),
    name: `v1.28.${number}-r0`,
    digest: `sha256:${index.toString(16).padStart(64, 'e')}`,
    updateTime: '2025-01-02T03:04:05.678901Z',
    deprecated: false,
    bundles: ['base', 'devtools'],
  })
}

/** Returns one page of a list of `rows` tags in v2's form. The page token holds the position of the next row. */
export function pageAt(start: number, size: number, rows: number, skipped: number): string {
  const end = Math.min(start + size, rows)
  const texts = Array.from({ length: Math.max(0, end - start) }, (_, at) => rowAt(start + at))
  const next = end < rows ? `"nextPageToken":"t${end}",` : ''
  return `{"tags":[${texts.join(',')}],${next}"totalCount":"${rows}","skipped":${skipped}}`
}

const TAG = {
  name: 'v1.28.000001-r0-dev-20250102-amd64',
  digest: `sha256:${'e5'.repeat(32)}`,
  deprecated: true,
  bundles: ['base', 'devtools', 'application', 'featured', 'fips'],
}
const UPDATED = '2025-01-02T03:04:05.678901Z'

/** One resource by its id, about 350 bytes. */
export const RESOURCE = JSON.stringify({ uid: uidAt(1), ...TAG, updateTime: UPDATED })

/** The same in v1's form. */
export const V1_ANSWER = JSON.stringify({ items: [{ id: uidAt(1), ...TAG, last_updated: UPDATED, updated_at: UPDATED }] })
