import { posix } from 'node:path'

/** A link of the navigation. */
export interface PageLink {
  readonly title: string
  /** The Markdown file that it leads to. */
  readonly source: string
}

/** Links under one heading. */
export interface Group {
  readonly title: string
  readonly entries: readonly PageLink[]
}

const HEADING = /^## (.+)$/
const ITEM = /^- \[([^\]]+)\]\(([^)#]+)\)/

/** Reads the groups of the map of the documents: its headings, and the first link of each item below them. */
export function groupsOf(map: { readonly source: string; readonly markdown: string }): readonly Group[] {
  const groups: { title: string; entries: PageLink[] }[] = []
  for (const line of map.markdown.split('\n')) {
    const [, heading] = HEADING.exec(line) ?? []
    if (heading !== undefined) groups.push({ title: heading, entries: [] })
    const [, title, target] = ITEM.exec(line) ?? []
    if (title === undefined || target === undefined) continue
    groups.at(-1)?.entries.push({ title, source: posix.join(posix.dirname(map.source), target) })
  }
  return groups
}
