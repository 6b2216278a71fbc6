import { createHash } from 'node:crypto'

/** The parts of a page that loads nothing from elsewhere. All but the style is HTML, in which the caller has escaped what is data. */
interface HtmlParts {
  readonly title: string
  /** The content security policy. It must name the style by `sourceOf`, and every script. */
  readonly policy: string
  readonly style: string
  readonly body: string
}

/** Writes a self-contained page for light and dark screens of any width. It tells no other site its address. */
export function htmlDocument({ title, policy, style, body }: HtmlParts): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`
}

/** Names an inline script or style in a content security policy: `'sha256-…'` (CSP level 3, hash-source). */
export function sourceOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Writes data as text of HTML or XML, also for between quotes. */
export function escapeHtml(plain: string): string {
  return plain.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

/** One answer of a command, as CI shows it. */
export interface JunitCase {
  readonly name: string
  /** `unknown`: it could not be asked. */
  readonly outcome: 'passed' | 'failed' | 'skipped' | 'unknown'
  /** Why it did not pass. */
  readonly text?: string
}

const ELEMENTS = { failed: 'failure', skipped: 'skipped', unknown: 'error' } as const

/** Writes answers in the form of JUnit, which CI systems show as tests. Nobody has specified it; this is the part that all of them read. */
export function junitText(suite: string, cases: readonly JunitCase[]): string {
  const sums = Object.entries({ failures: 'failed', errors: 'unknown', skipped: 'skipped' }).map(
    ([name, outcome]) => `${name}="${cases.filter((one) => one.outcome === outcome).length}"`,
  )
  const head = `name="${escaped(suite)}" tests="${cases.length}" ${sums.join(' ')}`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite ${head}>`,
    ...cases.map((one) => `    ${caseText(suite, one)}`),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseText(suite: string, { name, outcome, text = '' }: JunitCase): string {
  const head = `testcase classname="${escaped(suite)}" name="${escaped(name)}"`
  return outcome === 'passed' ? `<${head}/>` : `<${head}><${ELEMENTS[outcome]} message="${escaped(text)}"/></testcase>`
}

/** XML 1.0 has no form of other control characters, and none of half a surrogate pair. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

function escaped(text: string): string {
  return escapeHtml(text.replace(UNWRITABLE, '\ufffd'))
}
