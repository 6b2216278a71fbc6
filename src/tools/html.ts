import { createHash } from 'node:crypto'

/** The parts of a page that loads nothing from elsewhere. All but the style is HTML, in which the caller has escaped what is data. */
export interface HtmlParts {
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
