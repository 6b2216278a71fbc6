import type { FastifyInstance } from 'fastify'
import { type PageAssets, readAssets } from '../../report/page/assets.ts'
import { pageOf } from '../../report/page/html-page.ts'
import type { Report } from '../../report/report.ts'
import { createReportMaker } from './report-data.ts'
import type { Right } from './rights.ts'

export interface ReportSources {
  /** Returns the current report, in a fleet that of all replicas. */
  readonly reportNow: () => Report | Promise<Report>
}

/** Returns the right that an `Authorization` header gives. The page offers changes only to a token that may make them. */
type RightOf = (authorization: string | undefined) => Right

export const PAGE = '/report'

/** The address of the port alone, as a person opens it. It leads to the page. */
export const ROOT = '/'

/** The page fetches new data here. */
const DATA = '/report.json'

/**
 * Adds the report page and its data. Other sites may not embed the page and do not learn its address from a link.
 * If the report `isOpen`, the page holds the data. Otherwise it is empty, asks for a token and fetches the data with it.
 * An open page asks again every few seconds, and names what it has: it then gets only what changed since.
 */
export function addReport(app: FastifyInstance, { reportNow }: ReportSources, rightOf: RightOf): void {
  const isOpen = rightOf(undefined) !== 'none'
  let assets: PageAssets | undefined
  app.get(ROOT, async (_, reply) => reply.redirect(PAGE))
  app.get(PAGE, async (_, reply) => {
    assets ??= readAssets()
    const { html, policy } = pageOf(isOpen ? await reportNow() : undefined, assets, DATA)
    reply.headers({ 'content-security-policy': policy, 'referrer-policy': 'no-referrer' })
    reply.type('text/html; charset=utf-8')
    return html
  })
  const maker = createReportMaker(reportNow, () => performance.now())
  app.get(DATA, async ({ headers: { 'if-none-match': known, authorization } }, reply) => {
    const { text, etag } = await (known === undefined ? maker.made() : maker.recent())
    reply.headers({ etag, 'x-crosswalk-right': rightOf(authorization) })
    if (known === etag) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(text)
  })
}
