import Slugger from 'github-slugger'
import MarkdownIt, { type Token } from 'markdown-it'
import type { DrawnPage, Heading, PagePart, SourcePage } from '../page.ts'
import { escaped } from './escaped.ts'
import { highlighted } from './highlighted.ts'
import { linkOf, type Targets, termLink } from './links.ts'

/** Makes HTML of the Markdown of a page, as GitHub does: with its tables and with its anchors. */
export type DrawPage = (page: SourcePage, targets: Targets) => DrawnPage

export function createDrawPage(): DrawPage {
  const markdown = new MarkdownIt({ html: true, highlight: highlighted })
  const { rules } = markdown.renderer
  rules.table_open = (tokens, at) => {
    const before = tokens.slice(0, at).filter(({ type }) => type === 'table_open').length
    return `<div class="table" tabindex="0" role="region" aria-label="Table ${before + 1}"><table>\n`
  }
  rules.table_close = () => '</table></div>\n'
  rules.fence = (tokens, at) => {
    const { content = '', info = '' } = tokens[at] ?? {}
    return `<pre tabindex="0"><code>${highlighted(content.trimEnd(), info.trim())}</code></pre>\n`
  }
  rules.code_block = rules.fence
  rules.heading_close = (tokens, at) => {
    const { tag = 'h2' } = tokens[at] ?? {}
    const id = String(tokens[at - 2]?.attrGet('id') ?? '')
    const link = tag === 'h1' ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this part">#</a>`
    return `${link}</${tag}>\n`
  }
  return (page, targets) => {
    const tokens = markdown.parse(page.markdown, {})
    const headings = nameHeadings(tokens)
    for (const [at, token] of tokens.entries()) {
      alignByClass(token)
      if (token.type === 'inline') token.children = linked(token.children ?? [], tokens[at - 1]?.type === 'heading_open', page, targets)
    }
    const title = headings.find(({ level }) => level === 1)?.text ?? page.source
    return {
      ...page,
      title,
      headings,
      sections: sectionsOf(tokens),
      html: markdown.renderer.render(tokens, markdown.options, {}),
    }
  }
}

/** Gives every heading the id that GitHub gives it. */
function nameHeadings(tokens: readonly Token[]): readonly Heading[] {
  const slugger = new Slugger()
  return tokens.flatMap((token, at) => {
    if (token.type !== 'heading_open') return []
    const text = plainText(tokens[at + 1])
    const id = slugger.slug(text)
    token.attrSet('id', id)
    return [{ level: Number(token.tag.slice(1)), id, text }]
  })
}

/** The policy of the pages allows no style within them. */
function alignByClass(token: Token): void {
  const style = token.attrGet('style')
  if (style === null) return
  token.attrs = (token.attrs ?? []).filter(([name]) => name !== 'style')
  token.attrSet('class', String(style).replace('text-align:', ''))
}

function plainText(token: Token | undefined): string {
  return (token?.children ?? [])
    .map(({ type, content }) => (type === 'softbreak' || content.startsWith('<br') ? ' ' : type === 'html_inline' ? '' : content))
    .join('')
}

/** Leads the links of a line to the site, and makes links of the code that stands for a place. */
function linked(children: readonly Token[], isHeading: boolean, page: SourcePage, targets: Targets): Token[] {
  let within = 0
  let left = 0
  return children.flatMap((token): Token[] => {
    if (token.type === 'link_open') {
      const href = linkOf(page, String(token.attrGet('href') ?? ''), targets)
      if (href === undefined) {
        left += 1
        return []
      }
      within += 1
      token.attrSet('href', href)
    }
    if (token.type === 'link_close') {
      if (left > 0) {
        left -= 1
        return []
      }
      within -= 1
    }
    if (token.type !== 'code_inline' || within > 0 || isHeading) return [token]
    const href = termLink(page, token.content, targets)
    if (href === undefined) return [token]
    return [html(token, `<a class="term" href="${escaped(href)}">`), token, html(token, '</a>')]
  })
}

function html(like: Token, content: string): Token {
  const token = Object.assign(Object.create(Object.getPrototypeOf(like)) as Token, like)
  return Object.assign(token, { type: 'html_inline', content, children: null })
}

/** Cuts a page at its headings. */
function sectionsOf(tokens: readonly Token[]): readonly PagePart[] {
  const sections: { id: string; heading: string; text: string[] }[] = [{ id: '', heading: '', text: [] }]
  for (const [at, token] of tokens.entries()) {
    const isHeading = tokens[at - 1]?.type === 'heading_open'
    if (token.type === 'heading_open' && token.tag !== 'h1')
      sections.push({ id: String(token.attrGet('id') ?? ''), heading: plainText(tokens[at + 1]), text: [] })
    if (token.type === 'inline' && !isHeading) sections.at(-1)?.text.push(plainText(token))
    if (token.type === 'fence' || token.type === 'code_block') sections.at(-1)?.text.push(token.content)
  }
  return sections.map(({ text, ...rest }) => ({ ...rest, text: text.join(' ').replace(/\s+/g, ' ').trim() }))
}
