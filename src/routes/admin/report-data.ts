import { createHash } from 'node:crypto'
import type { Report } from '../../report/report.ts'

/** A report as it is sent. */
export interface ReportData {
  /** JSON. */
  readonly text: string
  /** An entity tag (RFC 9110 §8.8.3). It is the same as long as the report says the same, whenever it was made. */
  readonly etag: string
}

/** Makes the report for those who ask once, and for pages that ask again and again. */
export interface ReportMaker {
  /** A new report. */
  made(): Promise<ReportData>
  /** The last report, if it is recent; otherwise a new one. */
  recent(): Promise<ReportData>
}

/** Milliseconds for which a report is recent. */
const RECENT_MS = 1_000

/** A report that takes long is recent for this many times as long, so that pages never take more than a twentieth of the processor. */
const REST = 20

/** `now` returns milliseconds of a clock that never goes back. */
export function createReportMaker(reportNow: () => Report | Promise<Report>, now: () => number): ReportMaker {
  let last: { readonly data: ReportData; readonly until: number } | undefined
  let underWay: Promise<ReportData> | undefined
  const made = async () => {
    const begun = now()
    const data = dataOf(await reportNow())
    const done = now()
    last = { data, until: done + Math.max(RECENT_MS, REST * (done - begun)) }
    return data
  }
  return {
    made,
    async recent() {
      if (last && now() < last.until) return last.data
      underWay ??= made().finally(() => {
        underWay = undefined
      })
      return underWay
    },
  }
}

function dataOf({ generatedAt, ...lasting }: Report): ReportData {
  const text = JSON.stringify(lasting)
  const etag = `"${createHash('sha256').update(text).digest('base64url')}"`
  return { text: `{"generatedAt":${generatedAt},${text.slice(1)}`, etag }
}
