import type { FastifyInstance } from 'fastify'
import { type PageAssets, readAssets } from '../report/assets.ts'
import { pageOf } from '../report/page.ts'
import type { Report } from '../report/report.ts'

export interface ReportSources {
  /** The report as of now. */
  readonly reportNow: () => Report
}

/** Where the page gets the report anew. */
const DATA = '/report.json'

/** The report for people to look at (`/report`), and what it shows as data. Nobody may embed, keep or refer to it. */
export function addReport(app: FastifyInstance, { reportNow }: ReportSources): void {
  let assets: PageAssets | undefined
  app.get('/report', async (_, reply) => {
    assets ??= readAssets()
    const { html, policy } = pageOf(reportNow(), assets, DATA)
    reply.headers({
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    reply.type('text/html; charset=utf-8')
    return html
  })
  app.get(DATA, async (_, reply) => {
    reply.header('cache-control', 'no-store')
    return reportNow()
  })
}
