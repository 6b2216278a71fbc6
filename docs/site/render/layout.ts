import { type DrawnPage, from } from '../page.ts'
import type { Group, PageLink } from '../sources/navigation.ts'
import { escaped } from './escaped.ts'

/** What every page has around its text. */
export interface Frame {
  readonly groups: readonly Group[]
  readonly places: ReadonlyMap<string, string>
  readonly version: string
}

const POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'"

/** Two paths that become one. */
const MARK =
  '<svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true"><path d="M3 6H9C13 6 12 18 16 18H21M3 18H8M16 6H21"/></svg>'

/** Writes a page of the site. Every address in it is relative, so that the site may lie in any folder of any server. */
export function layout(page: DrawnPage, frame: Frame): string {
  const root =
    page.path
      .split('/')
      .slice(1)
      .map(() => '../')
      .join('') || './'
  const title = page.path === 'index.html' ? 'Crosswalk' : `${page.title} · Crosswalk`
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}assets/site.css">
<script src="${root}assets/theme.js"></script>
<script src="${root}assets/site.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the text</a>
<header class="top">
<button class="menu" type="button" aria-controls="pages" aria-expanded="false">Menu</button>
<a class="brand" href="${root}index.html">${MARK} Crosswalk</a>
<div class="search" role="search"><input type="search" placeholder="Search" aria-label="Search the documents" autocomplete="off" spellcheck="false" hidden><div class="found" role="region" aria-label="Search results" hidden></div></div>
<button class="theme" type="button" hidden>Dark</button>
</header>
<div class="columns">
<nav id="pages" class="pages" aria-label="Pages">
${frame.groups.map((group) => groupHtml(group, page, frame)).join('\n')}
<p class="version">Version ${escaped(frame.version)}</p>
</nav>
<main id="content" tabindex="-1">
${page.html}</main>
${contents(page)}
</div>
</body>
</html>
`
}

/** A group whose pages are not the reader's own is folded if it is long. */
function groupHtml({ title, entries }: Group, page: DrawnPage, frame: Frame): string {
  const items = entries.map((entry) => `<li>${entryHtml(entry, page, frame)}</li>`).join('\n')
  const isOpen = entries.length <= 11 || entries.some(({ source }) => source === page.source)
  return `<details${isOpen ? ' open' : ''}><summary>${escaped(title)}</summary>\n<ul>\n${items}\n</ul></details>`
}

function entryHtml({ title, source }: PageLink, page: DrawnPage, { places }: Frame): string {
  const current = source === page.source ? ' aria-current="page"' : ''
  return `<a href="${escaped(from(page.path, places.get(source) ?? source))}"${current}>${escaped(title)}</a>`
}

/** The headings of a page, for wide screens. */
function contents({ headings }: DrawnPage): string {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return '<div class="contents"></div>'
  const items = shown.map(({ level, id, text }) => `<li class="level-${level}"><a href="#${id}">${escaped(text)}</a></li>`)
  return `<nav class="contents" aria-label="On this page"><p>On this page</p>\n<ul>\n${items.join('\n')}\n</ul></nav>`
}
