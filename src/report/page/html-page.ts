import { createHash } from 'node:crypto'
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
    `script-src 'sha256-${hash(script)}'`,
    `style-src 'sha256-${hash(style)}'`,
    'img-src data:',
    ...(live === undefined ? [] : ["connect-src 'self'"]),
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>Crosswalk report</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report draws itself with a script; the same figures are printed by <code>crosswalk report --json</code>.</noscript>
<script type="application/json" id="report"${live === undefined ? '' : ` data-live="${live}"`}>${asData(report)}</script>
<script>${script}</script>
</body>
</html>
`
  return { html, policy: live === undefined ? policy : `${policy}; frame-ancestors 'none'` }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}

/** Returns JSON without `<`, so that neither a tag nor a comment can begin or end. */
function asData(report: Report | undefined): string {
  return JSON.stringify(report ?? null).replaceAll('<', '\\u003c')
}
