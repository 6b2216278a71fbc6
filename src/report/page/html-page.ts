import { htmlDocument, sourceOf } from '../../tools/html.ts'
import type { Report } from '../report.ts'
import type { PageAssets } from './assets.ts'

/** The report as a self-contained page, and the content security policy for it. */
export interface HtmlPage {
  readonly html: string
  readonly policy: string
}

/**
 * Puts the report, the script and the style into one page. Nothing but this script and this style runs, whatever the report contains.
 * The policy names both by their hashes, and the report is data in which no tag can end.
 * `live` is the address at which a server returns the current report. A page without a report gets its first one there.
 */
export function pageOf(report: Report | undefined, { script, style }: PageAssets, live?: string): HtmlPage {
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
