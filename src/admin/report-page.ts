import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { htmlDocument, sourceOf } from '../tools/markup.ts'
import type { Right } from './admin.ts'
import { hasTag } from './fleet-routes.ts'
import type { Report } from './report/report.ts'

/** Returns the address of the view of an operation (`web/kit.tsx`), or of the page if there is none. */
export function viewLink(page: string, operation: string | undefined): string {
  return operation === undefined ? page : `${page}#/operation/${encodeURIComponent(operation)}`
}

/** The files that `npm run build` makes from `web/`. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

/** The folder of the build output, as seen from the sources and from the build output itself. */
const FOLDERS = ['../../dist/web/', '../../web/']

/** Reads the script and the style of the page. Throws a sentence if they were not built. */
export function readAssets(): PageAssets {
  const folder = FOLDERS.map((path) => new URL(path, import.meta.url)).find((url) => existsSync(new URL('page.js', url)))
  if (!folder) throw new Error('The page of the report was not built; run npm run build.')
  const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')
  // Neither a script nor a style may contain the text that ends its element.
  return { script: read('page.js').replaceAll('</script', '<\\/script'), style: read('page.css').replaceAll('</style', '<\\/style') }
}

/**
 * Puts the report, the script and the style into one page, and returns its content security policy too. Nothing but this script and this style runs, whatever the report contains.
 * The policy names both by their hashes, and the report is data in which no tag can end.
 * `live` is the address at which a server returns the current report. A page without a report gets its first one there.
 */
export function pageOf(report: Report | undefined, { script, style }: PageAssets, live?: string) {
  const policy = [
    "default-src 'none'",
    `script-src ${sourceOf(script)}`,
    `style-src ${sourceOf(style)}`,
    'img-src data:',
    ...(live === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const body = `<div id="app"></div>
<noscript>This report draws itself with a script; the same figures are printed by <code>crosswalk report --json</code>.</noscript>
<script type="application/json" id="report"${live === undefined ? '' : ` data-live="${live}"`}>${asData(report)}</script>
<script>${script}</script>`
  const html = htmlDocument({ title: 'Crosswalk report', policy, style, body })
  return { html, policy: live === undefined ? policy : `${policy}; frame-ancestors 'none'` }
}

/** Returns JSON without `<`, so that neither a tag nor a comment can begin or end. */
function asData(report: Report | undefined): string {
  return JSON.stringify(report ?? null).replaceAll('<', '\\u003c')
}

/** A report as it is sent. */
interface ReportData {
  /** JSON. */
  readonly text: string
  /** An entity tag (RFC 9110 §8.8.3). It is the same as long as the report says the same, whenever it was made. */
  readonly etag: string
}

/** Milliseconds for which a report is recent. */
const RECENT_MS = 1_000

/** A report that takes long is recent for this many times as long, so that pages never take more than a twentieth of the processor. */
const REST = 20

/** Makes the report for those who ask once, and for pages that ask again and again. `now` is a monotonic clock in milliseconds. */
export function createReportMaker(reportNow: () => Report | Promise<Report>, now: () => number) {
  let last: { readonly data: ReportData; readonly until: number } | undefined
  let underWay: Promise<ReportData> | undefined
  const made = async (): Promise<ReportData> => {
    const begun = now()
    const { generatedAt, ...lasting } = await reportNow()
    const lastingText = JSON.stringify(lasting)
    const etag = `"${createHash('sha256').update(lastingText).digest('base64url')}"`
    const data = { text: `{"generatedAt":${generatedAt},${lastingText.slice(1)}`, etag }
    const done = now()
    last = { data, until: done + Math.max(RECENT_MS, REST * (done - begun)) }
    return data
  }
  return {
    /** A new report. */
    made,
    /** The last report, if it is recent; otherwise a new one. */
    async recent(): Promise<ReportData> {
      if (last && now() < last.until) return last.data
      underWay ??= made().finally(() => {
        underWay = undefined
      })
      return underWay
    },
  }
}

export const PAGE = '/report'

/** The address of the port alone, as a person opens it. It leads to the page. */
export const ROOT = '/'

/** The page fetches new data here. */
const DATA = '/report.json'

/**
 * Adds the report page and its data. Other sites may not embed the page and do not learn its address from a link.
 * The page holds the data if who opens it may read. Otherwise it is empty, asks for a token and fetches the data with it.
 * An open page asks again every few seconds, and names what it has: it then gets only what changed since.
 */
export function addReport(
  app: FastifyInstance,
  {
    reportNow,
    rightOf,
  }: {
    readonly reportNow: () => Report | Promise<Report>
    /** The right of who asks, by the tokens that count now. The page offers changes only to a token that may make them. */
    readonly rightOf: (request: FastifyRequest) => Right
  },
): void {
  let assets: PageAssets | undefined
  app.get(ROOT, async (_, reply) => reply.redirect(PAGE))
  app.get(PAGE, async (request, reply) => {
    assets ??= readAssets()
    const { html, policy } = pageOf(rightOf(request) === 'none' ? undefined : await reportNow(), assets, DATA)
    reply.headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer', 'cross-origin-opener-policy': 'same-origin' })
    reply.type('text/html; charset=utf-8')
    return html
  })
  const maker = createReportMaker(reportNow, () => performance.now())
  app.get(DATA, async (request, reply) => {
    const known = request.headers['if-none-match']
    const { text, etag } = await (known === undefined ? maker.made() : maker.recent())
    reply.headers({ etag, 'x-crosswalk-right': rightOf(request) })
    if (hasTag(known, etag)) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(text)
  })
}
