import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Words that mean something of their own here, as the glossary names them. */
const WORDS: readonly (readonly [entry: string, pattern: RegExp])[] = [
  ['shadow', /\bshadows?\b/i],
  ['canary', /\bcanar(y|ies)\b/i],
  ['rollout', /(?<!Argo )\brollouts?\b/i],
  ['stranger', /\bstrangers?\b/i],
  ['kind of request', /\bkinds? of (its |a |the )?requests?\b/i],
  ['observation', /\bobservations?\b/i],
  ['transient', /\btransients?\b/i],
  ['race', /\braces?\b/i],
  ['blind spot', /\bblind spots?\b/i],
  ['unverifiable', /\bunverifiable\b/i],
  ['bound', /(?<=\b(the|its|a|95 %) ⟦?)bound\b/i],
  ['circuit', /\bcircuits?\b/i],
  ['epoch', /\bepochs?\b/i],
]

/** The map of pages has links alone; the glossary explains; the facts are given; the pages for contributors name files. */
const LEFT_OUT = /^(README|glossary|releasing|development|facts\/.*)\.md$/

/** Pages of tables, most of which a program writes: a link above the tables explains all of their words. */
const TABLES = /^(why\/security|reference\/(configuration|differences|errors|events|grpc-methods|metrics))\.md$/

const PAGES = ['../README.md', ...readdirSync('docs', { recursive: true, encoding: 'utf8' })].filter(
  (name) => name.endsWith('.md') && !LEFT_OUT.test(name),
)

/** The prose of a page: without code, headings, pictures and comments. The text of a link is between `⟦` and `⟧`. */
function proseOf(markdown: string): string {
  return markdown
    .replace(/^```.*?^```$/gms, '')
    .replace(/^#.*$/gm, '')
    .replace(/<!--.*?-->/gs, '')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replace(/`[^`\n]*`/g, '`')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '⟦$1⟧')
}

/** True if the place is in a link, or in bold or italics: those lead to an explanation, or are followed by one. */
function isExplained(prose: string, at: number): boolean {
  const before = prose.slice(prose.lastIndexOf('\n', at) + 1, at)
  return before.lastIndexOf('⟦') > before.lastIndexOf('⟧') || (before.match(/\*+/g) ?? []).length % 2 === 1
}

function unexplained(page: string): readonly string[] {
  const markdown = readFileSync(`docs/${page}`, 'utf8')
  const prose = proseOf(markdown)
  const lead = markdown.slice(0, markdown.search(/^(\||## |```)/m))
  if (TABLES.test(page) && lead.includes('](../glossary.md)')) return []
  return WORDS.flatMap(([entry, pattern]) => {
    const at = prose.search(pattern)
    return at < 0 || isExplained(prose, at) ? [] : [`${entry}: …${prose.slice(Math.max(0, at - 40), at + 20).replaceAll('\n', ' ')}…`]
  })
}

describe('a word of our own', () => {
  it('is in the glossary', () => {
    const entries = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/\*\*([^*]+)\*\*/g)].map(([, entry]) => entry)
    expect(WORDS.map(([entry]) => entry).filter((entry) => !entries.includes(entry))).toEqual([])
  })

  it.each(PAGES)('is explained or linked where %s first says it', (page) => {
    expect(unexplained(page)).toEqual([])
  })
})
