import type { FastifyInstance } from 'fastify'
import { type PageAssets, readAssets } from '../../report/assets.ts'
import { pageOf } from '../../report/html-page.ts'
import type { Report } from '../../report/report.ts'

export interface ReportSources {
  /** The report as of now. */
  readonly reportNow: () => Report
}

export const PAGE = '/report'

/** Where the page gets the report anew. */
const DATA = '/report.json'

/**
 * The report for people to look at, and what it shows as data. Nobody may embed the page or learn from where it was left. Where the report
 * `isOpen` the page holds it; else the page is empty, asks for a token and with that for the data.
 */
export function addReport(app: FastifyInstance, { reportNow }: ReportSources, isOpen: boolean): void {
  let assets: PageAssets | undefined
  app.get(PAGE, async (_, reply) => {
    assets ??= readAssets()
    const { html, policy } = pageOf(isOpen ? reportNow() : undefined, assets, DATA)
    reply.headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' })
    reply.type('text/html; charset=utf-8')
    return html
  })
  app.get(DATA, async () => reportNow())
}
