import http from 'node:http'
import { type Child, rssMiB } from './child.ts'

/** One list as a client received it. */
export interface Received {
  /** Milliseconds from the request to the first byte of the body, and to its last. */
  readonly firstMs: number
  readonly ms: number
  readonly bytes: number
}

export interface Reading {
  readonly url: string
  readonly path: string
  /** The caller; callers share no calls. */
  readonly caller?: string
  /** Bytes per second that this client reads. Default: unlimited. */
  readonly pace?: number
}

/** Reads a list to its end without keeping it. Throws if it is not a 200 or breaks off. */
export function readList({ url, path, caller = 'lists', pace }: Reading): Promise<Received> {
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const request = http.get(url + path, { headers: { authorization: `Bearer ${caller}` }, agent: false }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${path} was answered with ${answer.statusCode}`))
      let firstMs = Number.NaN
      let bytes = 0
      answer.on('data', (chunk: Buffer) => {
        if (bytes === 0) firstMs = performance.now() - started
        bytes += chunk.length
        const early = pace === undefined ? 0 : (bytes / pace) * 1000 - (performance.now() - started)
        if (early <= 0) return
        answer.pause()
        setTimeout(() => answer.resume(), early)
      })
      answer.on('end', () => resolve({ firstMs, ms: performance.now() - started, bytes }))
      answer.on('error', reject)
    })
    request.on('error', reject)
  })
}

/** Repeats a small request, one after another, until `over`. Returns the milliseconds of each. */
export async function keepAsking(reading: Reading, over: Promise<unknown>): Promise<readonly number[]> {
  const times: number[] = []
  let going = true
  const end = over.finally(() => {
    going = false
  })
  while (going) times.push((await readList(reading)).ms)
  await end
  return times
}

/** Samples the memory of a process every 10 ms. The returned function gives its largest growth over `idle` in MiB. */
export function watchMemory({ pid }: Child, idle: number): () => number {
  let peak = idle
  const timer = setInterval(() => {
    peak = Math.max(peak, rssMiB(pid))
  }, 10)
  return () => {
    clearInterval(timer)
    return Math.max(peak, rssMiB(pid)) - idle
  }
}

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
