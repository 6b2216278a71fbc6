/** A page of the site before it is drawn. */
export interface SourcePage {
  /** Where its Markdown lies, or would lie, in the repository: `docs/security.md`. Links of pages are relative to it. */
  readonly source: string
  /** Where it lies on the site: `docs/security.html`. */
  readonly path: string
  readonly markdown: string
}

/** A heading within a page. */
export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

/** A page whose Markdown has become HTML. */
export interface DrawnPage extends SourcePage {
  readonly title: string
  readonly html: string
  readonly headings: readonly Heading[]
  readonly sections: readonly PagePart[]
}

/** What the search finds: a heading with the plain text below it. */
export interface PagePart {
  /** The id of the heading; empty for what stands under the title. */
  readonly id: string
  readonly heading: string
  readonly text: string
}

/** Returns the place of a Markdown file on the site. A README is the index of its folder. */
export function placeOf(source: string): string {
  return source.replace(/(^|\/)README\.md$/, '$1index.html').replace(/\.md$/, '.html')
}

/** Returns the way from one file of the site to another: `from('docs/a.html', 'index.html')` is `../index.html`. */
export function from(page: string, target: string): string {
  const above = page.split('/').slice(0, -1)
  const below = target.split('/')
  const shared = above.findIndex((name, at) => name !== below[at])
  const common = shared === -1 ? above.length : shared
  return [...above.slice(common).map(() => '..'), ...below.slice(common)].join('/')
}
